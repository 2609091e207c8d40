//! The rules of etcd by the verdicts of scenarios, and the promises that only a property of Rust expresses; the store of the world against
//! the store that a server is held against. One test binary, so that it is compiled once.

mod close;
mod keep;
mod mutants;
mod observe;
mod programs;
mod programs_at_random;
mod rules;
mod same_store;
