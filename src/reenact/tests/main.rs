//! Counterexamples of the catalogue: planned for a real server, and driven at the stand-in agent; and at a real one where
//! `FENCEPOST_CONSUL` names it.

mod agents;
mod catalogue;
mod executions;
mod plans;
mod recorded;
mod restarts;
