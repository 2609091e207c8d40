//! Methods of clients that send, receive and settle messages, and their answers.

use fencepost_rabbitmq::{Answer, Name, Problem, Request};
use serde::{Deserialize, Serialize};

/// A method of a client, or the end of its socket.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A method that the kernel's broker has: of channels, connections and queues.
    Plain(Request),
    /// `channel.close-ok`, and then `channel.open` (and `confirm.select`).
    Reopen {
        /// Whether publishes on it are confirmed.
        confirms: bool,
    },
    /// The connection is opened, with this heartbeat value in its `tune-ok`, in seconds; 0: no heartbeats. Without this line, a connection is
    /// open from the beginning, or from the end of the one before, without heartbeats.
    Connect {
        /// The value.
        heartbeat: u16,
    },
    /// A heartbeat frame.
    Beat,
    /// `basic.publish` to the default exchange. The body is a number, which no other message of the log has.
    Publish {
        /// The queue.
        name: Name,
        /// The body.
        body: u32,
        /// Whether the message is returned if there is no such queue.
        mandatory: bool,
        /// The time after which the message expires, in milliseconds; none: never.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expiration: Option<u32>,
        /// Whether the message survives a restart of the broker, in a durable queue.
        #[serde(default, skip_serializing_if = "is_false")]
        persistent: bool,
    },
    /// `basic.get`.
    Get {
        /// The queue.
        name: Name,
        /// Whether the message needs no acknowledgement.
        no_ack: bool,
    },
    /// `basic.ack`, `basic.nack` or `basic.reject`.
    Settle {
        /// The method.
        verb: Verb,
        /// The delivery tag.
        tag: u64,
        /// Whether all earlier deliveries on the channel are meant, too.
        multiple: bool,
        /// Whether the messages go back to their queue.
        requeue: bool,
    },
    /// `basic.recover` with `requeue`: every unacknowledged message of the channel goes back to its queue.
    Recover,
    /// `basic.qos`: the prefetch of later consumers on the channel; 0: no limit.
    Qos(u16),
    /// `basic.consume`.
    Consume {
        /// The queue.
        name: Name,
        /// The number that is the consumer tag.
        tag: u8,
        /// Whether deliveries need no acknowledgement.
        no_ack: bool,
        /// Whether no other consumer is permitted.
        exclusive: bool,
    },
    /// `basic.cancel`.
    Cancel(u8),
    /// `queue.purge`.
    Purge(Name),
    /// The socket is closed without a method.
    HangUp,
}

fn is_false(is: &bool) -> bool {
    !is
}

/// How deliveries are settled.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verb {
    /// `basic.ack`.
    Ack,
    /// `basic.nack`.
    Nack,
    /// `basic.reject`.
    Reject,
}

impl Method {
    /// Whether the broker answers it even if nothing is wrong.
    pub(super) fn is_answered(self) -> bool {
        !matches!(self, Method::Publish { .. } | Method::Settle { .. } | Method::HangUp | Method::Beat)
    }
}

/// An answer to a method.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// `connection.open-ok`.
    Connected,
    /// `queue.declare-ok`.
    Declared {
        /// The number of ready messages.
        messages: u32,
        /// The number of consumers.
        consumers: u32,
    },
    /// `queue.delete-ok`.
    Deleted {
        /// The number of messages deleted with it.
        messages: u32,
    },
    /// `queue.purge-ok`.
    Purged {
        /// The number of messages.
        messages: u32,
    },
    /// `basic.get-ok`.
    Got {
        /// The delivery tag.
        tag: u64,
        /// The body.
        body: u32,
        /// Whether the message was delivered before.
        redelivered: bool,
        /// The number of remaining messages.
        messages: u32,
    },
    /// `basic.qos-ok`.
    QosOk,
    /// `basic.consume-ok`.
    ConsumeOk,
    /// `basic.cancel-ok`.
    CancelOk,
    /// `basic.recover-ok`.
    Recovered,
    /// 403: the user lacks the permission (R-Q-2, R-Q-13, R-Q-23).
    Refused,
    /// 403: the queue has an exclusive consumer, or one was wanted and it has another (R-Q-101).
    InUse,
    /// 530: the channel has a consumer of this tag (R-Q-102). It closes the connection.
    TagReused,
    /// Any other answer, as the kernel's broker gives it.
    Plain(Answer),
}

impl Reply {
    /// Whether the channel is closed with it.
    pub(super) fn closes_channel(self) -> bool {
        match self {
            Reply::Refused | Reply::InUse => true,
            Reply::Plain(Answer::Error(problem)) => !problem.is_fatal(),
            _ => false,
        }
    }

    /// Whether the connection is over with it.
    pub(super) fn ends_connection(self) -> bool {
        match self {
            Reply::TagReused | Reply::Plain(Answer::Closed | Answer::Reset) => true,
            Reply::Plain(Answer::Error(problem)) => problem.is_fatal(),
            _ => false,
        }
    }

    pub(super) fn error(problem: Problem) -> Self {
        Reply::Plain(Answer::Error(problem))
    }
}
