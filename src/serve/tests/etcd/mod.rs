//! The stand-in for etcd.

mod bench;
mod beside;
mod conformance;
mod faults;
mod leases;
mod locks;
mod observers;
mod rules;
mod sockets;
mod watches;
