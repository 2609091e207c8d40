//! The rules of etcd by the verdicts of scenarios, and the promises that only a property of Rust expresses. One test binary, so that it is
//! compiled once.

mod keep;
mod mutants;
mod rules;
