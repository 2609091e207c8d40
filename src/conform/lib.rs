//! The model held against the real thing: random commands go to the model and to a Consul agent, and the answers must be the
//! same, up to ids and to gaps between log positions (C-GEN-4). And logs of requests and answers, held against the model.
//!
//! ```text
//! commands      what may be asked, as symbols      hunt        random sequences, shrunk where they differ
//! sequence      one of them, on both sides         requests    what its commands ask for
//! wire          requests to a real agent            gossip      a second agent whose node fails
//! agent_checks  checks that the agent keeps        restart     restarts of the server
//! timed         TTLs and lock-delays, by script    crowds      several clients at the same time
//! watches       blocking queries                   tally       which answers came up
//! races         of timers, that a run has hit
//! log           requests and answers in a file     judge       whether they are possible
//! uncertain     what a log leaves open             incomplete  logs that do not say everything
//! clients       what a log says of its clients     verdict     what can be said of a log
//! record        a proxy that writes such logs      guard       what may be removed from an agent
//! consul        the HTTP API of the model          amqp        the same for RabbitMQ
//! etcd          the same for etcd                  side_by_side  work on all cores
//! versions      those that the models know          unexercised  rules that never came up
//! error         what keeps all of it from being done
//! ```

mod agent_checks;
pub mod amqp;
mod clients;
mod commands;
mod consul;
mod crowds;
mod error;
pub mod etcd;
mod gossip;
mod guard;
mod hunt;
mod incomplete;
mod judge;
mod log;
mod races;
mod record;
mod requests;
mod restart;
mod sequence;
mod side_by_side;
mod tally;
mod timed;
mod uncertain;
mod unexercised;
mod verdict;
mod versions;
mod watches;
mod wire;

/// What a real Consul 1.8.7 has answered: random sequences, and what takes real time.
pub const RECORDED: &str = include_str!("recorded/consul-1.8.7.jsonl");

pub use clients::{
    BeliefInterval, Clients, Ending, Finding, Kind, Omission, Stopped, Tenure, UNSEEN, clients, picture,
};
pub use consul::{
    Agent, BodyShape, Class, Contact, Expected, Hint, HttpRequest, NameLimitError, Options, Reply, SECOND, Sleep,
    Waking, Watch, nanoseconds,
};
pub use crowds::{Pace, crowd, slow_crowds};
pub use error::{ConformError, LogError};
pub use gossip::{Second, node_fails};
pub use guard::{Contents, Removal};
pub use hunt::{Found, hunt};
pub use judge::{Limits, judge, judge_until};
pub use log::{Details, Episode, Event, EventKind, Gaps, LogRecord, RefusedRequest, Report, number, read, write};
pub use races::Race;
pub use record::{CLIENT_HEADER, Recorder};
pub use sequence::Exchange;
pub use tally::{AnswerClass, Histogram, Tally};
pub use timed::{LATENESS, TIMED_RULES, timed, timed_races};
pub use uncertain::{Uncertainty, uncertainties};
pub use unexercised::Unexercised;
pub use verdict::{Impossible, Objection, Possible};
pub use versions::ModelledServer;
pub use watches::{Missed, Watched, watches};
pub use wire::Consul;
