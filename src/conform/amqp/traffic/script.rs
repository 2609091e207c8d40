//! A log, with what belongs together in it: methods and their answers, consumers and their deliveries.

use fencepost_rabbitmq::{Answer, Request};

use super::judge::Flaw;
use super::known::{Known, KnownConsumer};
use super::log::{CHANNELS, Event, Happening, Log};
use super::losses::{Cut, CutKind, Losses};
use super::method::{Method, Reply};
use super::state::State;
use crate::amqp::pair::LINES;

/// A log, with what belongs together in it.
pub(super) struct Script<'a> {
    pub log: &'a Log,
    /// For each channel, the places of its methods.
    programs: [[Vec<usize>; CHANNELS]; LINES],
    /// For each line, its answer.
    answers: Vec<Option<(usize, Reply)>>,
    /// For each line with `basic.consume`, what was delivered: tag, body, redelivered.
    deliveries: Vec<Vec<(u64, u32, bool)>>,
    /// For each delivery and each cancellation, its consumer, and which of its deliveries it is.
    consumers: Vec<Option<(usize, u16)>>,
    /// For each line with `basic.consume`, whether something is delivered behind cancel-ok.
    is_late: Vec<bool>,
    /// For each method, whether its channel ends later.
    ends: Vec<bool>,
    /// For each line with a publish, whether its channel confirms.
    confirms: Vec<bool>,
    /// Ends of connections that the broker brought about.
    pub losses: Losses,
    /// For each line with `basic.recover`, the last delivery that its channel wrote before the answer.
    recovered: Vec<Option<u64>>,
}

impl<'a> Script<'a> {
    pub(super) fn new(log: &'a Log) -> Result<Self, Flaw> {
        let count = log.events.len();
        let mut script = Script {
            log,
            programs: Default::default(),
            answers: vec![None; count],
            deliveries: vec![Vec::new(); count],
            consumers: vec![None; count],
            is_late: vec![false; count],
            ends: vec![false; count],
            confirms: vec![false; count],
            losses: Losses::new(log),
            recovered: vec![None; count],
        };
        let mut known = Known::new();
        for (place, event) in log.events.iter().enumerate() {
            script.read(place, event, &mut known).map_err(|why| Flaw { line: log.line + place + 1, why })?;
        }
        Ok(script)
    }

    fn read(&mut self, place: usize, event: &Event, known: &mut Known) -> Result<(), String> {
        match event.happened {
            Happening::Sent(method) => self.read_method(place, event, method, known),
            Happening::Answered { to, reply } => {
                self.answers[to - 1] = Some((place, reply));
                self.read_answer(to - 1, event, reply, known)?;
                if reply.closes_channel() {
                    self.end(event.connection, Some(event.channel), place);
                    known.end_channel(event);
                }
                if reply.ends_connection() {
                    self.end(event.connection, None, place);
                    known.end_connection(event.connection);
                }
            }
            Happening::Delivered { consumer, tag, body, redelivered } => {
                known.deliver(event, tag)?;
                let KnownConsumer { place: consumer, is_cancelled, .. } = known.consumer(event, consumer)?;
                self.is_late[consumer] |= is_cancelled;
                let had = u16::try_from(self.deliveries[consumer].len()).unwrap_or(u16::MAX);
                self.consumers[place] = Some((consumer, had + 1));
                self.deliveries[consumer].push((tag, body, redelivered));
            }
            Happening::Cancelled { consumer } => {
                self.consumers[place] = Some((known.cancelled(event, consumer)?, 0));
            }
            Happening::Lost(_) => {
                self.end(event.connection, None, place);
                known.end_connection(event.connection);
            }
            Happening::Restarted { .. } => {
                for connection in (1..).take(LINES) {
                    self.end(connection, None, place);
                    known.end_connection(connection);
                }
            }
        }
        Ok(())
    }

    fn read_method(&mut self, place: usize, event: &Event, method: Method, known: &mut Known) {
        let (line, side) = event.lane();
        self.programs[line][side].push(place);
        if let Method::Plain(Request::OpenChannel { confirms }) | Method::Reopen { confirms } = method {
            known.open(event, confirms);
        }
        self.confirms[place] = known.confirms(event);
        match method {
            Method::HangUp | Method::Plain(Request::Close) => self.end(event.connection, None, place),
            Method::Plain(Request::CloseChannel) | Method::Reopen { .. } => {
                self.end(event.connection, Some(event.channel), place);
            }
            _ => {}
        }
        if method == Method::HangUp {
            known.end_connection(event.connection);
        }
    }

    fn read_answer(&mut self, asked: usize, event: &Event, reply: Reply, known: &mut Known) -> Result<(), String> {
        match (self.sent(asked).expect("it was read"), reply) {
            (_, Reply::Got { tag, .. }) => known.deliver(event, tag)?,
            (_, Reply::Recovered) => self.recovered[asked] = Some(known.last_tag(event)),
            (Method::Consume { tag, .. }, Reply::ConsumeOk) => known.consume(event, tag, asked),
            (Method::Cancel(tag), Reply::CancelOk) => known.cancel(event, tag),
            _ => {}
        }
        Ok(())
    }

    /// A channel, or a connection, ends at a line.
    fn end(&mut self, connection: u16, channel: Option<u8>, until: usize) {
        for (place, event) in self.log.events[..until].iter().enumerate() {
            let is_its = event.connection == connection && channel.is_none_or(|channel| channel == event.channel);
            self.ends[place] |= is_its;
        }
    }

    /// The answer to the method at a place of the log.
    pub(super) fn answer(&self, place: usize) -> Option<Reply> {
        self.answers[place].map(|(_, reply)| reply)
    }

