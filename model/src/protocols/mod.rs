//! The lock services. A new one is a folder here and a line in the list below.

pub mod consul;
pub mod lease;
pub mod rabbitmq;
pub mod redlock;
pub mod stores;

/// The list: calls a macro with every protocol, as `Variant => Type`.
#[macro_export]
macro_rules! for_each_protocol {
    ($call:ident) => {
        $call! {
            Lease => $crate::protocols::lease::Lease,
            Consul => $crate::protocols::consul::Consul,
            RabbitMq => $crate::protocols::rabbitmq::RabbitMq,
            Stores => $crate::protocols::stores::Stores,
            Redlock => $crate::protocols::redlock::Redlock,
        }
    };
}
