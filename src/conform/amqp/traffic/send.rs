//! Methods as frames.

use amq_protocol::frame::{AMQPContentHeader, AMQPFrame};
use amq_protocol::protocol::AMQPClass;
use amq_protocol::protocol::basic::{self, AMQPMethod as Basic, AMQPProperties};
use amq_protocol::protocol::channel::{self, AMQPMethod as Channel};
use amq_protocol::protocol::confirm::{self, AMQPMethod as Confirm};
use amq_protocol::protocol::connection::{self, AMQPMethod as Connection};
use amq_protocol::protocol::queue::{self, AMQPMethod as Queue};
use amq_protocol::types::FieldTable;
use fencepost_amqp::short;
use fencepost_rabbitmq::Request;

use super::client::Client;
use super::method::{Method, Verb};
use super::side::{Side, SideLife};
use crate::ConformError;

impl Client {
    /// Sends a method, which stands at a place of the log.
    pub(super) fn send(&mut self, channel: u8, place: usize, method: Method) -> Result<(), ConformError> {
        let side = &mut self.sides[usize::from(channel) - 1];
        side.sent.push_back((place, method));
        let on = u16::from(channel);
        let name = |name| self.end.writer.name(name);
        let basic = AMQPClass::Basic;
        let class = match method {
            Method::Plain(Request::OpenChannel { confirms }) | Method::Reopen { confirms } => {
                let sent = std::mem::take(&mut side.sent);
                *side = Side { sent, ..Side::new(SideLife::Open, confirms) };
                if matches!(method, Method::Reopen { .. }) {
                    self.end.writer.send(on, AMQPClass::Channel(Channel::CloseOk(channel::CloseOk {})))?;
                }
                self.end.writer.send(on, AMQPClass::Channel(Channel::Open(channel::Open {})))?;
                if !confirms {
                    return Ok(());
                }
                AMQPClass::Confirm(Confirm::Select(confirm::Select { nowait: false }))
            }
            Method::Plain(Request::CloseChannel) => AMQPClass::Channel(Channel::Close(channel::Close {
                reply_code: 200,
                reply_text: short(""),
                class_id: 0,
                method_id: 0,
            })),
            Method::Plain(Request::Close) => {
                let close = connection::Close { reply_code: 200, reply_text: short(""), class_id: 0, method_id: 0 };
                return Ok(self.end.writer.send(0, AMQPClass::Connection(Connection::Close(close)))?);
            }
            Method::Plain(Request::Declare { name, shape }) => self.end.writer.declare(name, Some(shape), false),
            Method::Plain(Request::Look(name)) => self.end.writer.declare(name, None, false),
            Method::Plain(Request::Delete { name: of, if_empty }) => AMQPClass::Queue(Queue::Delete(queue::Delete {
                queue: name(of),
                if_unused: false,
                if_empty,
                nowait: false,
            })),
            Method::Plain(request) => return Err(ConformError(format!("{request} is not sent here"))),
            Method::Beat => {
                side.sent.pop_back();
                return Ok(self.end.writer.write(&AMQPFrame::Heartbeat)?);
            }
            Method::Publish { name: to, body, mandatory, expiration, persistent } => {
                side.published += 1;
                if side.confirms {
                    side.unconfirmed.push((side.published, place, body));
                }
                let (exchange, routing_key) = (short(""), name(to));
                let publish = basic::Publish { exchange, routing_key, mandatory, immediate: false };
                self.end.writer.send(on, basic(Basic::Publish(publish)))?;
                let mut properties = AMQPProperties::default();
                if let Some(after) = expiration {
                    properties = properties.with_expiration(short(&after.to_string()));
                }
                if persistent {
                    properties = properties.with_delivery_mode(2);
                }
                let bytes = payload(body);
                let header = AMQPContentHeader { class_id: 60, body_size: bytes.len() as u64, properties };
                self.end.writer.write(&AMQPFrame::Header(on, header))?;
                return Ok(self.end.writer.write(&AMQPFrame::Body(on, bytes))?);
            }
            Method::Get { name: of, no_ack } => basic(Basic::Get(basic::Get { queue: name(of), no_ack })),
            Method::Settle { verb, tag: delivery_tag, multiple, requeue } => {
                side.unsettled.retain(|tag| !(*tag == delivery_tag || multiple && *tag < delivery_tag));
                basic(match verb {
                    Verb::Ack => Basic::Ack(basic::Ack { delivery_tag, multiple }),
                    Verb::Nack => Basic::Nack(basic::Nack { delivery_tag, multiple, requeue }),
                    Verb::Reject => Basic::Reject(basic::Reject { delivery_tag, requeue }),
                })
            }
            Method::Recover => {
                side.unsettled.clear();
                basic(Basic::Recover(basic::Recover { requeue: true }))
            }
            Method::Qos(prefetch_count) => {
                side.prefetch = prefetch_count;
                basic(Basic::Qos(basic::Qos { prefetch_count, global: false }))
            }
            Method::Consume { name: of, tag, no_ack, exclusive } => {
                side.no_acks.retain(|other| *other != tag);
                side.no_acks.extend(no_ack.then_some(tag));
                basic(Basic::Consume(basic::Consume {
                    queue: name(of),
                    consumer_tag: short(&tag.to_string()),
                    no_local: false,
                    no_ack,
                    exclusive,
                    nowait: false,
                    arguments: FieldTable::default(),
                }))
            }
            Method::Cancel(tag) => {
                basic(Basic::Cancel(basic::Cancel { consumer_tag: short(&tag.to_string()), nowait: false }))
            }
            Method::Purge(of) => AMQPClass::Queue(Queue::Purge(queue::Purge { queue: name(of), nowait: false })),
            Method::Connect { .. } => return Err(ConformError("a connection is open already".to_owned())),
            Method::HangUp => return Err(ConformError("a socket is closed by dropping it".to_owned())),
        };
        Ok(self.end.writer.send(on, class)?)
    }
}

/// The bytes of a message: its number, several times, so that a piece that is missing is found out.
pub(super) fn payload(body: u32) -> Vec<u8> {
    format!("{body:06} ").repeat(1 + usize::try_from(body % 60).unwrap_or(0)).into_bytes()
}
