//! The model of etcd's store held against a real server, over the JSON gateway: random calls go to both, and the answers must be the same,
//! up to the ids of cluster and member and to the term (etcd.md, section 9). And logs of calls and answers, held against the model.
//!
//! ```text
//! class  classes of answers        wire    calls as requests, answers without what is fresh
//! draw   random calls              render  what the model answers, as the gateway writes it
//! hunt   sequences, shrunk         pair    one sequence, on both sides
//! room   what may be removed       log     calls and answers in a file
//! crowd  several clients at once   order   whether there is an order of what overlaps
//! state  a beginning of such an order      script  what a crowd does, drawn, and made smaller
//! steps  what may come next after it
//! ```

mod class;
mod crowd;
mod draw;
mod hunt;
mod log;
mod order;
mod pair;
mod render;
mod room;
mod script;
mod state;
mod steps;
mod wire;

/// What a real etcd 3.4.23 has answered: random sequences.
pub const RECORDED: &str = include_str!("../recorded/etcd-3.4.23.jsonl");

/// The same server, and several clients at the same time.
pub const RECORDED_CROWDS: &str = include_str!("../recorded/etcd-3.4.23-crowds.jsonl");

pub use class::{Class, LEFT_OUT, class};
pub use crowd::{EtcdCrowd, EtcdPace, TimedCall, crowd};
pub use hunt::{EtcdHunt, hunt};
pub use log::{EtcdLog, EtcdPart, EtcdPossible, EtcdVerdict, is_one, judge, read, write, write_crowds};
pub use order::{EtcdOrder, SCAN, order};
pub use pair::{EtcdExchange, EtcdSequence};
pub use script::{EtcdScript, TRIES, shrink};
pub use wire::{EtcdReply, EtcdServer};
