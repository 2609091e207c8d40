//! Labels and sentences of the broker's messages, timers and facts.

use std::fmt;

use super::messages::{
    Answer, Ask, Command, Difference, Keeps, Name, Problem, QueueProperties, RabbitmqEvent, RabbitmqMessage, Request,
    Timer,
};
use fencepost_model::ids::{RawId, SessionId};

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Slot(number) => write!(f, "A[{number}]"),
            Name::Holder(number) => write!(f, "B[{number}]"),
            Name::Mutex => f.write_str("the mutex"),
            Name::Lock => f.write_str("the lock's queue"),
            Name::Reserved => f.write_str("amq.q"),
        }
    }
}

impl fmt::Display for QueueProperties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keeps = match self.keeps {
            Keeps::All => None,
            Keeps::Nothing => Some("keeping nothing"),
            Keeps::One => Some("keeping one"),
        };
        let flags = [
            self.exclusive.then_some("exclusive"),
            self.durable.then_some("durable"),
            self.auto_delete.then_some("auto-delete"),
            keeps,
        ];
        flags.into_iter().flatten().try_for_each(|flag| write!(f, ", {flag}"))?;
        self.expires.map_or(Ok(()), |expires| write!(f, ", expiring after {expires}"))
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::OpenChannel { confirms: true } => f.write_str("open the channel, with confirms"),
            Request::OpenChannel { confirms: false } => f.write_str("open the channel"),
            Request::CloseChannel => f.write_str("close the channel"),
            Request::Close => f.write_str("close the connection"),
            Request::Declare { name, shape } => write!(f, "declare {name}{shape}"),
            Request::DeclareSilently { name, shape } => write!(f, "declare {name}{shape}, no answer wanted"),
            Request::Look(name) => write!(f, "declare {name} passively"),
            Request::Delete { name, if_empty: false } => write!(f, "delete {name}"),
            Request::Delete { name, if_empty: true } => write!(f, "delete {name} if it is empty"),
            Request::Publish { name, mandatory: true } => write!(f, "publish to {name}, mandatory"),
            Request::Publish { name, mandatory: false } => write!(f, "publish to {name}"),
            Request::PublishImmediate(name) => write!(f, "publish to {name}, immediate"),
            Request::PublishNowhere => f.write_str("publish to a missing exchange"),
            Request::Get(name) => write!(f, "get a message from {name}"),
            Request::Ack(delivery) => write!(f, "acknowledge delivery {delivery}"),
            Request::Requeue(delivery) => write!(f, "put delivery {delivery} back"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Difference::Durable => "durable",
            Difference::AutoDelete => "auto_delete",
            Difference::Expires => "x-expires",
            Difference::MaxLength => "x-max-length",
            Difference::Overflow => "x-overflow",
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.code())?;
        match self {
            Problem::Reserved => f.write_str("the name is reserved"),
            Problem::NoQueue => f.write_str("no such queue"),
            Problem::HomeDown => f.write_str("its home node is down"),
            Problem::NoExchange => f.write_str("no such exchange"),
            Problem::Locked => f.write_str("RESOURCE_LOCKED"),
            Problem::NotAlike(difference) => write!(f, "inequivalent {difference}"),
            Problem::NotEmpty => f.write_str("not empty"),
            Problem::UnknownDelivery => f.write_str("unknown delivery"),
            Problem::NotOpen => f.write_str("the channel is not open"),
            Problem::OpenTwice => f.write_str("the channel is open already"),
            Problem::NotImplemented => f.write_str("not implemented"),
            Problem::Forced => f.write_str("the connection is closed by force"),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Opened => f.write_str("the channel is open"),
            Answer::ChannelClosed => f.write_str("the channel is closed"),
            Answer::Closed => f.write_str("the connection is closed"),
            Answer::Declared { messages: 0 } => f.write_str("declared"),
            Answer::Declared { messages } => write!(f, "declared, with {messages} in it"),
            Answer::Deleted { messages: 0 } => f.write_str("deleted"),
            Answer::Deleted { messages } => write!(f, "deleted, with {messages} in it"),
            Answer::Confirmed => f.write_str("ack"),
            Answer::Returned { confirmed: true } => f.write_str("returned with 312, and ack"),
            Answer::Returned { confirmed: false } => f.write_str("returned with 312"),
            Answer::Nacked => f.write_str("nack"),
            Answer::Got { delivery, messages } => write!(f, "delivery {delivery}, {messages} more messages are ready"),
            Answer::Empty => f.write_str("empty"),
            Answer::Error(problem) => problem.fmt(f),
            Answer::Reset => f.write_str("connection reset"),
        }
    }
}

