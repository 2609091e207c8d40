//! How connections end, and the removal of their queues.

use fencepost_model::ids::{RawId, SessionId};
use fencepost_rabbitmq::{BrokerAction, Name};

use super::log::CHANNELS;
use super::method::Reply;
use super::state::{Channel, ChannelId, Judging, Life, State};
use crate::amqp::class::Class;

/// A connection that ends: its channels end, and its queues are removed (R-Q-40).
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Ending {
    pub session: SessionId,
    /// Its channels.
    opened: [u16; CHANNELS],
    /// The place of the method that is then answered; none: its socket was closed.
    pub place: Option<usize>,
    /// Whether its queues are being removed.
    pub is_removing: bool,
}

impl State {
    /// A connection ends with an answer to a method: its queues are removed first (R-Q-37, R-Q-38).
    pub(super) fn end(mut self, connection: u16, place: usize, reply: Reply, judging: &Judging<'_>) -> Vec<State> {
        let session = self.session(connection);
        let opened = self.replace(connection);
        self.forget_channels(connection, opened);
        self.rest.ending.push(Ending { session, opened, place: Some(place), is_removing: false });
        self.reply(place, Some(reply), judging)
    }

    /// Whether the queues of a connection that ends may be removed now. When it is closed, its channels end first (R-Q-108); when its socket is,
    /// in any order.
    pub(super) fn may_remove(&self, at: usize) -> bool {
        let Ending { session, opened, place, is_removing } = self.rest.ending[at];
        let consumes = |id: ChannelId, name: Name| {
            let content = self.rest.queues.iter().find(|content| content.name == name);
            content.is_some_and(|content| content.consumers.iter().any(|consumer| consumer.channel == id))
        };
        let is_untold = |(id, name): &(ChannelId, Name)| {
            let is_its = id.connection == session.raw().creator.0 && opened[usize::from(id.channel) - 1] == id.opened;
            is_its && consumes(*id, *name)
        };
        !is_removing && (place.is_none() || !self.rest.downs.iter().any(is_untold))
    }

    /// The kernel's broker begins to remove the queues of a connection that ends.
    pub(super) fn begin_removal(&mut self, at: usize) {
        let ending = &mut self.rest.ending[at];
        ending.is_removing = true;
        let session = ending.session;
        self.bench.notice(session);
        self.go_on();
    }

    /// The client has closed a socket, and the broker has not noticed.
    pub(super) fn hang_up(&mut self, connection: u16) {
        let session = self.session(connection);
        let opened = self.replace(connection);
        self.rest.unnoticed.push((session, opened));
    }

    /// R-Q-39: it notices.
    pub(super) fn notice(&mut self, at: usize) {
        let (session, opened) = self.rest.unnoticed.remove(at);
        self.forget_channels(session.raw().creator.0, opened);
        self.rest.ending.push(Ending { session, opened, place: None, is_removing: false });
    }

    /// The client's next connection takes the place of this one, whose channels are returned.
    pub(super) fn replace(&mut self, connection: u16) -> [u16; CHANNELS] {
        let line = usize::from(connection) - 1;
        self.rest.sessions[line] += 1;
        let channels = &mut self.rest.channels[line];
        let opened = channels.map(|channel| channel.opened);
        let first = Channel { opened: opened[0] + 1, life: Life::Open, confirms: true, prefetch: 0 };
        *channels = [first, Channel { opened: opened[1] + 1, life: Life::Closed, ..first }];
        opened
    }

    fn forget_channels(&mut self, connection: u16, opened: [u16; CHANNELS]) {
        for (channel, opened) in (1..).zip(opened) {
            self.forget_channel(ChannelId { connection, channel, opened });
        }
    }

    /// What the kernel's broker removes by itself: queues of a connection that is over, and those that were not used.
    pub(super) fn removals(&self, now: u64) -> Vec<BrokerAction> {
        let may = |action: &BrokerAction| match action {
            BrokerAction::Remove(..) => true,
            BrokerAction::Expire(name) => {
                self.rest.queues.iter().any(|content| content.name == *name && content.may_expire(now))
            }
        };
        self.bench.doings().filter(may).collect()
    }

    pub(super) fn remove(&mut self, action: BrokerAction) {
        if let BrokerAction::Expire(_) = action {
            self.noted.push(Class::QueueExpired);
        }
        self.bench.carry_on(action);
        self.go_on();
    }

    /// After a removal: contents go with their queues, and connections without queues are over.
    fn go_on(&mut self) {
        self.forget_removed();
        let open: Vec<SessionId> = self
            .bench
            .doings()
            .filter_map(|action| if let BrokerAction::Remove(session, _) = action { Some(session) } else { None })
            .collect();
        self.rest.ending.retain(|ending| !ending.is_removing || open.contains(&ending.session));
    }

    /// The contents of queues that are no more.
    pub(super) fn forget_removed(&mut self) {
        let names: Vec<Name> = self.rest.queues.iter().map(|content| content.name).collect();
        let removed: Vec<Name> = names.into_iter().filter(|name| !self.exists(*name)).collect();
        for name in removed {
            let place = self.rest.queues.iter().position(|content| content.name == name).expect("it is listed");
            let content = self.rest.queues.remove(place);
            self.rest.cancelled.extend(content.consumers.iter().map(|consumer| (name, *consumer)));
            self.rest.dying.retain(|(other, _)| *other != name);
            self.rest.watching.retain(|(_, declared)| *declared != content.declared);
            self.rest.downs.retain(|(_, other)| *other != name);
        }
    }
}
