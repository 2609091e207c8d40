//! Questions to a broker and what it says: requests as methods, and methods from the broker as answers.

use std::thread;
use std::time::Duration;

use super::wire::{ConnectionEnd, FENCE, short};
use crate::ConformError;
use amq_protocol::frame::{AMQPContentHeader, AMQPFrame};
use amq_protocol::protocol::AMQPClass;
use amq_protocol::protocol::basic::{self, AMQPMethod as Basic, AMQPProperties};
use amq_protocol::protocol::channel::{self, AMQPMethod as Channel};
use amq_protocol::protocol::confirm::{self, AMQPMethod as Confirm};
use amq_protocol::protocol::connection::{self, AMQPMethod as Connection};
use amq_protocol::protocol::queue::{self, AMQPMethod as Queue};
use amq_protocol::types::{AMQPValue, FieldTable, ShortString};
use fencepost_rabbitmq::{Answer, Difference, Keeps, Name, Problem, QueueProperties, Request};

impl ConnectionEnd {
    /// Sends a method, and reads what the broker says to it: nothing, if it lets a later question on the channel pass without
    /// having said anything.
    ///
    /// # Errors
    /// The socket fails in another way than by being closed.
    pub fn ask(&mut self, channel: u16, close_ok: bool, request: &Request) -> Result<Option<Answer>, ConformError> {
        if close_ok {
            self.send(channel, AMQPClass::Channel(Channel::CloseOk(channel::CloseOk {})))?;
            self.deaf.remove(&channel);
            // What was delivered on the channel is put back a moment later.
            if self.got {
                thread::sleep(Duration::from_millis(4));
            }
        }
        self.send_request(channel, request)?;
        // Whatever may be silent is followed by questions that are not: on the channel, which may be deaf, and on another one.
        let may_be_silent = !matches!(request, Request::Close);
        if may_be_silent {
            if *request != Request::CloseChannel {
                self.send(channel, qos())?;
            }
            self.send(FENCE, qos())?;
        }
        self.answer(channel, request)
    }

    /// Publishes to several queues at once, mandatory, and returns what the broker says to that, in order.
    ///
    /// # Errors
    /// The socket fails.
    pub fn pipeline(&mut self, names: &[Name]) -> Result<Vec<String>, ConformError> {
        for name in names {
            self.publish(1, short(""), *name, true, false)?;
        }
        let mut said = Vec::new();
        let mut confirmed = 0;
        while confirmed < names.len() {
            match self.method()? {
                Some(AMQPClass::Basic(Basic::Return(_))) => said.push("return".to_owned()),
                Some(AMQPClass::Basic(Basic::Ack(ack))) => {
                    let tag = usize::try_from(ack.delivery_tag).unwrap_or(usize::MAX);
                    confirmed = if ack.multiple { tag } else { confirmed + 1 };
                    said.push(format!("{}ack {tag}", if ack.multiple { "multiple " } else { "" }));
                }
                other => return Err(ConformError(format!("to a publish the broker said {other:?}"))),
            }
        }
        Ok(said)
    }

    /// Reads up to the answer, or to where it should have come.
    fn answer(&mut self, channel: u16, request: &Request) -> Result<Option<Answer>, ConformError> {
        let mut answer = None;
        let mut returned = false;
        // A confirm comes when the queue has the message, which may be later than what the channel says at once.
        let awaits_confirm = matches!(request, Request::Publish { .. }) && self.confirming.contains(&channel);
        // A deaf channel answers these two all the same.
        let answers = matches!(request, Request::CloseChannel | Request::OpenChannel { .. });
        let is_deaf = self.deaf.contains(&channel) && !answers;
        let (mut passed, mut fenced, mut confirmed) = (is_deaf, false, !awaits_confirm);
        while !(passed && fenced && confirmed) {
            let Some((on, class)) = self.next()? else { return Ok(answer.or(Some(Answer::Reset))) };
            match class {
                AMQPClass::Connection(Connection::Close(close)) => {
                    self.send(0, AMQPClass::Connection(Connection::CloseOk(connection::CloseOk {})))?;
                    return Ok(Some(Answer::Error(problem(close.reply_code, close.reply_text.as_str())?)));
                }
                AMQPClass::Connection(Connection::CloseOk(_)) => return Ok(Some(Answer::Closed)),
                AMQPClass::Channel(Channel::Close(close)) if on == channel => {
                    answer = Some(Answer::Error(problem(close.reply_code, close.reply_text.as_str())?));
                    self.confirming.remove(&channel);
                    self.deaf.insert(channel);
                    (passed, confirmed) = (true, true);
                }
                AMQPClass::Basic(Basic::QosOk(_)) if on == FENCE => fenced = true,
                AMQPClass::Basic(Basic::QosOk(_)) => passed = true,
                AMQPClass::Basic(Basic::Return(_)) => returned = true,
                AMQPClass::Channel(Channel::CloseOk(_)) => {
                    if !self.deaf.contains(&channel) {
                        self.confirming.remove(&channel);
                    }
                    (answer, passed) = (Some(Answer::ChannelClosed), true);
                }
                other => {
                    confirmed = true;
                    answer = self.read(channel, request, other, returned)?.or(answer);
                }
            }
        }
        Ok(match (answer, returned) {
            (None, true) => Some(Answer::Returned { confirmed: false }),
            (answer, _) => answer,
        })
    }

