//! Frames that go to the broker: requests as methods.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};

use amq_protocol::frame::{AMQPContentHeader, AMQPFrame, WriteContext, gen_frame};
use amq_protocol::protocol::AMQPClass;
use amq_protocol::protocol::basic::{self, AMQPMethod as Basic, AMQPProperties};
use amq_protocol::protocol::channel::{self, AMQPMethod as Channel};
use amq_protocol::protocol::confirm::{self, AMQPMethod as Confirm};
use amq_protocol::protocol::connection::{self, AMQPMethod as Connection};
use amq_protocol::protocol::queue::{self, AMQPMethod as Queue};
use amq_protocol::types::{AMQPValue, FieldTable, ShortString};
use fencepost_rabbitmq::{Keeps, Name, QueueProperties, Request};

use crate::BrokerError;

/// The side of a connection on which frames go to the broker.
#[derive(Debug)]
pub struct FrameWriter {
    pub(crate) socket: TcpStream,
    /// What goes before each queue's name.
    pub(crate) prefix: String,
}

/// A short text of AMQP.
///
/// # Panics
/// It is longer than 255 bytes.
pub fn short(text: &str) -> ShortString {
    ShortString::try_new(text).expect("short enough")
}

impl FrameWriter {
    /// Sends a method.
    ///
    /// # Errors
    /// See [`FrameWriter::write`].
    pub fn send(&mut self, channel: u16, class: AMQPClass) -> Result<(), BrokerError> {
        self.write(&AMQPFrame::Method(channel, class))
    }

    /// Closes the socket.
    pub fn shut_down(&self) {
        // It may be closed already.
        let _ = self.socket.shutdown(Shutdown::Both);
    }

    /// Writes a frame; a socket that the broker has closed is found out when it is read.
    ///
    /// # Errors
    /// [`BrokerError::Unknown`]: it is longer than 4,096 bytes.
    pub fn write(&mut self, frame: &AMQPFrame) -> Result<(), BrokerError> {
        let mut buffer = vec![0; 4096];
        let context = gen_frame(frame)(WriteContext::from(io::Cursor::new(&mut buffer[..])))
            .map_err(|error| BrokerError::Unknown(format!("a frame that cannot be written: {error}")))?;
        let (_, length) = context.into_inner();
        let length = usize::try_from(length).expect("a small frame");
        let _ = self.socket.write_all(&buffer[..length]);
        Ok(())
    }

    /// Sends a request as a method.
    ///
    /// # Errors
    /// See [`FrameWriter::write`].
    pub fn request(&mut self, channel: u16, request: &Request) -> Result<(), BrokerError> {
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

    /// The name of a queue, as the broker has it.
    pub fn name(&self, name: Name) -> ShortString {
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
    pub fn declare(&self, name: Name, shape: Option<QueueProperties>, nowait: bool) -> AMQPClass {
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
    pub(crate) fn publish(
        &mut self,
        channel: u16,
        exchange: ShortString,
        name: Name,
        mandatory: bool,
        immediate: bool,
    ) -> Result<(), BrokerError> {
        let routing_key = self.name(name);
        let publish = basic::Publish { exchange, routing_key, mandatory, immediate };
        self.send(channel, AMQPClass::Basic(Basic::Publish(publish)))?;
        let properties = AMQPProperties::default();
        self.write(&AMQPFrame::Header(channel, AMQPContentHeader { class_id: 60, body_size: 0, properties }))
    }
}
