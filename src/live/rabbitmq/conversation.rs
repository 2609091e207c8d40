//! The connections of one client: each is opened with the first request on it.

use std::collections::BTreeMap;

use fencepost_amqp::BrokerError;
use fencepost_model::ids::{Call, SessionId};
use fencepost_model::time::Ticks;
use fencepost_rabbitmq::{Ask, QueueProperties, RabbitMq, RabbitmqMessage, Request};

use super::broker::LiveBroker;
use super::link::Link;
use super::reader::{Arrival, Arrived, read};
use crate::LiveError;
use crate::server::{Conversation, Post};

/// What one client says to a broker and hears from it. When it is dropped, its sockets are closed, and the broker removes what its
/// connections own (R-Q-39, R-Q-40).
#[derive(Debug)]
pub struct AmqpConversation {
    broker: LiveBroker,
    post: Post<Arrival>,
    links: BTreeMap<SessionId, Link>,
    refusal: Option<String>,
}

impl AmqpConversation {
    pub(super) fn new(broker: LiveBroker, post: Post<Arrival>) -> Self {
        AmqpConversation { broker, post, links: BTreeMap::new(), refusal: None }
    }
}

impl Conversation for AmqpConversation {
    type Service = RabbitMq;
    type Heard = Arrival;

    fn send(&mut self, message: RabbitmqMessage) -> Result<(), LiveError> {
        match message {
            RabbitmqMessage::Request(ask) => {
                let request = in_milliseconds(ask.request, &self.broker);
                let link = self.links.entry(ask.connection).or_insert_with(|| {
                    read(&self.broker, ask.connection, self.post.clone());
                    Link::new(ask.connection)
                });
                if let Some(told) = link.send(Ask { request, ..ask })? {
                    self.post.deliver(Arrival { connection: ask.connection, what: Arrived::Told(told) });
                }
            }
            RabbitmqMessage::SocketClosed(connection) => {
                self.links.get_mut(&connection).into_iter().for_each(Link::hang_up);
            }
            other => return Err(LiveError::Unsupported(other.to_string())),
        }
        Ok(())
    }

    fn hear(&mut self, arrival: Arrival) -> Result<Vec<RabbitmqMessage>, LiveError> {
        let Some(link) = self.links.get_mut(&arrival.connection) else { return Ok(Vec::new()) };
        let told = match arrival.what {
            Arrived::Opened(writer) => link.opened(writer).map(|()| Vec::new())?,
            Arrived::Told(told) => vec![told],
            Arrived::Method(channel, class) => link.hear(channel, &class)?,
            Arrived::Closed => link.failed(),
            Arrived::Failed(error @ (BrokerError::Unreachable { .. } | BrokerError::Socket(_))) => {
                self.refusal = Some(error.to_string());
                link.failed()
            }
            Arrived::Failed(error) => return Err(error.into()),
        };
        for message in &told {
            if let RabbitmqMessage::Response(_, answer) = message {
                self.refusal = Some(format!("the last answer was: {answer}"));
            }
        }
        Ok(told)
    }

    fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    fn renumber(&mut self, numbers: &BTreeMap<Call, Call>) {
        self.links.retain(|_, link| !link.is_over());
        self.links.values_mut().for_each(|link| link.renumber(numbers));
    }

    fn part(&mut self) {
        for link in self.links.values_mut() {
            // A frame that cannot be written cannot be waited for.
            if link.part().is_err() {
                link.hang_up();
            }
        }
    }

    fn is_unfinished(&self) -> bool {
        self.links.values().any(|link| !link.is_over())
    }
}

impl Drop for AmqpConversation {
    fn drop(&mut self) {
        self.links.values_mut().for_each(Link::hang_up);
    }
}

/// The broker's durations are in milliseconds (R-Q-25).
fn in_milliseconds(request: Request, broker: &LiveBroker) -> Request {
    let tick = i64::try_from(broker.tick.as_micros()).unwrap_or(i64::MAX);
    let longer = |ticks: Ticks| Ticks::new(ticks.count().saturating_mul(tick).div_euclid(1_000).max(1));
    let shape_of = |shape: QueueProperties| QueueProperties { expires: shape.expires.map(longer), ..shape };
    match request {
        Request::Declare { name, shape } => Request::Declare { name, shape: shape_of(shape) },
        Request::DeclareSilently { name, shape } => Request::DeclareSilently { name, shape: shape_of(shape) },
        other => other,
    }
}
