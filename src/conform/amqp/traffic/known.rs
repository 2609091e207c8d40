//! What clients know of their channels, while a log is read: delivery tags, consumers, confirms.

use super::log::{CHANNELS, Event};
use crate::amqp::pair::LINES;

/// A consumer that a client has heard of.
#[derive(Copy, Clone)]
pub(super) struct KnownConsumer {
    connection: u16,
    channel: u8,
    tag: u8,
    /// The place of its `basic.consume`.
    pub place: usize,
    /// Whether its client has seen cancel-ok.
    pub is_cancelled: bool,
}

/// What clients know.
pub(super) struct Known {
    /// R-Q-97: the tags that each channel delivers are 1, 2, 3, …
    next_tag: [[u64; CHANNELS]; LINES],
    confirming: [[bool; CHANNELS]; LINES],
    consumers: Vec<KnownConsumer>,
}

impl Known {
    pub(super) fn new() -> Self {
        let (next_tag, confirming) = ([[1; CHANNELS]; LINES], [[true; CHANNELS]; LINES]);
        Known { next_tag, confirming, consumers: Vec::new() }
    }

    /// A channel is opened.
    pub(super) fn open(&mut self, event: &Event, confirms: bool) {
        let (line, side) = event.lane();
        (self.next_tag[line][side], self.confirming[line][side]) = (1, confirms);
        self.end_channel(event);
    }

    /// A channel ends, and its consumers with it.
    pub(super) fn end_channel(&mut self, event: &Event) {
        self.consumers.retain(|known| (known.connection, known.channel) != (event.connection, event.channel));
    }

    /// A connection ends.
    pub(super) fn end_connection(&mut self, connection: u16) {
        let line = usize::from(connection) - 1;
        (self.next_tag[line], self.confirming[line]) = ([1; CHANNELS], [true; CHANNELS]);
        self.consumers.retain(|known| known.connection != connection);
    }

    /// Whether publishes are confirmed.
    pub(super) fn confirms(&self, event: &Event) -> bool {
        let (line, side) = event.lane();
        self.confirming[line][side]
    }

    /// The tag of the last delivery.
    pub(super) fn last_tag(&self, event: &Event) -> u64 {
        let (line, side) = event.lane();
        self.next_tag[line][side] - 1
    }

    /// Something is delivered under a tag.
    ///
    /// # Errors
    /// It is not the channel's next one.
    pub(super) fn deliver(&mut self, event: &Event, tag: u64) -> Result<(), String> {
        let (line, side) = event.lane();
        let expected = std::mem::replace(&mut self.next_tag[line][side], tag + 1);
        let why = || format!("the delivery tag is {tag}, and the channel's next one is {expected}");
        if tag == expected { Ok(()) } else { Err(why()) }
    }

    /// A consumer is confirmed.
    pub(super) fn consume(&mut self, event: &Event, tag: u8, place: usize) {
        let (connection, channel) = (event.connection, event.channel);
        self.consumers.push(KnownConsumer { connection, channel, tag, place, is_cancelled: false });
    }

    /// The end of a consumer is confirmed; what it was sent may still arrive.
    pub(super) fn cancel(&mut self, event: &Event, tag: u8) {
        if let Some(at) = self.position(event, tag) {
            self.consumers[at].is_cancelled = true;
        }
    }

    /// The last consumer of a tag.
    ///
    /// # Errors
    /// The channel has no such consumer.
    pub(super) fn consumer(&self, event: &Event, tag: u8) -> Result<KnownConsumer, String> {
        let at = self.position(event, tag).ok_or_else(|| format!("the channel has no consumer {tag}"))?;
        Ok(self.consumers[at])
    }

    /// The broker cancels a consumer: its place.
    ///
    /// # Errors
    /// The channel has no such consumer.
    pub(super) fn cancelled(&mut self, event: &Event, tag: u8) -> Result<usize, String> {
        let known = self.consumer(event, tag)?;
        self.consumers.retain(|other| other.place != known.place);
        Ok(known.place)
    }

    fn position(&self, event: &Event, tag: u8) -> Option<usize> {
        let is_it = |known: &KnownConsumer| {
            (known.connection, known.channel, known.tag) == (event.connection, event.channel, tag)
        };
        self.consumers.iter().rposition(is_it)
    }
}