    /// What a method from the broker says to the request.
    fn read(
        &mut self,
        channel: u16,
        request: &Request,
        class: AMQPClass,
        returned: bool,
    ) -> Result<Option<Answer>, ConformError> {
        Ok(match class {
            AMQPClass::Channel(Channel::OpenOk(_)) => Some(Answer::Opened),
            AMQPClass::Confirm(Confirm::SelectOk(_)) => {
                self.confirming.insert(channel);
                None
            }
            AMQPClass::Queue(Queue::DeclareOk(ok)) => Some(Answer::Declared { messages: ok.message_count }),
            AMQPClass::Queue(Queue::DeleteOk(ok)) => Some(Answer::Deleted { messages: ok.message_count }),
            AMQPClass::Basic(Basic::Ack(_)) if returned => Some(Answer::Returned { confirmed: true }),
            AMQPClass::Basic(Basic::Ack(_)) => Some(Answer::Confirmed),
            AMQPClass::Basic(Basic::Nack(_)) => Some(Answer::Nacked),
            AMQPClass::Basic(Basic::GetOk(ok)) => {
                self.got = true;
                let delivery = u32::try_from(ok.delivery_tag).unwrap_or(u32::MAX);
                Some(Answer::Got { delivery, messages: ok.message_count })
            }
            AMQPClass::Basic(Basic::GetEmpty(_)) => Some(Answer::Empty),
            other => return Err(ConformError(format!("to {request} the broker said {other:?}"))),
        })
    }

    fn send_request(&mut self, channel: u16, request: &Request) -> Result<(), ConformError> {
        let method = match request {
            Request::OpenChannel { confirms } => {
                self.send(channel, AMQPClass::Channel(Channel::Open(channel::Open {})))?;
                if !confirms {
                    return Ok(());
                }
                AMQPClass::Confirm(Confirm::Select(confirm::Select { nowait: false }))
            }
            Request::CloseChannel => AMQPClass::Channel(Channel::Close(channel::Close {
                reply_code: 200,
                reply_text: short(""),
                class_id: 0,
                method_id: 0,
            })),
            Request::Close => {
                return self.send(
                    0,
                    AMQPClass::Connection(Connection::Close(connection::Close {
                        reply_code: 200,
                        reply_text: short(""),
                        class_id: 0,
                        method_id: 0,
                    })),
                );
            }
            Request::Declare { name, shape } => self.declare(*name, Some(*shape), false),
            Request::DeclareSilently { name, shape } => self.declare(*name, Some(*shape), true),
            Request::Look(name) => self.declare(*name, None, false),
            Request::Delete { name, if_empty } => AMQPClass::Queue(Queue::Delete(queue::Delete {
                queue: self.name(*name),
                if_unused: false,
                if_empty: *if_empty,
                nowait: false,
            })),
            Request::Publish { name, mandatory } => {
                return self.publish(channel, short(""), *name, *mandatory, false);
            }
            Request::PublishImmediate(name) => return self.publish(channel, short(""), *name, false, true),
            Request::PublishNowhere => return self.publish(channel, short("nowhere"), Name::Mutex, true, false),
            Request::Get(name) => AMQPClass::Basic(Basic::Get(basic::Get { queue: self.name(*name), no_ack: false })),
            Request::Ack(delivery) => {
                AMQPClass::Basic(Basic::Ack(basic::Ack { delivery_tag: u64::from(*delivery), multiple: false }))
            }
            Request::Requeue(delivery) => {
                AMQPClass::Basic(Basic::Reject(basic::Reject { delivery_tag: u64::from(*delivery), requeue: true }))
            }
        };
        self.send(channel, method)
    }