    /// A delivery to the consumer: tag, body, redelivered.
    pub(super) fn delivery(&self, consumer: usize, number: u16) -> Option<(u64, u32, bool)> {
        self.deliveries[consumer].get(usize::from(number)).copied()
    }

    /// Whether something is delivered to the consumer behind cancel-ok.
    pub(super) fn is_late(&self, consumer: usize) -> bool {
        self.is_late[consumer]
    }

    /// Whether there may be deliveries to the consumer that the client has not seen.
    pub(super) fn may_miss(&self, consumer: usize) -> bool {
        !self.log.is_complete || self.ends[consumer]
    }

    /// Whether the client may not have seen this answer, which comes later than others, because its channel has ended.
    pub(super) fn may_lack(&self, place: usize, reply: Option<Reply>) -> bool {
        let is_late = matches!(
            reply,
            Some(
                Reply::Plain(Answer::Confirmed | Answer::Nacked | Answer::Returned { .. })
                    | Reply::ConsumeOk
                    | Reply::CancelOk
            )
        );
        self.answers[place].is_none() && (is_late && self.may_miss(place) || self.losses.may_lack(place))
    }

    /// Whether `basic.recover` is of a delivery: R-Q-98.
    pub(super) fn recovers(&self, place: usize, tag: u64) -> bool {
        self.recovered[place].is_none_or(|last| tag != 0 && tag <= last)
    }

    /// The tag of the consumer that was declared at a place of the log.
    pub(super) fn consumer_tag(&self, place: usize) -> String {
        match self.sent(place) {
            Some(Method::Consume { tag, .. }) => tag.to_string(),
            _ => unreachable!("consumers are declared by basic.consume"),
        }
    }

    /// Whether the channel of a publish confirms.
    pub(super) fn is_confirmed(&self, place: usize) -> bool {
        self.confirms[place]
    }

    /// The next method of a channel, if it was sent before the line. The end of a connection comes after all that was sent before on
    /// its channels, and before all that is sent later.
    pub(super) fn next(&self, state: &State, line: usize, side: usize, before: usize) -> Option<usize> {
        let next = |side: usize| self.programs[line][side].get(state.rest.next[line][side]).copied();
        let cut = self.losses.next(line, state.rest.cuts[line]).filter(|cut| cut.kind != CutKind::Unseen);
        let cut = cut.map_or(before, |cut| before.min(cut.place));
        let place = next(side).filter(|place| *place < cut)?;
        let is_end = |place: usize| matches!(self.sent(place), Some(Method::HangUp | Method::Plain(Request::Close)));
        let waits = |other: usize| other < place && (is_end(other) || is_end(place));
        (0..CHANNELS).filter(|other| *other != side).all(|other| !next(other).is_some_and(waits)).then_some(place)
    }

    /// Whether a state has come to a line, or to the end of the log.
    pub(super) fn is_met(&self, place: usize, state: &State) -> bool {
        let Some(event) = self.log.events.get(place) else {
            return state.rest.casts.is_empty() && self.is_finished(state);
        };
        match event.happened {
            Happening::Sent(_) => true,
            Happening::Lost(_) | Happening::Restarted { .. } => self.losses.is_done(place, &state.rest.cuts),
            Happening::Answered { to, .. } => self.is_done(state, to - 1),
            Happening::Delivered { .. } => {
                let (consumer, number) = self.consumers[place].expect("the script knows it");
                state.rest.deliveries.iter().any(|(of, count)| *of == consumer && *count >= number)
            }
            Happening::Cancelled { .. } => {
                let (consumer, _) = self.consumers[place].expect("the script knows it");
                self.is_done(state, consumer) && state.rest.tags.iter().all(|(.., other)| *other != consumer)
            }
        }
    }

    /// Whether every method was carried out.
    fn is_finished(&self, state: &State) -> bool {
        let done = state.rest.next.as_flattened().iter();
        self.programs.as_flattened().iter().zip(done).all(|(program, done)| program.len() == *done)
    }

    /// Whether the method at a place was carried out.
    fn is_done(&self, state: &State, place: usize) -> bool {
        let event = &self.log.events[place];
        let (line, side) = (usize::from(event.connection) - 1, usize::from(event.channel) - 1);
        state.rest.next[line][side] > self.position(line, side, place) && !state.is_open_at(place)
    }

    /// The method on a line.
    fn sent(&self, place: usize) -> Option<Method> {
        match self.log.events[place].happened {
            Happening::Sent(method) => Some(method),
            _ => None,
        }
    }

    /// How many methods of a channel's program stand before a line.
    pub(super) fn position(&self, line: usize, side: usize, place: usize) -> usize {
        self.programs[line][side].partition_point(|other| *other < place)
    }

    /// The place of a connection's next end, if the broker may bring it about: nothing that follows before it has an answer.
    pub(super) fn cut(&self, state: &State, line: usize, now: u64) -> Option<Cut> {
        let cut = self.losses.next(line, state.rest.cuts[line])?;
        let is_open = |side: usize| {
            let left = state.rest.next[line][side]..self.position(line, side, cut.place);
            let is_last = |place: usize| cut.kind == CutKind::Unseen && place + 1 == cut.place;
            let is_left = |place: &usize| {
                self.answers[*place].is_none() && (self.sent(*place) != Some(Method::HangUp) || is_last(*place))
            };
            self.programs[line][side][left].iter().all(is_left)
        };
        (cut.earliest <= now && (0..CHANNELS).all(is_open)).then_some(cut)
    }
}
