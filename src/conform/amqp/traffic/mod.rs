//! Messages and consumers, and several channels at the same time: what the model's broker does not have. The kernel's broker decides about
//! names, owners, channels and connections; around it, this machine adds the contents of queues, consumers with prefetch, acknowledgements,
//! expiry and permissions. Several channels have requests in flight; whether their answers are possible is judged afterwards.
//!
//! ```text
//! method   methods and their answers            log      what was sent and received, in order
//! state    what the broker may be               script   a log, with what belongs together
//! broker   what a method does                   judge    whether a log is possible
//! content  messages and consumers               steps    everything that may happen next
//! queues   what queues do with them             draw     random rounds of methods
//! settle   acknowledgements and requeues        run      one sequence on a real broker
//! ends     how channels end                     hunt     random sequences, shrunk
//! connections   how connections end             known    what clients know, while a log is read
//! cuts     ends that the broker brings about    losses   when it may
//! client   a connection, as its client sees it  side     a channel of it
//! choose   what is wanted becomes a method       send     methods as frames
//! watching what channels see of the end of a queue
//! ```

mod broker;
mod choose;
mod client;
mod connections;
mod content;
mod cuts;
mod draw;
mod ends;
mod hunt;
mod judge;
mod known;
mod log;
mod losses;
mod method;
mod queues;
mod run;
mod script;
mod send;
mod settle;
mod side;
mod state;
mod steps;
mod watching;

pub use hunt::{Found, hunt};
pub use judge::{Flaw, Verdict, judge};
pub use log::{Access, Event, Happening, Log, Loss, is_one, read, write};
pub use method::{Method, Reply, Verb};
