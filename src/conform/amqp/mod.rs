//! The model of RabbitMQ held against a real broker: random methods go to both, and the answers must be the same. And logs of
//! methods and answers, held against the model.
//!
//! ```text
//! class  classes of answers, and what stays out
//! broker  a running broker
//! pair   one sequence, on both sides          log   methods and answers in a file
//! hunt   random sequences, shrunk             traffic   messages, consumers, and many requests in flight
//! restart   by a command                  leftovers   of killed runs
//! ```

mod broker;
mod class;
mod hunt;
mod leftovers;
mod log;
mod pair;
mod restart;
pub mod traffic;

/// What a real RabbitMQ 3.10.8 has answered: random sequences.
pub const RECORDED: &str = include_str!("../recorded/rabbitmq-3.10.8.jsonl");

pub use broker::Broker;
pub use class::{Class, LEFT_OUT, Tally, class};
pub use hunt::{Found, hunt};
pub use log::{Judged, is_one, judge, read, write};
pub use pair::{Command, Exchange};
