//! Connections and channels: how they open, break and end.

use serde::{Deserialize, Serialize};

use super::queues::Delivery;
use super::{Broker, Ctx, Out, note};
use crate::RabbitMq;
use crate::RabbitmqMutation;
use crate::messages::{Answer, Ask, Name, Problem, RabbitmqEvent, RabbitmqMessage, Request, Timer};
use fencepost_model::ids::{Call, ClientId, ProcessId, RawId, SessionId};
use fencepost_model::inline_array::InlineArray;
use fencepost_model::normal::{Normal, Visitor};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Deadline, Instant, StartTime};

/// A connection from the broker's view.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Connection {
    /// Its id: the client that opened it, and a number.
    pub id: SessionId,
    /// The node that it is connected to.
    pub(super) node: u8,
    life: ConnectionState,
    /// The instant at which the client closed its socket, if the broker has not noticed it yet (R-Q-39).
    pub(super) lost: Option<Deadline>,
    /// When its last frame arrived, by the broker's clock; none where silence does not count.
    pub(super) last_frame: Option<StartTime>,
    /// Whether it is certain that no frame arrives from it.
    pub(super) is_silent: bool,
    /// Whether the broker does not read it because of an alarm (R-Q-47).
    pub(super) is_blocked: bool,
    pub(super) channels: InlineArray<Channel, 2>,
}

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ConnectionState {
    Open,
    /// Its exclusive queues are being removed, one by one (R-Q-40).
    Ending {
        since: Deadline,
        then: OnceEnded,
    },
}

/// The last step of the end, after its queues are removed.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum OnceEnded {
    /// No message is sent.
    Nothing,
    /// The client receives a close by the broker (R-Q-38).
    Tell(Option<Problem>),
    /// The client receives the response to its close (R-Q-37).
    CloseOk(ProcessId, #[normal(of = 0)] Call),
}

/// A channel of a connection.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct Channel {
    pub(super) number: u8,
    /// Whether the broker has closed it, and the client has not yet acknowledged that (R-Q-31).
    pub(super) is_closing: bool,
    /// Whether publishes on it are confirmed.
    pub(super) confirms: bool,
    /// The number of messages delivered on it.
    pub(super) delivered: u32,
}

/// A request on a connection that the broker does not read.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(super) struct Parked {
    pub(super) from: ProcessId,
    pub(super) ask: Ask,
}

impl Connection {
    pub(super) fn is_open(&self) -> bool {
        self.life == ConnectionState::Open
    }

    /// Whether the broker would notice missing heartbeats (R-Q-48).
    pub(super) fn is_watched(&self) -> bool {
        self.is_open() && !self.is_blocked && self.lost.is_none()
    }

    /// Any byte counts (R-Q-44). Where message delay is unbounded, so is the delay of heartbeats.
    pub(super) fn hears(&mut self, context: &Ctx<'_>) {
        let may_be_late = context.scenario.synchrony.message_delay.is_none();
        let counts = context.scenario.service.heartbeat.is_some() && (may_be_late || self.is_silent);
        self.last_frame = counts.then_some(StartTime(context.now));
    }

    fn channel(&self, number: u8) -> Option<Channel> {
        self.channels.iter().find(|channel| channel.number == number).copied()
    }

    pub(super) fn set(&mut self, channel: Channel) {
        let others = self.channels.filtered(|other| other.number != channel.number);
        self.channels = others;
        self.channels.push(channel);
        self.channels.sort_unstable();
    }
}

impl Broker {
    pub(super) fn place_of(&self, id: SessionId) -> Option<usize> {
        self.connections.iter().position(|connection| connection.id == id)
    }

    /// The first request on a new connection opens it; a request on an ended connection is reset.
    pub(super) fn find_or_open(&mut self, id: SessionId, context: &Ctx<'_>) -> Option<usize> {
        if let Some(place) = self.place_of(id) {
            return Some(place);
        }
        let node = context.scenario.service.cluster.node_of(id.raw().creator.place());
        let is_over = self
            .over
            .iter()
            .any(|other| other.raw().creator == id.raw().creator && other.raw().number >= id.raw().number);
        let is_over = is_over && !context.is_mutated(RabbitmqMutation::LateRequestReopens);
        if is_over || self.nodes.is_down(node) {
            return None;
        }
        let first = Channel { number: 1, is_closing: false, confirms: true, delivered: 0 };
        self.connections.insert_sorted(Connection {
            id,
            node,
            life: ConnectionState::Open,
            lost: None,
            last_frame: None,
            is_silent: false,
            is_blocked: false,
            channels: [first].into_iter().collect(),
        });
        self.place_of(id)
    }

