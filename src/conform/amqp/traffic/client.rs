//! A connection as its client sees it: frames become lines of a log.

use std::collections::BTreeMap;
use std::time::Duration;

use amq_protocol::frame::AMQPFrame;
use amq_protocol::protocol::AMQPClass;
use amq_protocol::protocol::basic::AMQPMethod as Basic;
use amq_protocol::protocol::channel::AMQPMethod as Channel;
use amq_protocol::protocol::confirm::AMQPMethod as Confirm;
use amq_protocol::protocol::connection::{self, AMQPMethod as Connection};
use amq_protocol::protocol::queue::AMQPMethod as Queue;
use fencepost_amqp::{ConnectionEnd, Polled, problem};
use fencepost_rabbitmq::Answer;

use super::log::{CHANNELS, Happening, Loss};
use super::method::{Method, Reply};
use super::send::payload;
use super::side::{Side, SideLife};
use crate::ConformError;

/// A connection and what its client knows of its channels.
pub(super) struct Client {
    pub end: ConnectionEnd,
    pub sides: [Side; CHANNELS],
    /// A method of the broker whose content has not arrived yet, and the content's size; by channel.
    contents: BTreeMap<u16, Content>,
    /// Whether the connection is over.
    pub is_over: bool,
}

/// A method with content.
struct Content {
    method: Basic,
    size: Option<u64>,
    bytes: Vec<u8>,
}

impl Client {
    pub(super) fn new(end: ConnectionEnd) -> Self {
        let sides = [Side::new(SideLife::Open, true), Side::new(SideLife::Closed, false)];
        Client { end, sides, contents: BTreeMap::new(), is_over: false }
    }

    /// What arrives within a time, as lines of a log, each with its channel; none: nothing does.
    pub(super) fn receive(&mut self, patience: Duration) -> Result<Option<Vec<(u8, Happening)>>, ConformError> {
        let frame = match self.end.poll(patience)? {
            Polled::Quiet => return Ok(None),
            Polled::Closed => {
                self.is_over = true;
                return Ok(Some(vec![(1, Happening::Lost(Loss::Reset))]));
            }
            Polled::Frame(frame) => *frame,
        };
        match frame {
            AMQPFrame::Method(0, class) => self.hear_of_connection(class).map(Some),
            AMQPFrame::Method(on, class) => self.hear(on, class).map(Some),
            AMQPFrame::Header(on, header) => {
                let content = self.contents.get_mut(&on).ok_or_else(|| strange("a content without a method"))?;
                content.size = Some(header.body_size);
                self.complete(on).map(Some)
            }
            AMQPFrame::Body(on, bytes) => {
                let content = self.contents.get_mut(&on).ok_or_else(|| strange("a body without a method"))?;
                content.bytes.extend(bytes);
                self.complete(on).map(Some)
            }
            _ => Ok(Some(Vec::new())),
        }
    }

    fn hear_of_connection(&mut self, class: AMQPClass) -> Result<Vec<(u8, Happening)>, ConformError> {
        let reply = match class {
            AMQPClass::Connection(Connection::CloseOk(_)) => Reply::Plain(Answer::Closed),
            AMQPClass::Connection(Connection::Close(close)) => {
                self.end.writer.send(0, AMQPClass::Connection(Connection::CloseOk(connection::CloseOk {})))?;
                match close.reply_code {
                    320 => {
                        self.is_over = true;
                        return Ok(vec![(1, Happening::Lost(Loss::Forced))]);
                    }
                    530 if close.reply_text.as_str().contains("reuse consumer tag") => Reply::TagReused,
                    code => Reply::error(problem(code, close.reply_text.as_str())?),
                }
            }
            other => return Err(strange(&format!("on a connection, the broker said {other:?}"))),
        };
        self.is_over = true;
        let last = (1..).zip(&self.sides).filter_map(|(channel, side)| Some((side.sent.back()?.0, channel))).max();
        Ok(last.into_iter().map(|(to, channel)| (channel, Happening::Answered { to: to + 1, reply })).collect())
    }

