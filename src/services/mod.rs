//! The services that ship with fencepost, and how a check of each begins.

pub mod consul;
pub mod etcd;
pub mod lease;
pub mod observed_lease;
pub mod rabbitmq;
pub mod redlock;
pub mod stores;
