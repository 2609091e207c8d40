//! What a program can do with the broker, as AMQP 0-9-1 has it: connections, channels, and their methods.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Doing, Saying};
use crate::{Answer, Name, Problem, QueueProperties, RabbitMq, Request};
use fencepost_model::ids::SessionId;
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Handle};

/// An error as the broker gives it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum AmqpError {
    /// `channel.close`: the channel must be opened again. The connection and its exclusive queues stay (R-Q-29).
    Channel(Problem),
    /// `connection.close`, or a socket that is closed without a reason: exclusive queues are gone (R-Q-30).
    Connection(Option<Problem>),
}

impl fmt::Display for AmqpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AmqpError::Channel(problem) => write!(f, "the channel is closed: {problem}"),
            AmqpError::Connection(Some(problem)) => write!(f, "the connection is closed: {problem}"),
            AmqpError::Connection(None) => f.write_str("connection reset"),
        }
    }
}

impl std::error::Error for AmqpError {}

impl From<AmqpError> for Gone {
    fn from(_: AmqpError) -> Gone {
        Gone
    }
}

type Result<T> = std::result::Result<T, AmqpError>;

/// Where a program gets its connections.
pub trait AmqpApi {
    /// A new connection, whose socket is opened with the first method on it.
    fn connect(&self) -> impl Future<Output = AmqpConnection>;
}

impl AmqpApi for Handle<RabbitMq> {
    async fn connect(&self) -> AmqpConnection {
        AmqpConnection { id: self.unique().await }
    }
}

/// A connection.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct AmqpConnection {
    id: SessionId,
}

impl AmqpConnection {
    /// Its channel 1, in confirm mode: it is opened with the connection.
    pub fn channel(&self) -> AmqpChannel {
        AmqpChannel { connection: self.id, number: 1, is_closed: false }
    }

    /// `channel.open` of another channel, and `confirm.select` if its publishes are to be confirmed.
    ///
    /// # Errors
    /// The channel is open already, or the connection has ended.
    pub async fn open_channel(&self, broker: &Handle<RabbitMq>, number: u8, confirms: bool) -> Result<AmqpChannel> {
        let mut channel = AmqpChannel { number, ..self.channel() };
        channel.call(broker, Request::OpenChannel { confirms }).await.map(|_| channel)
    }

    /// `connection.close`. `close-ok` comes when its exclusive queues are gone (R-Q-37).
    ///
    /// # Errors
    /// The connection has ended before.
    pub async fn close(self, broker: &Handle<RabbitMq>) -> Result<()> {
        self.channel().call(broker, Request::Close).await.map(|_| ())
    }

    /// Closes the socket without a close method. The broker notices it soon (R-Q-39).
    pub fn hang_up(self, broker: &Handle<RabbitMq>) {
        broker.send(Doing::HangUp(self.id));
    }

    /// Waits until the broker has ended it: the reason in `connection.close`, or none if only the socket is closed (R-Q-38, R-Q-45).
    pub async fn closed(&self, broker: &Handle<RabbitMq>) -> Option<Problem> {
        loop {
            // The end of an earlier connection is no news.
            if let Saying::ConnectionClosed(id, problem) = broker.listen().await
                && id == self.id
            {
                return problem;
            }
        }
    }
}

/// A channel. One method at a time: each waits for its answer, for ever if none comes: wrap it in a
/// [`timeout`](Handle::timeout) if the client gives up.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct AmqpChannel {
    connection: SessionId,
    number: u8,
    /// The broker has closed it: the next method on it goes after `close-ok`.
    is_closed: bool,
}

/// What comes of a publish on a channel in confirm mode.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Confirmation {
    /// `basic.ack`.
    Ack,
    /// `basic.return` with 312, before the ack (R-Q-17).
    Returned,
    /// `basic.nack`: the queue exists, and refuses the message (R-Q-20).
    Nack,
}

/// A message that was got and not acknowledged.
#[derive(PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct Delivery {
    tag: u32,
}

impl AmqpChannel {
    /// Its connection.
    pub fn connection(&self) -> AmqpConnection {
        AmqpConnection { id: self.connection }
    }

    /// Whether the broker has closed it. A method on it ends the connection then (R-Q-31): [open](Self::reopen) it first.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// `channel.open` on the number of a closed channel, and `confirm.select` (R-Q-31).
    ///
    /// # Errors
    /// The connection has ended.
    pub async fn reopen(&mut self, broker: &Handle<RabbitMq>) -> Result<()> {
        self.call(broker, Request::OpenChannel { confirms: true }).await.map(|_| ())
    }

