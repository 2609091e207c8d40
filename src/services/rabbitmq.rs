//! RabbitMQ: queues, channels, connections, and the persistent semaphore that is made of them.

pub use fencepost_rabbitmq::*;
pub use fencepost_rabbitmq_explore::SERVICE;

use crate::Check;

/// A check of the persistent semaphore: a queue for each slot, numbered from 1.
///
/// ```
/// use fencepost::{Property, rabbitmq};
///
/// rabbitmq::semaphore("our-workers", 1).promise(Property::SlotLimit).verify();
/// ```
pub fn semaphore(name: &str, slots: u8) -> Check<RabbitMq> {
    Check::of(&SERVICE, name).settings(|broker: &mut Settings| broker.slots = (1..=slots).collect())
}

/// A check of a lock that is a message: the client that has got it from its queue holds the lock.
pub fn mutex(name: &str) -> Check<RabbitMq> {
    Check::of(&SERVICE, name).system("rabbitmq-mutex")
}
