//! Sockets: HTTP/1.1 with keep-alive, on loopback. One thread carries out one request after the other; a request that waits costs a
//! few hundred bytes and no thread.

mod answer_stream;
mod connection;
mod driver;
mod server;

pub use server::{Addresses, Server, StandInRun};