    /// `queue.declare`: the number of messages in it. R-Q-2, R-Q-4.
    ///
    /// # Errors
    /// 403, 405, 406: see [`Problem`].
    pub async fn declare(&mut self, broker: &Handle<RabbitMq>, name: Name, shape: QueueProperties) -> Result<u32> {
        self.call(broker, Request::Declare { name, shape }).await.map(messages)
    }

    /// `queue.declare` with `passive`.
    ///
    /// # Errors
    /// 404: there is no such queue (R-Q-8). 405: it is exclusive, and another connection's (R-Q-9).
    pub async fn declare_passive(&mut self, broker: &Handle<RabbitMq>, name: Name) -> Result<u32> {
        self.call(broker, Request::Look(name)).await.map(messages)
    }

    /// `queue.delete`: the number of messages that were in it, 0 if there was no such queue (R-Q-11).
    ///
    /// # Errors
    /// 404, 405, 406: R-Q-12 to R-Q-14.
    pub async fn delete(&mut self, broker: &Handle<RabbitMq>, name: Name, if_empty: bool) -> Result<u32> {
        self.call(broker, Request::Delete { name, if_empty }).await.map(messages)
    }

    /// `basic.publish` of an empty message to the default exchange. Without confirm mode there is no answer unless the message is
    /// returned (R-Q-19).
    ///
    /// # Errors
    /// The connection has ended.
    pub async fn publish(&mut self, broker: &Handle<RabbitMq>, name: Name, mandatory: bool) -> Result<Confirmation> {
        Ok(match self.call(broker, Request::Publish { name, mandatory }).await? {
            Answer::Returned { .. } => Confirmation::Returned,
            Answer::Nacked => Confirmation::Nack,
            _ => Confirmation::Ack,
        })
    }

    /// `basic.get`, not acknowledged; none: `get-empty`.
    ///
    /// # Errors
    /// 404: there is no such queue.
    pub async fn get(&mut self, broker: &Handle<RabbitMq>, name: Name) -> Result<Option<Delivery>> {
        Ok(match self.call(broker, Request::Get(name)).await? {
            Answer::Got { delivery, .. } => Some(Delivery { tag: delivery }),
            _ => None,
        })
    }

    /// `basic.ack`, which has no answer. The model's network keeps no order: a method that is sent later may be there first.
    pub fn ack(&self, broker: &Handle<RabbitMq>, delivery: Delivery) {
        self.send(broker, Request::Ack(delivery.tag));
    }

    /// `basic.reject` with `requeue`, which has no answer: as for [`ack`](AmqpChannel::ack), a later method may be there first.
    pub fn put_back(&self, broker: &Handle<RabbitMq>, delivery: Delivery) {
        self.send(broker, Request::Requeue(delivery.tag));
    }

    /// `channel.close`. Exclusive queues stay (R-Q-35).
    ///
    /// # Errors
    /// The connection has ended.
    pub async fn close(mut self, broker: &Handle<RabbitMq>) -> Result<()> {
        self.call(broker, Request::CloseChannel).await.map(|_| ())
    }

    fn send(&self, broker: &Handle<RabbitMq>, request: Request) {
        let AmqpChannel { connection, number: channel, .. } = *self;
        broker.send(Doing::Send { connection, channel, close_ok: false, request });
    }

    /// Sends a method, and waits for its answer or for the end of the connection.
    async fn call(&mut self, broker: &Handle<RabbitMq>, request: Request) -> Result<Answer> {
        let (connection, close_ok) = (self.connection(), std::mem::take(&mut self.is_closed));
        let doing = Doing::Send { connection: self.connection, channel: self.number, close_ok, request };
        match broker.select(connection.closed(broker), broker.request(doing)).await {
            First::One(problem) | First::Other(Saying::ConnectionClosed(_, problem)) => {
                Err(AmqpError::Connection(problem))
            }
            First::Other(Saying::Answer(Answer::Reset)) => Err(AmqpError::Connection(None)),
            First::Other(Saying::Answer(Answer::Error(problem))) if problem.is_fatal() => {
                Err(AmqpError::Connection(Some(problem)))
            }
            First::Other(Saying::Answer(Answer::Error(problem))) => {
                self.is_closed = true;
                Err(AmqpError::Channel(problem))
            }
            First::Other(Saying::Answer(answer)) => Ok(answer),
        }
    }
}

fn messages(answer: Answer) -> u32 {
    match answer {
        Answer::Declared { messages } | Answer::Deleted { messages } => messages,
        _ => 0,
    }
}
