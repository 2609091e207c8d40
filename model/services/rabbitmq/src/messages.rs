//! The messages between clients and broker: the methods of AMQP 0-9-1 that the semaphore needs, with their responses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fencepost_model::ids::{Call, ClientId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::program::Alarm;
use fencepost_model::time::Ticks;

/// The name of a queue. It is the queue's only identity (R-Q-1).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Name {
    /// `A[k]`: it exists while slot k exists.
    Slot(u8),
    /// `B[k]`: it exists while a client holds slot k.
    Holder(u8),
    /// The administrators' mutex.
    Mutex,
    /// The queue whose only message is a lock (B-36).
    Lock,
    /// A name that begins with `amq.`, which is the broker's own.
    Reserved,
}

/// The properties of a queue declaration.
#[derive(
    Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct QueueProperties {
    /// It belongs to the connection that declares it, and is removed with it.
    pub exclusive: bool,
    /// It survives a restart of the broker.
    pub durable: bool,
    /// It is removed with its last consumer (R-Q-28).
    pub auto_delete: bool,
    /// The messages that it keeps.
    pub keeps: Keeps,
    /// The time without use after which it is removed, in ticks (`x-expires`, R-Q-25); none: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<Ticks>,
}

impl QueueProperties {
    /// R-Q-5: an exclusive queue is never durable, whatever its declaration says.
    pub(super) fn as_kept(self) -> Self {
        QueueProperties { durable: self.durable && !self.exclusive, ..self }
    }
}

/// The messages that a queue keeps (R-Q-24, R-Q-20).
#[derive(
    Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Keeps {
    /// Every message.
    #[default]
    All,
    /// No message: `x-max-length: 0`.
    Nothing,
    /// One message; it refuses more: `x-max-length: 1` with `x-overflow: reject-publish`.
    One,
}

/// A client's method.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// `channel.open`, optionally followed by `confirm.select`.
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
        /// The name of the queue.
        name: Name,
        /// The declared properties.
        shape: QueueProperties,
    },
    /// `queue.declare` with `nowait`: success has no response (R-Q-6).
    DeclareSilently {
        /// The name of the queue.
        name: Name,
        /// The declared properties.
        shape: QueueProperties,
    },
    /// `queue.declare` with `passive`.
    Look(Name),
    /// `queue.delete`.
    Delete {
        /// The name of the queue.
        name: Name,
        /// Whether the queue is deleted only if it has no messages.
        if_empty: bool,
    },
    /// `basic.publish` of an empty message to the default exchange.
    Publish {
        /// The name of the queue.
        name: Name,
        /// Whether the message is returned if there is no such queue.
        mandatory: bool,
    },
    /// The same with `immediate`, which is not implemented (R-Q-26).
    PublishImmediate(Name),
    /// A publish to an exchange that does not exist (R-Q-27).
    PublishNowhere,
    /// `basic.get` without automatic acknowledgement.
    Get(Name),
    /// `basic.ack` of the delivery with this number, on this channel.
    Ack(u32),
    /// `basic.reject` with `requeue`.
    Requeue(u32),
}

/// The reason why the broker closes a channel or a connection.
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
    /// 405: the queue belongs to another connection, or is not exclusive as it should be (R-Q-3, R-Q-9).
    Locked,
    /// 406: the queue exists with other properties (R-Q-2).
    NotAlike(Difference),
    /// 406: the queue has messages (R-Q-13).
    NotEmpty,
    /// 406: no such delivery awaits an acknowledgement.
    UnknownDelivery,
    /// 504: a method on a channel that is not open (R-Q-30).
    NotOpen,
    /// 504: the channel is open already (R-Q-30).
    OpenTwice,
    /// 540: `immediate` (R-Q-26).
    NotImplemented,
    /// 320: closed by an operator, or by the end of the broker (R-Q-38, R-Q-58).
    Forced,
}

