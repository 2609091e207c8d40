//! Leases of Kubernetes over sockets.

mod bench;
mod faults;
mod judged;
mod malformed;
mod patches;
mod rules;