    fn hear(&mut self, on: u16, class: AMQPClass) -> Result<Vec<(u8, Happening)>, ConformError> {
        let channel = u8::try_from(on).unwrap_or(u8::MAX);
        let Some(side) = self.sides.get_mut(usize::from(channel) - 1) else { return Ok(Vec::new()) };
        let reply = match class {
            AMQPClass::Basic(Basic::Ack(_) | Basic::Nack(_) | Basic::Cancel(_)) if side.is_stale() => {
                return Ok(Vec::new());
            }
            AMQPClass::Channel(Channel::OpenOk(_)) => Reply::Plain(Answer::Opened),
            AMQPClass::Channel(Channel::CloseOk(_)) => {
                side.life = SideLife::Closed;
                Reply::Plain(Answer::ChannelClosed)
            }
            AMQPClass::Channel(Channel::Close(close)) => {
                let text = close.reply_text.as_str();
                let reply = match close.reply_code {
                    403 if text.contains("exclusive use") => Reply::InUse,
                    403 if text.contains("refused for user") => Reply::Refused,
                    code => Reply::error(problem(code, text)?),
                };
                let to = side.blamed((close.class_id, close.method_id), text);
                let to = to.ok_or_else(|| strange(&format!("no method explains {} {text}", close.reply_code)))?;
                *side = Side::new(SideLife::Broken, false);
                self.contents.remove(&on);
                return Ok(vec![(channel, Happening::Answered { to: to + 1, reply })]);
            }
            AMQPClass::Confirm(Confirm::SelectOk(_)) => return Ok(Vec::new()),
            AMQPClass::Queue(Queue::DeclareOk(ok)) => {
                Reply::Declared { messages: ok.message_count, consumers: ok.consumer_count }
            }
            AMQPClass::Queue(Queue::DeleteOk(ok)) => Reply::Deleted { messages: ok.message_count },
            AMQPClass::Queue(Queue::PurgeOk(ok)) => Reply::Purged { messages: ok.message_count },
            AMQPClass::Basic(Basic::QosOk(_)) => Reply::QosOk,
            AMQPClass::Basic(Basic::RecoverOk(_)) => Reply::Recovered,
            AMQPClass::Basic(Basic::ConsumeOk(ok)) => {
                let tag = number(ok.consumer_tag.as_str())?;
                side.consumes(tag);
                return side.answered(channel, Reply::ConsumeOk, Some(tag)).map(|line| vec![line]);
            }
            AMQPClass::Basic(Basic::CancelOk(ok)) => {
                let tag = number(ok.consumer_tag.as_str())?;
                side.consumers.retain(|other| *other != tag);
                return side.answered(channel, Reply::CancelOk, Some(tag)).map(|line| vec![line]);
            }
            AMQPClass::Basic(Basic::GetEmpty(_)) => Reply::Plain(Answer::Empty),
            AMQPClass::Basic(Basic::Ack(ack)) => {
                return Ok(side.confirm(channel, ack.delivery_tag, ack.multiple, Answer::Confirmed));
            }
            AMQPClass::Basic(Basic::Nack(nack)) => {
                return Ok(side.confirm(channel, nack.delivery_tag, nack.multiple, Answer::Nacked));
            }
            AMQPClass::Basic(Basic::Cancel(cancel)) => {
                let consumer = number(cancel.consumer_tag.as_str())?;
                side.consumers.retain(|other| *other != consumer);
                return Ok(vec![(channel, Happening::Cancelled { consumer })]);
            }
            AMQPClass::Basic(method @ (Basic::Deliver(_) | Basic::GetOk(_) | Basic::Return(_))) => {
                self.contents.insert(on, Content { method, size: None, bytes: Vec::new() });
                return Ok(Vec::new());
            }
            other => return Err(strange(&format!("the broker said {other:?}"))),
        };
        side.answered(channel, reply, None).map(|line| vec![line])
    }

    /// A method whose content is whole becomes a line.
    fn complete(&mut self, on: u16) -> Result<Vec<(u8, Happening)>, ConformError> {
        let is_whole = |content: &Content| content.size.is_some_and(|size| content.bytes.len() as u64 >= size);
        if !self.contents.get(&on).is_some_and(is_whole) {
            return Ok(Vec::new());
        }
        let Content { method, bytes, .. } = self.contents.remove(&on).expect("it is whole");
        let body = body(&bytes)?;
        let channel = u8::try_from(on).unwrap_or(u8::MAX);
        let side = &mut self.sides[usize::from(channel) - 1];
        match method {
            _ if side.is_stale() => Ok(Vec::new()),
            Basic::Deliver(deliver) => {
                let (tag, redelivered) = (deliver.delivery_tag, deliver.redelivered);
                let consumer = number(deliver.consumer_tag.as_str())?;
                if side.is_stale_delivery(consumer) {
                    return Ok(Vec::new());
                }
                if !side.no_acks.contains(&consumer) {
                    side.unsettled.push(tag);
                }
                Ok(vec![(channel, Happening::Delivered { consumer, tag, body, redelivered })])
            }
            Basic::GetOk(ok) => {
                let (tag, redelivered, messages) = (ok.delivery_tag, ok.redelivered, ok.message_count);
                let reply = Reply::Got { tag, body, redelivered, messages };
                side.unsettled.push(tag);
                side.answered(channel, reply, None).map(|line| vec![line])
            }
            _ => {
                side.returned.push(body);
                if side.confirms {
                    return Ok(Vec::new());
                }
                let published = |method: &Method| matches!(method, Method::Publish { body: of, .. } if *of == body);
                let to = side.sent.iter().find(|(_, method)| published(method)).map(|(place, _)| place + 1);
                let to = to.ok_or_else(|| strange("a message is returned that was not published"))?;
                let reply = Reply::Plain(Answer::Returned { confirmed: false });
                Ok(vec![(channel, Happening::Answered { to, reply })])
            }
        }
    }
}

/// The number of a message.
fn body(bytes: &[u8]) -> Result<u32, ConformError> {
    let text = String::from_utf8_lossy(bytes);
    let number = text.split(' ').next().and_then(|text| text.parse().ok());
    let number: u32 = number.ok_or_else(|| strange(&format!("a message says {text:?}")))?;
    if payload(number) == bytes { Ok(number) } else { Err(strange(&format!("message {number} is damaged"))) }
}

fn number(text: &str) -> Result<u8, ConformError> {
    text.parse().map_err(|_| strange(&format!("there is no consumer {text:?}")))
}

pub(super) fn strange(what: &str) -> ConformError {
    ConformError(what.to_owned())
}