/// A connection's name for people.
pub(super) fn connection(id: SessionId) -> String {
    format!("connection {}.{}", id.raw().creator.0, id.raw().number)
}

impl fmt::Display for RabbitmqMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RabbitmqMessage::Request(Ask { connection: id, channel, close_ok, call, request }) => {
                f.write_str(if *close_ok { "close-ok, and " } else { "" })?;
                let on = connection(*id);
                match channel {
                    1 => write!(f, "{request} (on {on}) [{}]", call.0),
                    _ => write!(f, "{request} (on channel {channel} of {on}) [{}]", call.0),
                }
            }
            RabbitmqMessage::Response(call, answer) => write!(f, "{answer} [{}]", call.0),
            RabbitmqMessage::SocketClosed(id) => write!(f, "{} is closed at its socket", connection(*id)),
            RabbitmqMessage::ConnectionClosed(id, Some(problem)) => {
                write!(f, "{} is closed: {problem}", connection(*id))
            }
            RabbitmqMessage::ConnectionClosed(id, None) => write!(f, "{} is reset", connection(*id)),
        }
    }
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timer::Notice(id) => write!(f, "{} is found closed", connection(*id)),
            Timer::Remove(id, name) => write!(f, "{name} is removed with {}", connection(*id)),
            Timer::Miss(id) => write!(f, "{} has missed its heartbeats", connection(*id)),
            Timer::Expire(name) => write!(f, "{name} expires"),
            Timer::Tick(node) => write!(f, "node {node} notices that it is cut off from others"),
            Timer::Retry => f.write_str("it tries again"),
            Timer::GiveUp => f.write_str("no response came in time"),
            Timer::Verify => f.write_str("it verifies its slot"),
            Timer::Lapse => f.write_str("the lease is over"),
            Timer::Program(alarm) => alarm.fmt(f),
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Command::Acquire => "acquire",
            Command::Verify => "verify",
            Command::Write => "write",
            Command::Release => "release",
            Command::Administer => "carry out the next operation",
        })
    }
}

impl fmt::Display for RabbitmqEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RabbitmqEvent::Added(slot) => write!(f, "slot {slot} is there"),
            RabbitmqEvent::Removed(slot) => write!(f, "slot {slot} is gone"),
            RabbitmqEvent::Took(client, slot) => write!(f, "{client} is on record as holder of slot {slot}"),
            RabbitmqEvent::Freed(slot) => write!(f, "slot {slot} has no holder on record"),
            RabbitmqEvent::Full(client) => write!(f, "{client} finds no free slot"),
            RabbitmqEvent::GaveUp(client) => write!(f, "{client} gives up"),
            RabbitmqEvent::Verified(client, true) => write!(f, "{client} receives a confirmation of its slot"),
            RabbitmqEvent::Verified(client, false) => write!(f, "{client} learns that it lost its slot"),
            RabbitmqEvent::Cut(id) => write!(f, "{} is over", connection(*id)),
            RabbitmqEvent::Began(client, limit) => write!(f, "{client} begins an operation; the limit is {limit}"),
            RabbitmqEvent::Counted(client, count) => write!(f, "{client} counts {count}"),
            RabbitmqEvent::Finished(client, size) => write!(f, "{client} has finished; the target is {size} slots"),
            RabbitmqEvent::Pending(client, size) => {
                write!(f, "{client} has finished; the target is {size} slots, and some removed slots are still held")
            }
            RabbitmqEvent::Aborted(client) => write!(f, "{client} stops half-way"),
            RabbitmqEvent::Busy(client) => write!(f, "{client} finds another administrator at work"),
            RabbitmqEvent::Alarm(true) => f.write_str("the broker's memory is full"),
            RabbitmqEvent::Alarm(false) => f.write_str("the broker's memory has space again"),
            RabbitmqEvent::Restarted => f.write_str("the broker has restarted"),
            RabbitmqEvent::Node(node, false) => write!(f, "node {node} is down"),
            RabbitmqEvent::Node(node, true) => write!(f, "node {node} is back"),
            RabbitmqEvent::Split(node, true) => write!(f, "node {node} is cut off from the others"),
            RabbitmqEvent::Split(node, false) => write!(f, "node {node} is no longer cut off"),
            RabbitmqEvent::Doubled => f.write_str("the message is duplicated"),
            RabbitmqEvent::Vanished => f.write_str("the message is lost"),
        }
    }
}
