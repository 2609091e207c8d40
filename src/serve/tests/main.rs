//! Tests of the stand-in: without sockets, where time is what the test says, and over sockets, against what holds real agents.

mod bench;
mod clock;
mod conformance;
mod endpoints;
mod etcd;
mod events;
mod faults;
mod judged;
mod leases;
mod lists;
mod long_lived;
mod malformed;
mod sockets;
mod torture;
mod torture_etcd;
