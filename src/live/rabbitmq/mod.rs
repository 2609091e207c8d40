//! Recipes of RabbitMQ at a broker, over AMQP.
//!
//! ```text
//! broker        where it is, what the queues' names begin with
//! conversation  the connections of one client
//! link          one connection: what was sent on it, and what the broker says to it
//! channel       one channel: which request an answer belongs to
//! reader        the thread that reads a connection, and sends its heartbeats
//! ```

mod broker;
mod channel;
mod conversation;
mod link;
mod reader;

pub use broker::LiveBroker;
pub use conversation::AmqpConversation;
pub use reader::Arrival;
