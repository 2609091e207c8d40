//! The model of etcd's store held against a real server, over the JSON gateway: random calls go to both, and the answers must be the same,
//! up to the ids of cluster and member and to the term (etcd.md, section 9). And logs of calls and answers, held against the model.
//!
//! ```text
//! class  classes of answers        wire    a server, answers without what is fresh
//! bodies calls as requests         cluster the members of a cluster
//! draw   random calls              render  what the model answers, as the gateway writes it
//! hunt   sequences, shrunk         pair    one sequence, on both sides
//! room   what may be removed       log     calls and answers in a file
//! crowd  several clients at once   order   whether there is an order of what overlaps
//! state  a beginning of such an order      script  what a crowd does, drawn, and made smaller
//! steps  what may come next after it                contend  the same of locks and campaigns
//! members  several members, and which of them led when
//! draw_beside  random calls of a client among others
//! past     calls that do not make the members of a cluster differ     own_leases  the same of members that are restarted
//! untold   rules of which no answer tells
//! streams  the streams of watches
//! leaders  the rules of leader changes, one after the other
//! ```

mod bodies;
mod class;
mod cluster;
mod contend;
mod crowd;
mod draw;
mod draw_beside;
mod hunt;
mod leaders;
mod log;
mod members;
mod order;
mod own_leases;
mod pair;
mod past;
mod render;
mod room;
mod script;
mod state;
mod steps;
mod streams;
mod untold;
mod wire;

/// What a real etcd 3.4.23 has answered: random sequences.
pub const RECORDED: &str = include_str!("../recorded/etcd-3.4.23.jsonl");

/// What a real etcd 3.5.16 has answered: random sequences, and several clients at the same time.
pub const RECORDED_LATER: &str = include_str!("../recorded/etcd-3.5.16.jsonl");

/// The server of 3.4.23, and several clients at the same time.
pub const RECORDED_CROWDS: &str = include_str!("../recorded/etcd-3.4.23-crowds.jsonl");

pub use class::{Class, LEFT_OUT, class};
pub use cluster::{EtcdChange, EtcdCluster};
pub use crowd::{EtcdCrowd, EtcdPace, TimedCall, crowd, crowd_of_cluster};
pub use hunt::{EtcdHunt, hunt};
pub use leaders::{LEADERS_LEFT_OUT, LeaderRule, leader_rules};
pub use log::{EtcdLog, EtcdPart, EtcdPossible, EtcdVerdict, is_one, judge, read, write, write_crowds};
pub use members::ELECTION;
pub use order::{EtcdOrder, SCAN, order};
pub use pair::{EtcdExchange, EtcdSequence};
pub use script::{EtcdScript, TRIES, shrink};
pub use untold::UNTOLD;
pub use wire::{EtcdReply, EtcdServer};
