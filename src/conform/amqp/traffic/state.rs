//! What the broker may be: channels, queues, and what is on its way between them.

use std::cell::Cell;
use std::hash::{Hash, Hasher};

use fencepost_model::ids::{Call, ClientId, SessionId};
use fencepost_model::mutation::Mutation;
use fencepost_rabbitmq::{Answer, Ask, Bench, Name, Problem, Request};

use super::connections::Ending;
use super::content::{Consumer, Content, Unacked};
use super::ends::Leaving;
use super::log::CHANNELS;
use super::method::Reply;
use super::script::Script;
use super::watching::IfGone;
use crate::amqp::class::Class;
use crate::amqp::pair::LINES;

/// A channel, which is a new one whenever it is opened again.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct ChannelId {
    /// The connection, from 1.
    pub connection: u16,
    /// The channel, from 1.
    pub channel: u8,
    /// How often it was opened before.
    pub opened: u16,
}

/// A channel as the broker has it.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Channel {
    pub opened: u16,
    pub life: Life,
    pub confirms: bool,
    /// The prefetch of later consumers; 0: no limit.
    pub prefetch: u16,
}

/// The life of a channel.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Life {
    Closed,
    Open,
    /// The broker has closed it, and the client has not acknowledged that (R-Q-31).
    Closing,
}

/// What a channel has told a queue, which has not dealt with it yet.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Cast {
    pub from: ChannelId,
    pub name: Name,
    /// Which of the queues of that name it was, in the order of their declaration.
    pub declared: u16,
    pub what: Told,
    /// What the channel answers to a publish that the queue does not get.
    pub if_gone: IfGone,
}

/// What a channel tells a queue.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Told {
    /// The publish at this place of the log.
    Publish(usize),
    /// The messages at these positions are settled.
    Settle { positions: Vec<u32>, how: Settled },
}

/// What becomes of settled messages.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Settled {
    Acked,
    /// They are dropped by nack or reject.
    Dropped,
    /// They go back to their queue.
    Requeued,
}

impl Cast {
    /// Whether the queue deals with it before another one, which it was told earlier by the same channel (R-Q-96).
    pub(super) fn overtakes(&self, earlier: &Cast) -> bool {
        let is_ack = |cast: &Cast| matches!(cast.what, Told::Settle { how: Settled::Acked, .. });
        let of = |cast: &Cast| (cast.from, cast.name, cast.declared);
        of(self) != of(earlier) || is_ack(self) && !is_ack(earlier)
    }
}

/// What the broker may have become.
#[derive(Clone)]
pub(super) struct State {
    pub bench: Bench,
    pub rest: Rest,
    /// What no answer shows, and has come up on the way here.
    pub noted: Vec<Class>,
}

/// All that the kernel's broker does not have.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Rest {
    /// The contents of the queues that exist, sorted by name.
    pub queues: Vec<Content>,
    /// How many queues there were, which tells those of one name apart.
    pub declared: u16,
    pub channels: [[Channel; CHANNELS]; LINES],
    /// Which of its connections each client uses.
    pub sessions: [u16; LINES],
    /// How many methods of each channel's program were carried out.
    pub next: [[usize; CHANNELS]; LINES],
    pub unacked: Vec<Unacked>,
    pub casts: Vec<Cast>,
    /// Which of the queues that are there a channel has watched since before now (R-Q-113): each queue by its number.
    pub watching: Vec<(ChannelId, u16)>,
    /// Consumers as channels know them: the channel, the tag, and the place of `basic.consume` in the log.
    pub tags: Vec<(ChannelId, u8, usize)>,
    /// How many deliveries each consumer had.
    pub deliveries: Vec<(usize, u16)>,
    /// Consumers whose queue is gone, which their channel has not noticed; the queue's name.
    pub cancelled: Vec<(Name, Consumer)>,
    /// Ended channels that a queue has not noticed.
    pub downs: Vec<(ChannelId, Name)>,
    /// Auto-delete queues without a consumer, on their way out.
    pub dying: Vec<(Name, u16)>,
    /// Closed sockets that the broker has not noticed, with the connection's channels (R-Q-39).
    pub unnoticed: Vec<(SessionId, [u16; CHANNELS])>,
    /// Channels that are telling their queues that they end (R-Q-108).
    pub leaving: Vec<Leaving>,
    /// How many of the ends that the broker brought about each client has behind it.
    pub cuts: [usize; LINES],
    /// Those connections, with their channels.
    pub dropped: Vec<(SessionId, [u16; CHANNELS])>,
    /// Connections that are ending.
    pub ending: Vec<Ending>,
}

