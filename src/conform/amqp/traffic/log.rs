//! What clients have sent and received, in the order of their own clock: JSON, a line for each.

use fencepost_rabbitmq::Request;
use serde::{Deserialize, Serialize};

use super::method::{Method, Reply};
use crate::LogError;
use crate::amqp::pair::LINES;

/// How many channels a connection has.
pub(super) const CHANNELS: usize = 2;

/// A line of a log, after the head.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Event {
    /// When, in microseconds since the beginning.
    pub at: u64,
    /// On which connection, from 1; 0: it concerns all of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub connection: u16,
    /// On which of its channels, from 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub channel: u8,
    /// What was sent or received.
    #[serde(flatten)]
    pub happened: Happening,
}

impl Event {
    /// The indices of its connection and its channel.
    pub(super) fn lane(&self) -> (usize, usize) {
        (usize::from(self.connection) - 1, usize::from(self.channel) - 1)
    }
}

fn is_zero<T: PartialEq + From<u8>>(number: &T) -> bool {
    *number == T::from(0)
}

/// How a connection ends that its client has not closed.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// The end of the socket, without a method.
    Reset,
    /// `connection.close` with 320, by the broker.
    Forced,
}

/// What a client sees.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Happening {
    /// It sends a method.
    Sent(Method),
    /// It receives an answer; it belongs to the method that stands on that line of the sequence, from 1.
    Answered {
        /// The line of the method, counted from the head of the sequence, which is 0.
        to: usize,
        /// The answer.
        reply: Reply,
    },
    /// It receives a delivery for a consumer (`basic.deliver`).
    Delivered {
        /// The consumer tag.
        consumer: u8,
        /// The delivery tag.
        tag: u64,
        /// The body.
        body: u32,
        /// Whether the message was delivered before.
        redelivered: bool,
    },
    /// The connection ends, and its client has not closed it.
    Lost(Loss),
    /// The broker was stopped and started again, not before this time. Every connection has ended with it.
    Restarted {
        /// When the command was given, in microseconds.
        since: u64,
    },
    /// The broker tells it that a consumer is gone (`basic.cancel`).
    Cancelled {
        /// The consumer tag.
        consumer: u8,
    },
}

/// The head of a sequence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    rabbitmq: String,
    /// Tells such logs from those of single methods.
    traffic: Access,
    /// Whether each delivery that was made on a channel that stays open is in the log.
    #[serde(default)]
    is_complete: bool,
    /// The timers of the broker fire at most this late, in milliseconds; none: any lateness is possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lateness: Option<u32>,
}

/// What the user of the third connection may do.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Everything.
    #[default]
    Full,
    /// To configure and to read slot queues, and to write nowhere.
    Limited,
}

/// One sequence: new queues, new connections.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Log {
    /// The broker's version.
    pub version: String,
    /// What the third connection may do.
    pub access: Access,
    /// Whether each delivery on a channel that stays open is in it.
    pub is_complete: bool,
    /// How late the broker's timers may be, in milliseconds; none: there is no bound.
    pub lateness: Option<u32>,
    /// The line of its head in the file, from 1.
    pub line: usize,
    /// What happened, in order.
    pub events: Vec<Event>,
}

/// Whether a text is such a log.
pub fn is_one(text: &str) -> bool {
    text.lines().next().is_some_and(|line| serde_json::from_str::<Head>(line).is_ok())
}

/// The text of a log.
pub fn write(logs: &[Log]) -> String {
    let mut text = String::new();
    for log in logs {
        let Log { version, access, is_complete, lateness, .. } = log;
        let head = Head { rabbitmq: version.clone(), traffic: *access, is_complete: *is_complete, lateness: *lateness };
        text += &serde_json::to_string(&head).expect("plain data");
        text += "\n";
        for event in &log.events {
            text += &serde_json::to_string(event).expect("plain data");
            text += "\n";
        }
    }
    text
}

/// Reads a log.
///
/// # Errors
/// A line that is none of it.
pub fn read(text: &str) -> Result<Vec<Log>, LogError> {
    let mut logs: Vec<Log> = Vec::new();
    for (place, line) in text.lines().enumerate() {
        let wrong = |why: String| LogError { line: place + 1, why };
        if let Ok(head) = serde_json::from_str::<Head>(line) {
            let Head { rabbitmq: version, traffic: access, is_complete, lateness } = head;
            logs.push(Log { version, access, is_complete, lateness, line: place + 1, events: Vec::new() });
            continue;
        }
        let event: Event = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        let log = logs.last_mut().ok_or_else(|| wrong("a sequence begins with a broker".to_owned()))?;
        check(log, &event).map_err(wrong)?;
        log.events.push(event);
    }
    Ok(logs)
}

/// Whether an event may follow in the log at all.
fn check(log: &Log, event: &Event) -> Result<(), String> {
    if log.events.last().is_some_and(|last| last.at > event.at) {
        return Err("the line is earlier than the one before it: sort the lines by `at`".to_owned());
    }
    if let Happening::Restarted { since } = event.happened {
        return match (event.connection, event.channel) {
            (0, 0) if since <= event.at => Ok(()),
            (0, 0) => Err("`since` is later than `at`".to_owned()),
            _ => Err("a restart is of every connection: leave out `connection` and `channel`".to_owned()),
        };
    }
    if !(1..=LINES).contains(&usize::from(event.connection)) {
        return Err(format!("there are connections 1 to {LINES}, and no connection {}", event.connection));
    }
    if !(1..=CHANNELS).contains(&usize::from(event.channel)) {
        return Err(format!("there are channels 1 to {CHANNELS}, and no channel {}", event.channel));
    }
    if let Happening::Sent(Method::Plain(request)) = event.happened {
        let is_known = matches!(
            request,
            Request::OpenChannel { .. }
                | Request::CloseChannel
                | Request::Close
                | Request::Declare { .. }
                | Request::Look(_)
                | Request::Delete { .. }
        );
        if matches!(request, Request::Declare { shape, .. } if shape.exclusive && shape.auto_delete) {
            return Err("a queue that is both exclusive and auto-delete is not judged".to_owned());
        }
        return if is_known { Ok(()) } else { Err(format!("{request} is no method of such logs")) };
    }
    let Happening::Answered { to, .. } = event.happened else { return Ok(()) };
    let asked = to.checked_sub(1).and_then(|place| log.events.get(place));
    let asked = asked.filter(|asked| matches!(asked.happened, Happening::Sent(_)));
    let asked = asked.ok_or_else(|| format!("line {to} of the sequence is no method; write the line of the method"))?;
    if (asked.connection, asked.channel) != (event.connection, event.channel) {
        return Err(format!("line {to} of the sequence is a method on another channel"));
    }
    if log.events.iter().any(|other| matches!(other.happened, Happening::Answered { to: other, .. } if other == to)) {
        return Err(format!("line {to} of the sequence is answered already"));
    }
    Ok(())
}
