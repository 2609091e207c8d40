//! What clients and broker say to each other: the methods of AMQP 0-9-1 that the semaphore needs, with their answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fencepost_model::ids::{Call, ClientId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::time::Ticks;

/// A queue's name, which is its only identity (R-Q-1).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Name {
    /// `A[k]`: it exists while there is a slot of that number.
    Slot(u8),
    /// `B[k]`: it exists while somebody has that slot.
    Holder(u8),
    /// The administrators' mutex.
    Mutex,
    /// The queue whose only message is a lock (B-36).
    Lock,
    /// A name that begins with `amq.`, which is the broker's own.
    Reserved,
}

/// What a queue is declared to be.
#[derive(
    Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Shape {
    /// It belongs to the connection that declares it, and goes with it.
    pub exclusive: bool,
    /// It survives a restart of the broker.
    pub durable: bool,
    /// It goes with its last consumer (R-Q-28).
    pub auto_delete: bool,
    /// What it keeps of what is published.
    pub keeps: Keeps,
    /// After which time without use it goes (`x-expires`, R-Q-25); none: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<Ticks>,
}

impl Shape {
    /// R-Q-5: an exclusive queue is never durable, whatever it is asked to be.
    pub(super) fn as_kept(self) -> Self {
        Shape { durable: self.durable && !self.exclusive, ..self }
    }
}

/// What a queue keeps of what is published (R-Q-24, R-Q-20).
#[derive(
    Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Keeps {
    /// Every message.
    #[default]
    All,
    /// None: `x-max-length: 0`.
    Nothing,
    /// One, and it refuses more: `x-max-length: 1` with `x-overflow: reject-publish`.
    One,
}

/// A method, from a client.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// `channel.open`, and with it `confirm.select`.
    OpenChannel {
        /// Whether publishes on it are confirmed.
        confirms: bool,
    },
    /// `channel.close`.
    CloseChannel,
    /// `connection.close`.
    Close,
    /// `queue.declare`.
    Declare {
        /// Of which name.
        name: Name,
        /// To be what.
        shape: Shape,
    },
    /// The same with `nowait`: success is silent (R-Q-6).
    DeclareSilently {
        /// Of which name.
        name: Name,
        /// To be what.
        shape: Shape,
    },
    /// `queue.declare` with `passive`.
    Look(Name),
    /// `queue.delete`.
    Delete {
        /// Of which name.
        name: Name,
        /// Only if it has no messages.
        if_empty: bool,
    },
    /// `basic.publish` of an empty message to the default exchange.
    Publish {
        /// To which queue.
        name: Name,
        /// Whether it is to come back if there is no such queue.
        mandatory: bool,
    },
    /// The same with `immediate`, which is not implemented (R-Q-26).
    PublishImmediate(Name),
    /// A publish to an exchange that does not exist (R-Q-27).
    PublishNowhere,
    /// `basic.get` without automatic acknowledgement.
    Get(Name),
    /// `basic.ack` of the delivery with this number, on this channel.
    Ack(u8),
    /// `basic.reject` with `requeue`.
    Requeue(u8),
}

/// Why the broker closes a channel or a connection.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Problem {
    /// 403: the name is reserved (R-Q-2).
    Reserved,
    /// 404: there is no such queue (R-Q-8).
    NoQueue,
    /// 404: the node on which it lives is down (R-Q-14).
    HomeDown,
    /// 404: there is no such exchange (R-Q-27).
    NoExchange,
    /// 405: it belongs to another connection, or is not to be exclusive (R-Q-3, R-Q-9).
    Locked,
    /// 406: it exists, and is not like that (R-Q-2).
    NotAlike(Difference),
    /// 406: it has messages (R-Q-13).
    NotEmpty,
    /// 406: no such delivery awaits an acknowledgement.
    UnknownDelivery,
    /// 504: a method on a channel that is not open (R-Q-30).
    NotOpen,
    /// 504: the channel is open already (R-Q-30).
    OpenTwice,
    /// 540: `immediate` (R-Q-26).
    NotImplemented,
    /// 320: an operator, or the end of the broker (R-Q-38, R-Q-58).
    Forced,
}

/// In what a queue differs from what it is asked to be.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    /// `durable`.
    Durable,
    /// `auto_delete`.
    AutoDelete,
    /// `x-expires`.
    Expires,
    /// `x-max-length`.
    MaxLength,
    /// `x-overflow`.
    Overflow,
}

impl Problem {
    /// The reply code.
    pub fn code(self) -> u16 {
        match self {
            Problem::Reserved => 403,
            Problem::NoQueue | Problem::HomeDown | Problem::NoExchange => 404,
            Problem::Locked => 405,
            Problem::NotAlike(_) | Problem::NotEmpty | Problem::UnknownDelivery => 406,
            Problem::NotOpen | Problem::OpenTwice => 504,
            Problem::NotImplemented => 540,
            Problem::Forced => 320,
        }
    }