    pub(super) fn serve(&mut self, from: ProcessId, ask: Ask, context: &Ctx<'_>, out: Out<'_>) {
        let Some(place) = self.place_of(ask.connection) else { return };
        if ask.close_ok && self.connections[place].channel(ask.channel).is_some_and(|channel| channel.is_closing) {
            self.drop_channel(place, ask.channel, context);
        }
        let connection = &mut self.connections[place];
        let result = match (connection.channel(ask.channel), ask.request) {
            (_, Request::Close) => return self.end(place, OnceEnded::CloseOk(from, ask.call), context, out),
            (None, Request::OpenChannel { confirms }) => {
                let channel = Channel { number: ask.channel, is_closing: false, confirms, delivered: 0 };
                connection.set(channel);
                Ok(Some(Answer::Opened))
            }
            (None, _) => Err(Problem::NotOpen),
            // R-Q-31: methods before close-ok are discarded, except a close: it is answered and has no effect.
            (Some(Channel { is_closing: true, .. }), Request::CloseChannel) => Ok(Some(Answer::ChannelClosed)),
            (Some(_), Request::OpenChannel { .. }) => Err(Problem::OpenTwice),
            (Some(Channel { is_closing: true, .. }), _)
                if !context.is_mutated(RabbitmqMutation::ClosingChannelServes) =>
            {
                return;
            }
            (Some(_), Request::CloseChannel) => {
                self.drop_channel(place, ask.channel, context);
                if context.is_mutated(RabbitmqMutation::ChannelTakesQueues) {
                    self.remove_all(out, |queue| queue.owner == Some(ask.connection));
                }
                Ok(Some(Answer::ChannelClosed))
            }
            (Some(_), request) if self.must_wait(place, request, context) => {
                return self.parked.push(Parked { from, ask });
            }
            (Some(channel), request) => self.perform(place, channel, request, context, out),
        };
        match result {
            Ok(Some(answer)) => Broker::tell(from, ask.call, answer, out),
            Ok(None) => {}
            Err(problem) if problem.is_fatal() => {
                Broker::tell(from, ask.call, Answer::Error(problem), out);
                self.lose(ask.connection, None, context, out);
            }
            Err(problem) => {
                // What was delivered on it is put back when the client has acknowledged it: observed.
                let connection = &mut self.connections[place];
                connection.set(Channel { number: ask.channel, is_closing: true, confirms: false, delivered: 0 });
                if context.is_mutated(RabbitmqMutation::RefusalTakesQueues) {
                    self.remove_all(out, |queue| queue.owner == Some(ask.connection));
                }
                Broker::tell(from, ask.call, Answer::Error(problem), out);
            }
        }
    }

    /// A channel ends: its unacknowledged deliveries are put back.
    fn drop_channel(&mut self, place: usize, number: u8, context: &Ctx<'_>) {
        let connection = &mut self.connections[place];
        connection.channels = connection.channels.filtered(|channel| channel.number != number);
        let id = connection.id;
        if !context.is_mutated(RabbitmqMutation::UnackedStayAway) {
            self.put_back(|delivery: &Delivery| delivery.connection == id && delivery.channel == number);
        }
    }

    /// A client has closed its socket without a close method.
    pub(super) fn hung_up(&mut self, id: SessionId, context: &Ctx<'_>, out: Out<'_>) {
        match self.place_of(id) {
            // R-Q-48: the end of a connection that is not read is not noticed.
            Some(place) if self.connections[place].is_blocked => {
                self.connections[place].lost = Some(Deadline(context.now))
            }
            Some(_) => self.lose(id, None, context, out),
            None => self.remember_ended(id),
        }
    }

    /// Two heartbeats were missed: the client receives no frame, only a reset (R-Q-45).
    pub(super) fn miss(&mut self, id: SessionId, context: &Ctx<'_>, out: Out<'_>) {
        out.send(ProcessId::Client(id.raw().creator), RabbitmqMessage::ConnectionClosed(id, None));
        self.lose(id, None, context, out);
    }

    /// A connection ends. Afterwards its client is notified if that is possible.
    pub(super) fn lose(&mut self, id: SessionId, close: Option<Option<Problem>>, context: &Ctx<'_>, out: Out<'_>) {
        let Some(place) = self.place_of(id).filter(|place| self.connections[*place].is_open()) else { return };
        self.end(place, close.map_or(OnceEnded::Nothing, OnceEnded::Tell), context, out);
    }

