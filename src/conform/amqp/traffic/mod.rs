//! Messages and consumers, and several channels at the same time: what the model's broker does not have. The kernel's broker decides about
//! names, owners, channels and connections; around it, this machine adds the contents of queues, consumers with prefetch, acknowledgements,
//! expiry and permissions. Several channels have requests in flight; whether their answers are possible is judged afterwards.
//!
//! ```text
//! method   methods and their answers            log      what was sent and received, in order
//! broker   the machine: one method              judge    whether a log is possible
//! queues   the contents of its queues           draw     random rounds of methods
//! ends     how channels and connections end     run      one sequence on a real broker
//! client   a connection, as its client sees it  hunt     random sequences, shrunk
//! send     methods as frames
//! ```

mod broker;
mod client;
mod draw;
mod ends;
mod hunt;
mod judge;
mod log;
mod method;
mod queues;
mod run;
mod send;

pub use hunt::{Found, hunt};
pub use judge::{Flaw, Verdict, judge};
pub use log::{Access, Event, Happening, Log, is_one, read, write};
pub use method::{Method, Reply, Verb};