/// The property in which a queue differs from its declaration.
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

    /// R-Q-29, R-Q-30: whether it closes the connection, and not only the channel.
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
        /// The number of ready messages in the queue.
        messages: u32,
    },
    /// `queue.delete-ok`.
    Deleted {
        /// The number of messages deleted with it.
        messages: u32,
    },
    /// `basic.ack`: the broker has processed the publish. The queue existed if the publish was mandatory.
    Confirmed,
    /// `basic.return` with 312, and then `basic.ack`, where publishes are confirmed (R-Q-17).
    Returned {
        /// Whether the ack follows.
        confirmed: bool,
    },
    /// `basic.nack`: the queue exists, but refused the message (R-Q-20).
    Nacked,
    /// `basic.get-ok`.
    Got {
        /// The number of the delivery on this channel, from 1.
        delivery: u32,
        /// The number of remaining messages.
        messages: u32,
    },
    /// `basic.get-empty`.
    Empty,
    /// `channel.close` or `connection.close`.
    Error(Problem),
    /// No frame of AMQP: the socket is closed.
    Reset,
}

/// A request with its connection and channel.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Ask {
    /// The connection. The first request on a new connection opens it, with a channel 1 that confirms publishes.
    pub connection: SessionId,
    /// The number of the channel.
    pub channel: u8,
    /// Whether `channel.close-ok` goes before it.
    pub close_ok: bool,
    /// The call that the response carries.
    pub call: Call,
    /// The request.
    pub request: Request,
}

/// A message of the service.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RabbitmqMessage {
    /// A client's request.
    #[serde(alias = "ask")]
    Request(Ask),
    /// The response.
    #[serde(alias = "tell")]
    Response(Call, Answer),
    /// A client has closed its socket without a close method.
    #[serde(alias = "hang-up")]
    SocketClosed(SessionId),
    /// The broker has closed the connection. Without a reason, only the socket is closed.
    #[serde(alias = "gone")]
    ConnectionClosed(SessionId, Option<Problem>),
}

/// Deadlines.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timer {
    /// The broker notices that a socket was closed (R-Q-39).
    Notice(SessionId),
    /// It removes a queue whose connection has ended (R-Q-40).
    Remove(SessionId, Name),
    /// Two heartbeats were missed (R-Q-43).
    Miss(SessionId),
    /// A queue expires because it was not used (R-Q-25).
    Expire(Name),
    /// A node notices that it is cut off from others (R-Q-63).
    Tick(u8),
    /// A client tries again.
    Retry,
    /// A client gives up a request that was not answered.
    GiveUp,
    /// A client verifies its slot.
    Verify,
    /// The client's lease is over by its own clock (R-Q-90).
    Lapse,
    /// A deadline of a client's program.
    Program(Alarm),
}

/// A user's command to a client.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Take a slot, or the lock.
    Acquire,
    /// Verify that the slot is still held.
    Verify,
    /// Write to the resource.
    Write,
    /// Release it.
    Release,
    /// Carry out the next administrative operation.
    Administer,
}

/// An event that only this service has.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RabbitmqEvent {
    /// A slot queue was declared.
    Added(u8),
    /// A slot queue was removed.
    Removed(u8),
    /// A client's connection is on record as holder of a slot.
    Took(ClientId, u8),
    /// No connection is on record as holder of a slot any more.
    Freed(u8),
    /// A client found no slot.
    Full(ClientId),
    /// A client has stopped trying.
    GaveUp(ClientId),
    /// A client has verified its slot: it still holds the slot, or it does not.
    Verified(ClientId, bool),
    /// The broker has dropped a connection, or a client has closed it.
    Cut(SessionId),
    /// An administrator begins and sets the limit.
    Began(ClientId, u8),
    /// An administrator has counted the slots.
    Counted(ClientId, u8),
    /// An administrator has finished: the requested number of slots, which should remain.
    Finished(ClientId, u8),
    /// The same, but some removed slots are still held.
    Pending(ClientId, u8),
    /// An administrator stops before the end.
    Aborted(ClientId),
    /// Another administrator is at work.
    Busy(ClientId),
    /// The memory of the broker is full, or has space again.
    Alarm(bool),
    /// The broker restarts.
    Restarted,
    /// A node goes down or restarts.
    Node(u8, bool),
    /// A node is cut off from the others, or the partition heals.
    Split(u8, bool),
    /// The message that is the lock is duplicated.
    Doubled,
    /// The message that is the lock is lost.
    Vanished,
}