    /// Its exclusive queues are removed: a single queue at once, several one by one and in any order (R-Q-40, R-Q-92).
    fn end(&mut self, place: usize, then: OnceEnded, context: &Ctx<'_>, out: Out<'_>) {
        let connection = &mut self.connections[place];
        let id = connection.id;
        connection.life = ConnectionState::Ending { since: Deadline(context.now), then };
        (connection.last_frame, connection.lost) = (None, None);
        (connection.is_silent, connection.is_blocked) = (false, false);
        connection.channels = InlineArray::default();
        self.parked.retain(|parked| parked.ask.connection != id);
        if context.is_mutated(RabbitmqMutation::UnackedGoWithConnection) {
            self.deliveries.retain(|delivery| delivery.connection != id);
        }
        self.put_back(|delivery| delivery.connection == id);
        let is_clean = matches!(then, OnceEnded::CloseOk(..));
        match self.queues.iter().filter(|queue| queue.owner == Some(id)).count() {
            0 => self.finish(id, out),
            _ if is_clean && context.is_mutated(RabbitmqMutation::CloseOkFirst) => {
                let OnceEnded::CloseOk(asker, call) = then else { return };
                Broker::tell(asker, call, Answer::Closed, out);
                self.connections[place].life =
                    ConnectionState::Ending { since: Deadline(context.now), then: OnceEnded::Nothing };
            }
            _ if context.is_mutated(RabbitmqMutation::OwnerlessQueuesStay) => {
                for queue in self.queues.iter_mut().filter(|queue| queue.owner == Some(id)) {
                    queue.owner = Some(SessionId::numbered(id.raw().creator, 0));
                }
                self.finish(id, out);
            }
            1 => {
                self.remove_all(out, |queue| queue.owner == Some(id));
                self.finish(id, out);
            }
            _ => {}
        }
    }

    pub(super) fn remove_step(&mut self, id: SessionId, name: Name, context: &Ctx<'_>, out: Out<'_>) {
        let all = context.is_mutated(RabbitmqMutation::QueuesGoTogether);
        self.remove_all(out, |queue| queue.owner == Some(id) && (all || queue.name == name));
        if self.queues.iter().all(|queue| queue.owner != Some(id)) {
            self.finish(id, out);
        }
    }

    fn finish(&mut self, id: SessionId, out: Out<'_>) {
        let Some(place) = self.place_of(id) else { return };
        let connection = self.connections.remove(place);
        self.remember_ended(id);
        note(RabbitmqEvent::Cut(id), out);
        match connection.life {
            ConnectionState::Ending { then: OnceEnded::Tell(problem), .. } => {
                out.send(ProcessId::Client(id.raw().creator), RabbitmqMessage::ConnectionClosed(id, problem));
            }
            ConnectionState::Ending { then: OnceEnded::CloseOk(asker, call), .. } => {
                Broker::tell(asker, call, Answer::Closed, out)
            }
            ConnectionState::Ending { then: OnceEnded::Nothing, .. } | ConnectionState::Open => {}
        }
    }

    /// Records that a connection has ended.
    pub(super) fn remember_ended(&mut self, id: SessionId) {
        self.over.retain(|other| other.raw().creator != id.raw().creator || other.raw().number > id.raw().number);
        if self.over.iter().all(|other| other.raw().creator != id.raw().creator) {
            self.over.insert_sorted(id);
        }
    }

    pub(super) fn connections_wake(&self, scenario: &Scenario<RabbitMq>, due: &mut dyn FnMut(Timer, Instant)) {
        let missed_max = if scenario.mutation == Some(RabbitmqMutation::DropsAfterOneMiss.into()) { 1 } else { 2 };
        for connection in &self.connections {
            if let ConnectionState::Ending { since, .. } = connection.life {
                let own = self.queues.iter().filter(|queue| queue.owner == Some(connection.id));
                own.for_each(|queue| due(Timer::Remove(connection.id, queue.name), since.0));
                continue;
            }
            if let Some(lost) = connection.lost.filter(|_| !connection.is_blocked) {
                due(Timer::Notice(connection.id), lost.0);
            }
            if let (Some(last_frame), Some(beat), true) =
                (connection.last_frame, scenario.service.heartbeat, connection.is_watched())
            {
                due(Timer::Miss(connection.id), last_frame + beat.times(missed_max));
            }
        }
    }

    /// Requests were parked while their connection was not read. This processes them when it is read again (R-Q-48).
    pub(super) fn read_again(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        for connection in self.connections.iter_mut().filter(|connection| connection.is_blocked) {
            connection.is_blocked = false;
            if connection.last_frame.is_some() {
                connection.last_frame = Some(StartTime(context.now));
            }
        }
        self.serve_parked(context, out);
    }

    /// Waiting requests are processed or keep waiting.
    pub(super) fn serve_parked(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        let parked: Vec<Parked> = self.parked.iter().copied().collect();
        self.parked.clear();
        for parked in parked {
            let connection = self.place_of(parked.ask.connection).map(|place| self.connections[place]);
            match connection.is_some_and(|connection| connection.is_blocked) {
                true => self.parked.push(parked),
                false => self.serve(parked.from, parked.ask, context, out),
            }
        }
    }

    /// The connections of a client that the broker knows.
    pub(super) fn of_client(&mut self, client: ClientId) -> impl Iterator<Item = &mut Connection> {
        self.connections
            .iter_mut()
            .filter(move |connection| connection.id.raw().creator == client && connection.is_open())
    }
}

/// Written by hand: the call in the request belongs to the sender.
impl Normal for Parked {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        visitor.session(&mut self.ask.connection);
        if let ProcessId::Client(client) = &mut self.from {
            visitor.call_of(*client, &mut self.ask.call);
            visitor.client(client);
        }
    }
}
