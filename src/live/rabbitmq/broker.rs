//! Where the broker is, what the queues' names begin with, and how long a tick is.

use std::time::Duration;

use fencepost_amqp::BrokerAddress;
use fencepost_model::ids::ClientId;
use fencepost_rabbitmq::RabbitMq;

use super::conversation::AmqpConversation;
use super::reader::Arrival;
use crate::LiveError;
use crate::server::{LiveServer, Post};

/// A RabbitMQ broker, and a semaphore there.
#[derive(Clone, Debug)]
pub struct LiveBroker {
    pub(super) address: BrokerAddress,
    pub(super) semaphore: String,
    pub(super) tick: Duration,
    pub(super) client: ClientId,
    /// In seconds; 0: none.
    pub(super) heartbeat: u16,
}

impl LiveBroker {
    /// The broker at an address like `amqp://user:password@127.0.0.1:5672/vhost`, and what the names of the semaphore's queues begin
    /// with: `NAME-1-A`, `NAME-1-B`, `NAME-mutex`, `NAME-lock`.
    ///
    /// # Errors
    /// It is no address of a broker.
    pub fn new(address: &str, semaphore: &str) -> Result<Self, LiveError> {
        let address = BrokerAddress::parse(address)?;
        let (tick, semaphore) = (Duration::from_millis(10), semaphore.to_owned());
        Ok(LiveBroker { address, semaphore, tick, client: ClientId(1), heartbeat: 10 })
    }

    /// Sets the length of a tick; otherwise it is 10 ms.
    ///
    /// # Panics
    /// It is zero.
    #[must_use]
    pub fn tick(self, tick: Duration) -> Self {
        assert!(!tick.is_zero(), "a tick must last");
        LiveBroker { tick, ..self }
    }

    /// Sets which client this is, as [`Handle::me`](fencepost_model::program::Handle::me) tells it; otherwise it is client 1.
    #[must_use]
    pub fn client(self, client: u16) -> Self {
        LiveBroker { client: ClientId(client), ..self }
    }

    /// Sets the heartbeat value in seconds; otherwise it is 10. With 0 there are no heartbeats, and a client that is cut off keeps its
    /// slots (R-Q-41, R-Q-43).
    #[must_use]
    pub fn heartbeat(self, seconds: u16) -> Self {
        LiveBroker { heartbeat: seconds, ..self }
    }
}

impl LiveServer for LiveBroker {
    type Service = RabbitMq;
    type Conversation = AmqpConversation;

    fn tick(&self) -> Duration {
        self.tick
    }

    fn client(&self) -> ClientId {
        self.client
    }

    fn converse(&self, post: Post<Arrival>) -> AmqpConversation {
        AmqpConversation::new(self.clone(), post)
    }
}
