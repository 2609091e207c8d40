//! A RabbitMQ broker is driven through an execution.
//!
//! ```text
//! driven       what a plan has to know of RabbitMQ
//! causes       what an action means for the broker
//! obstacles    what cannot be caused from outside
//! silence      when a broker misses the heartbeats of a connection
//! broker       where it is, and the commands that the user gives for it
//! stage        the queues of one execution
//! connections  the clients' connections, with their heartbeats
//! drive        each step at its time
//! operators    what operators do
//! ```

mod broker;
mod causes;
mod connections;
mod drive;
mod driven;
mod obstacles;
mod operators;
mod silence;
mod stage;

pub use broker::RabbitmqBroker;
