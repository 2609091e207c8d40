//! The stand-in for etcd.

mod bench;
mod conformance;
mod faults;
mod leases;
mod locks;
