//! One request, and what the broker says to it.

use std::thread;
use std::time::Duration;

use amq_protocol::protocol::AMQPClass;
use amq_protocol::protocol::basic::{self, AMQPMethod as Basic};
use amq_protocol::protocol::channel::{self, AMQPMethod as Channel};
use amq_protocol::protocol::confirm::AMQPMethod as Confirm;
use amq_protocol::protocol::connection::{self, AMQPMethod as Connection};
use fencepost_rabbitmq::{Answer, Name, Request};

use crate::connection::FENCE;
use crate::{BrokerError, ConnectionEnd, answer, problem, short};

impl ConnectionEnd {
    /// Sends a method, and reads what the broker says to it: nothing, if it lets a later question on the channel pass without
    /// having said anything.
    ///
    /// # Errors
    /// The socket fails in another way than by being closed.
    pub fn ask(&mut self, channel: u16, close_ok: bool, request: &Request) -> Result<Option<Answer>, BrokerError> {
        if close_ok {
            self.writer.send(channel, AMQPClass::Channel(Channel::CloseOk(channel::CloseOk {})))?;
            self.deaf.remove(&channel);
            // What was delivered on the channel is put back a moment later.
            if self.got {
                thread::sleep(Duration::from_millis(4));
            }
        }
        self.writer.request(channel, request)?;
        // Whatever may be silent is followed by questions that are not: on the channel, which may be deaf, and on another one.
        let may_be_silent = !matches!(request, Request::Close);
        if may_be_silent {
            if *request != Request::CloseChannel {
                self.writer.send(channel, qos())?;
            }
            self.writer.send(FENCE, qos())?;
        }
        self.read_answer(channel, request)
    }

    /// Publishes to several queues at once, mandatory, and returns what the broker says to that, in order.
    ///
    /// # Errors
    /// The socket fails.
    pub fn pipeline(&mut self, names: &[Name]) -> Result<Vec<String>, BrokerError> {
        for name in names {
            self.writer.publish(1, short(""), *name, true, false)?;
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
                other => return Err(BrokerError::Unknown(format!("to a publish the broker said {other:?}"))),
            }
        }
        Ok(said)
    }

    /// Reads up to the answer, or to where it should have come.
    fn read_answer(&mut self, channel: u16, request: &Request) -> Result<Option<Answer>, BrokerError> {
        let mut said = None;
        let mut returned = false;
        // A confirm comes when the queue has the message, which may be later than what the channel says at once.
        let awaits_confirm = matches!(request, Request::Publish { .. }) && self.confirming.contains(&channel);
        // A deaf channel answers these two all the same.
        let answers = matches!(request, Request::CloseChannel | Request::OpenChannel { .. });
        let is_deaf = self.deaf.contains(&channel) && !answers;
        let (mut passed, mut fenced, mut confirmed) = (is_deaf, false, !awaits_confirm);
        while !(passed && fenced && confirmed) {
            let Some((on, class)) = self.next()? else { return Ok(said.or(Some(Answer::Reset))) };
            match class {
                AMQPClass::Connection(Connection::Close(close)) => {
                    self.writer.send(0, AMQPClass::Connection(Connection::CloseOk(connection::CloseOk {})))?;
                    return Ok(Some(Answer::Error(problem(close.reply_code, close.reply_text.as_str())?)));
                }
                AMQPClass::Connection(Connection::CloseOk(_)) => return Ok(Some(Answer::Closed)),
                AMQPClass::Channel(Channel::Close(close)) if on == channel => {
                    said = Some(Answer::Error(problem(close.reply_code, close.reply_text.as_str())?));
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
                    (said, passed) = (Some(Answer::ChannelClosed), true);
                }
                other => {
                    confirmed = true;
                    match &other {
                        AMQPClass::Confirm(Confirm::SelectOk(_)) => _ = self.confirming.insert(channel),
                        AMQPClass::Basic(Basic::GetOk(_)) => self.got = true,
                        _ => {}
                    }
                    said = answer(request, &other, returned)?.or(said);
                }
            }
        }
        Ok(match (said, returned) {
            (None, true) => Some(Answer::Returned { confirmed: false }),
            (said, _) => said,
        })
    }
}

fn qos() -> AMQPClass {
    AMQPClass::Basic(Basic::Qos(basic::Qos { prefetch_count: 0, global: false }))
}
