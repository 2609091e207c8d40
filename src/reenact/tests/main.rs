//! Counterexamples of the catalogue: planned for a real server, and driven at the stand-in agent; at real servers where `FENCEPOST_CONSUL`
//! and `FENCEPOST_RABBITMQ` name them.

mod agents;
mod broker_plans;
mod brokers;
mod catalogue;
mod executions;
mod plans;
mod recorded;
mod restarts;
