//! The model of RabbitMQ held against a real broker: random methods go to both, and the answers must be the same. And logs of
//! methods and answers, held against the model.
//!
//! ```text
//! wire   frames to a real broker      pair   one sequence, on both sides
//! hunt   random sequences, shrunk     log    methods and answers in a file
//! ```

mod hunt;
mod log;
mod pair;
mod wire;

/// What a real RabbitMQ 3.10.8 has answered: random sequences.
pub const RECORDED: &str = include_str!("../recorded/rabbitmq-3.10.8.jsonl");

pub use hunt::{Found, hunt};
pub use log::{Judged, Unreadable, is_one, judge, read, write};
pub use pair::{Command, Exchange, class};
pub use wire::{Broker, Line, Trouble};