    pub(super) fn name(&self, name: Name) -> ShortString {
        let prefix = &self.prefix;
        short(&match name {
            Name::Slot(number) => format!("{prefix}-{number}-A"),
            Name::Holder(number) => format!("{prefix}-{number}-B"),
            Name::Mutex => format!("{prefix}-mutex"),
            Name::Lock => format!("{prefix}-lock"),
            Name::Reserved => "amq.fencepost".to_owned(),
        })
    }

    /// A declaration; without a shape, a passive one.
    pub(super) fn declare(&self, name: Name, shape: Option<QueueProperties>, nowait: bool) -> AMQPClass {
        let passive = shape.is_none();
        let QueueProperties { exclusive, durable, auto_delete, keeps, expires } = shape.unwrap_or_default();
        let mut arguments = FieldTable::default();
        let number = |count: i64| AMQPValue::LongLongInt(count);
        if let Some(expires) = expires {
            arguments.insert(short("x-expires"), number(expires.count()));
        }
        match keeps {
            Keeps::All => {}
            Keeps::Nothing => {
                arguments.insert(short("x-max-length"), number(0));
            }
            Keeps::One => {
                arguments.insert(short("x-max-length"), number(1));
                arguments.insert(short("x-overflow"), AMQPValue::LongString("reject-publish".into()));
            }
        }
        let queue = self.name(name);
        AMQPClass::Queue(Queue::Declare(queue::Declare {
            queue,
            passive,
            durable,
            exclusive,
            auto_delete,
            nowait,
            arguments,
        }))
    }

    /// A publish of an empty message.
    fn publish(
        &mut self,
        channel: u16,
        exchange: ShortString,
        name: Name,
        mandatory: bool,
        immediate: bool,
    ) -> Result<(), ConformError> {
        let routing_key = self.name(name);
        let publish = basic::Publish { exchange, routing_key, mandatory, immediate };
        self.send(channel, AMQPClass::Basic(Basic::Publish(publish)))?;
        let properties = AMQPProperties::default();
        self.write(&AMQPFrame::Header(channel, AMQPContentHeader { class_id: 60, body_size: 0, properties }))
    }
}

fn qos() -> AMQPClass {
    AMQPClass::Basic(Basic::Qos(basic::Qos { prefetch_count: 0, global: false }))
}

/// What a reply code and its text mean.
pub(super) fn problem(code: u16, text: &str) -> Result<Problem, ConformError> {
    let inequivalent = |argument: &str| text.contains(&format!("inequivalent arg '{argument}'"));
    let found = match code {
        403 if text.contains("reserved prefix") => Problem::Reserved,
        404 if text.contains("no queue") => Problem::NoQueue,
        404 if text.contains("no exchange") => Problem::NoExchange,
        404 if text.contains("home node") => Problem::HomeDown,
        405 if text.contains("locked queue") => Problem::Locked,
        406 if inequivalent("durable") => Problem::NotAlike(Difference::Durable),
        406 if inequivalent("auto_delete") => Problem::NotAlike(Difference::AutoDelete),
        406 if inequivalent("x-expires") => Problem::NotAlike(Difference::Expires),
        406 if inequivalent("x-max-length") => Problem::NotAlike(Difference::MaxLength),
        406 if inequivalent("x-overflow") => Problem::NotAlike(Difference::Overflow),
        406 if text.contains("not empty") => Problem::NotEmpty,
        406 if text.contains("unknown delivery tag") => Problem::UnknownDelivery,
        504 if text.contains("expected 'channel.open'") => Problem::NotOpen,
        504 if text.contains("second 'channel.open'") => Problem::OpenTwice,
        540 => Problem::NotImplemented,
        320 => Problem::Forced,
        _ => return Err(ConformError(format!("the broker said {code} {text}, which the model does not know"))),
    };
    Ok(found)
}