    /// R-Q-29, R-Q-30: whether it takes the connection along, and not the channel only.
    pub fn is_fatal(self) -> bool {
        matches!(self.code(), 320 | 504 | 540)
    }
}

/// The broker's answer.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// `channel.open-ok`.
    Opened,
    /// `channel.close-ok`.
    ChannelClosed,
    /// `connection.close-ok`.
    Closed,
    /// `queue.declare-ok`.
    Declared {
        /// How many messages are ready in it.
        messages: u8,
    },
    /// `queue.delete-ok`.
    Deleted {
        /// How many messages went with it.
        messages: u8,
    },
    /// `basic.ack`: the publish is done with; there was such a queue, unless it was not mandatory.
    Confirmed,
    /// `basic.return` with 312, and then `basic.ack`, where publishes are confirmed (R-Q-17).
    Returned {
        /// Whether the ack comes, too.
        confirmed: bool,
    },
    /// `basic.nack`: there is such a queue, and it refused the message (R-Q-20).
    Nacked,
    /// `basic.get-ok`.
    Got {
        /// Number of the delivery on this channel.
        delivery: u8,
        /// How many messages are left.
        messages: u8,
    },
    /// `basic.get-empty`.
    Empty,
    /// `channel.close` or `connection.close`.
    Error(Problem),
    /// No frame of AMQP: the socket is dead.
    Reset,
}

/// A request with all that the broker needs to know of where it comes from.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Ask {
    /// On which connection. The first request on a new one opens it, with a channel 1 that confirms.
    pub connection: SessionId,
    /// On which channel.
    pub channel: u8,
    /// Whether `channel.close-ok` goes before it.
    pub close_ok: bool,
    /// To be told the answer on.
    pub call: Call,
    /// What is asked.
    pub request: Request,
}

/// What travels.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RabbitmqMessage {
    /// A client's request.
    #[serde(alias = "ask")]
    Request(Ask),
    /// The answer.
    #[serde(alias = "tell")]
    Response(Call, Answer),
    /// A client has closed its socket, without a word.
    #[serde(alias = "hang-up")]
    SocketClosed(SessionId),
    /// The broker has closed the connection, and says so; without a reason, it is the socket that is dead.
    #[serde(alias = "gone")]
    ConnectionClosed(SessionId, Option<Problem>),
}

/// Deadlines.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timer {
    /// The broker notices that a socket was closed (R-Q-39).
    Notice(SessionId),
    /// It removes a queue whose connection is gone (R-Q-40).
    Remove(SessionId, Name),
    /// Two heartbeats were missed (R-Q-43).
    Miss(SessionId),
    /// A queue was not used for too long (R-Q-25).
    Expire(Name),
    /// A node notices that it is cut off from others (R-Q-63).
    Tick(u8),
    /// Time to try again.
    Retry,
    /// A request has gone unanswered for too long.
    GiveUp,
    /// Time to ask whether the slot is still held.
    Verify,
    /// The client's lease is over by its own clock (R-Q-90).
    Lapse,
}

/// What a user may ask of a client.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Get a slot, or the lock.
    Acquire,
    /// Make sure that it is still held.
    Verify,
    /// Write to the resource.
    Write,
    /// Give it back.
    Release,
    /// Carry out the next administrative operation.
    Administer,
}

/// What can become true in this service only.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RabbitmqEvent {
    /// A slot queue was declared.
    Added(u8),
    /// A slot queue is gone.
    Removed(u8),
    /// A client's connection is on record as holder of a slot.
    Took(ClientId, u8),
    /// Nobody is any more.
    Freed(u8),
    /// A client found no slot.
    Full(ClientId),
    /// A client has given up.
    GaveUp(ClientId),
    /// A client asked whether it still has its slot, and was told so or not.
    Verified(ClientId, bool),
    /// The broker has given up a connection, or a client has closed it.
    Cut(SessionId),
    /// An administrator begins; from now on so many may be inside.
    Began(ClientId, u8),
    /// An administrator has counted so many slots.
    Counted(ClientId, u8),
    /// An administrator is done: so many slots were asked for, and are to be left.
    Finished(ClientId, u8),
    /// The same, but some that were removed are still held.
    Pending(ClientId, u8),
    /// An administrator gives up half-way.
    Aborted(ClientId),
    /// Another administrator is at work.
    Busy(ClientId),
    /// The memory of the broker is full, or no longer.
    Alarm(bool),
    /// The broker starts anew.
    Restarted,
    /// A node is down, or back.
    Node(u8, bool),
    /// A node is cut off from the others, or no longer.
    Split(u8, bool),
    /// The message that is the lock is there twice.
    Doubled,
    /// It is lost.
    Vanished,
}
