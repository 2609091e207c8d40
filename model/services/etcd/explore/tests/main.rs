//! The rules of etcd by the verdicts of scenarios. One test binary, so that it is compiled once.

mod rules;
mod try_it;
