//! Counterexamples of the catalogue: planned for a real server, and driven at the stand-in agent; at real servers where `FENCEPOST_CONSUL`,
//! `FENCEPOST_RABBITMQ` and `FENCEPOST_ETCD` name them.

mod agents;
mod broker_plans;
mod brokers;
mod catalogue;
mod etcd;
mod executions;
mod plans;
mod recorded;
mod restarts;