impl Hash for State {
    /// Of the kernel's broker there is no hash; equality compares it.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rest.hash(state);
    }
}

impl PartialEq for State {
    /// The way to a state is not part of it.
    fn eq(&self, other: &Self) -> bool {
        self.bench == other.bench && self.rest == other.rest
    }
}

impl Eq for State {}

/// What judging needs besides states.
pub(super) struct Judging<'a> {
    pub script: &'a Script<'a>,
    /// The time of the line that is being judged, in microseconds.
    pub now: u64,
    /// The place of the method whose answer is on that line.
    pub target: Option<usize>,
    /// What the machine would answer to it.
    pub expected: Cell<Option<Option<Reply>>>,
    /// A connection that must be over, and in some state is not.
    pub overdue: Cell<Option<u16>>,
}

/// The connection of an observer, which no log contains.
const OBSERVER: ClientId = ClientId(4);

impl State {
    pub(super) fn new(mutation: Option<Mutation>) -> Self {
        let first = Channel { opened: 0, life: Life::Open, confirms: true, prefetch: 0 };
        let second = Channel { life: Life::Closed, ..first };
        let mut state = State {
            bench: Bench::new(mutation),
            rest: Rest {
                queues: Vec::new(),
                declared: 0,
                channels: [[first, second]; LINES],
                sessions: [1; LINES],
                next: [[0; CHANNELS]; LINES],
                unacked: Vec::new(),
                casts: Vec::new(),
                watching: Vec::new(),
                tags: Vec::new(),
                deliveries: Vec::new(),
                cancelled: Vec::new(),
                downs: Vec::new(),
                dying: Vec::new(),
                unnoticed: Vec::new(),
                leaving: Vec::new(),
                cuts: [0; LINES],
                dropped: Vec::new(),
                ending: Vec::new(),
            },
            noted: Vec::new(),
        };
        state.delete_as_observer(Name::Mutex);
        state
    }

    pub(super) fn channel(&mut self, id: ChannelId) -> &mut Channel {
        &mut self.rest.channels[usize::from(id.connection) - 1][usize::from(id.channel) - 1]
    }

    pub(super) fn session(&self, connection: u16) -> SessionId {
        SessionId::numbered(ClientId(connection), self.rest.sessions[usize::from(connection) - 1])
    }

    pub(super) fn ask(&mut self, id: ChannelId, close_ok: bool, request: Request) -> Option<Answer> {
        let connection = self.session(id.connection);
        self.bench.ask(Ask { connection, channel: id.channel, close_ok, call: Call(1), request })
    }

    pub(super) fn observe(&self, request: Request) -> Option<Answer> {
        let connection = SessionId::numbered(OBSERVER, 1);
        self.bench.clone().ask(Ask { connection, channel: 1, close_ok: false, call: Call(1), request })
    }

    pub(super) fn delete_as_observer(&mut self, name: Name) {
        let connection = SessionId::numbered(OBSERVER, 1);
        let request = Request::Delete { name, if_empty: false };
        self.bench.ask(Ask { connection, channel: 1, close_ok: false, call: Call(1), request });
    }

    pub(super) fn exists(&self, name: Name) -> bool {
        self.observe(Request::Look(name)) != Some(Answer::Error(Problem::NoQueue))
    }

    pub(super) fn content(&mut self, name: Name) -> Option<&mut Content> {
        self.rest.queues.iter_mut().find(|content| content.name == name)
    }
}
