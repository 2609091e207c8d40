//! `fencepost conform`: the model held against real servers.

mod consul;
mod crowds;
mod etcd;
mod etcd_crowds;
mod leaders;
mod rabbitmq;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgGroup, Args};
use fencepost_conform::{Unexercised, amqp, nanoseconds};

use crate::args::{Common, some_time};
use crate::exit::{CommandError, Exit};
use crate::json;
use crate::output::{say, say_json};

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("server or log").args(["consul", "rabbitmq", "etcd", "recorded"]).required(true))]
pub struct Conform {
    /// Where a Consul agent listens, as http://127.0.0.1:8500; it must be empty
    #[arg(long, value_name = "URL")]
    consul: Option<String>,
    /// Where a RabbitMQ broker listens, as amqp://127.0.0.1:5672; the user is guest, and the queues are its own
    #[arg(long, value_name = "URL")]
    rabbitmq: Option<String>,
    /// Where an etcd server listens, as http://127.0.0.1:2379; it must be empty. With --members: where each member of a cluster listens, with commas
    /// between them
    #[arg(long, value_name = "URL", conflicts_with = "restart")]
    etcd: Option<String>,
    /// A log of requests and responses to judge, of a Consul agent, of a broker, or of an etcd server
    #[arg(long, value_name = "FILE")]
    recorded: Option<PathBuf>,
    /// The number of commands to send, each with a response to compare
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    commands: u64,
    /// How many requests to send to Consul, or to etcd, from several clients at the same time [default: half of --commands]; a batch of Consul
    /// that is not judged in 60 s (--timeout) counts as undecided
    #[arg(long, value_name = "N")]
    concurrent: Option<u64>,
    /// A shell command that restarts the server, whose data must outlast it. It is run once among 1,000 commands to Consul, which then cannot be
    /// recorded, or once among 50 sequences of --traffic
    #[arg(long, value_name = "COMMAND", conflicts_with = "recorded")]
    restart: Option<String>,
    /// A shell command that operates the members of an etcd cluster, whose places count from 1: `pause 2`, `resume 2`, `restart 2`, `restart` and
    /// `transfer 2` are appended to it. Members are stopped and restarted, and the rules of leader changes are tried
    #[arg(long, value_name = "COMMAND", requires = "etcd")]
    members: Option<String>,
    /// A shell command that starts a second agent, which joins the one at --consul, and prints its address. Its node fails once among 1,000
    /// commands, and once more while its sessions hold locks
    #[arg(long, value_name = "COMMAND", requires = "consul", requires = "kill_second", conflicts_with = "restart")]
    second: Option<String>,
    /// A shell command that kills the second agent without a word; --second starts it again
    #[arg(long, value_name = "COMMAND", requires = "second")]
    kill_second: Option<String>,
    /// How many methods to send to RabbitMQ besides, with messages and consumers, on several channels at the same time, with heartbeats now and then
    #[arg(long, default_value_t = 0, value_name = "N", requires = "rabbitmq")]
    traffic: u64,
    /// How many blocking queries of Consul to try
    #[arg(long, default_value_t = 60, value_name = "N")]
    watches: u32,
    /// The seed from which commands are drawn
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write requests and responses into this file, as --recorded reads them; sequences with very large values are left out
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// How late the timers of a Consul server, of a RabbitMQ broker in --traffic, or of etcd's scan of leases, may be, as 900ms; `any` for no
    /// bound [default: 900ms; of a log of Consul or of RabbitMQ, what it says itself, or any]
    #[arg(long, value_name = "DURATION", value_parser = lateness)]
    lateness: Option<Lateness>,
    /// Stop judging a log, or a batch of concurrent requests, of Consul after this time, as 90s or 5m, or in seconds
    #[arg(long, value_name = "DURATION", value_parser = some_time)]
    timeout: Option<Duration>,
    /// Judge a log of Consul with at most N states in memory
    #[arg(long, value_name = "N")]
    max_states: Option<usize>,
    /// Judge the clients of a log of Consul, too: which client believed that it held a lock, and whether it did
    #[arg(long, requires = "recorded")]
    clients: bool,
    /// A key that the lock protects; may be repeated [default: every key on which no lock is acquired]
    #[arg(long, value_name = "KEY", requires = "clients")]
    protects: Vec<String>,
    /// Remove everything from the agent first, even data of other programs
    #[arg(long, conflicts_with = "clean")]
    wipe: bool,
    /// First remove the leftovers of a killed run, recognised by their names, and nothing else. AMQP lists no queues: of a broker those of a run
    /// with the same seed are found, and with --rabbitmqctl those of any run
    #[arg(long)]
    clean: bool,
    /// A shell command that is rabbitmqctl for the broker; arguments are appended to it
    #[arg(long, value_name = "COMMAND", requires = "rabbitmq", requires = "clean")]
    rabbitmqctl: Option<String>,
}

/// How late timers may be, in nanoseconds; none: for ever.
#[derive(Copy, Clone, Debug)]
struct Lateness(Option<i64>);

impl Lateness {
    /// In milliseconds, rounded up: a bound that is too small would make possible logs impossible.
    fn milliseconds(self) -> Option<u32> {
        let milliseconds = |lateness: i64| u32::try_from(lateness.saturating_add(999_999) / 1_000_000);
        self.0.map(|lateness| milliseconds(lateness).unwrap_or(u32::MAX))
    }
}

fn lateness(text: &str) -> Result<Lateness, String> {
    if text == "any" {
        return Ok(Lateness(None));
    }
    match nanoseconds(text)? {
        lateness if lateness < 0 => Err("no timer is early; give 0s, a longer time, or `any`".to_owned()),
        lateness => Ok(Lateness(Some(lateness))),
    }
}

/// What a run or a log is about.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Server {
    Consul,
    Rabbitmq,
    Etcd,
}

impl Server {
    /// Refuses options that would make no difference.
    fn refuse_others(self, conform: &Conform) -> Result<(), CommandError> {
        use Server::{Consul, Etcd, Rabbitmq};
        let is_log = conform.recorded.is_some();
        let given: [(&str, bool, &[Server]); 8] = [
            ("lateness", conform.lateness.is_some(), &[Consul, Rabbitmq, Etcd]),
            ("timeout", conform.timeout.is_some(), &[Consul]),
            ("max-states", conform.max_states.is_some(), if is_log { &[Consul] } else { &[] }),
            ("clients", conform.clients, &[Consul]),
            ("concurrent", conform.concurrent.is_some(), if is_log { &[] } else { &[Consul, Etcd] }),
            ("wipe", conform.wipe, if is_log { &[] } else { &[Consul, Etcd] }),
            ("clean", conform.clean, if is_log { &[] } else { &[Consul, Rabbitmq, Etcd] }),
            ("record", conform.record.is_some(), if is_log { &[] } else { &[Consul, Rabbitmq, Etcd] }),
        ];
        let name = match self {
            Consul => "Consul",
            Rabbitmq => "RabbitMQ",
            Etcd => "etcd",
        };
        let what = if is_log { format!("a log of {name}") } else { format!("a run with {name}") };
        let ignored = given.iter().find(|(_, is_given, servers)| *is_given && !servers.contains(&self));
        ignored.map_or(Ok(()), |(option, ..)| Err(CommandError::Input(format!("--{option} has no effect on {what}"))))
    }
}

pub fn run(conform: &Conform, common: &Common) -> Result<Exit, CommandError> {
    if conform.restart.is_some() && conform.consul.is_some() && conform.record.is_some() {
        return Err(CommandError::Input("no log of Consul has restarts: leave out --restart or --record".to_owned()));
    }
    if let Some(address) = &conform.etcd {
        Server::Etcd.refuse_others(conform)?;
        return etcd::live(conform, address, common);
    }
    match (&conform.recorded, &conform.consul, &conform.rabbitmq) {
        (Some(file), _, _) => recorded(conform, file, common),
        (None, Some(address), _) => {
            Server::Consul.refuse_others(conform)?;
            consul::live(conform, address, common)
        }
        (None, None, Some(address)) => {
            Server::Rabbitmq.refuse_others(conform)?;
            if conform.lateness.is_some() && conform.traffic == 0 {
                let why = "--lateness has no effect on a run with RabbitMQ without --traffic: nothing else has timers";
                return Err(CommandError::Input(why.to_owned()));
            }
            rabbitmq::live(conform, address, common)
        }
        (None, None, None) => {
            Err(CommandError::Input("one of --consul URL, --rabbitmq URL, --etcd URL or --recorded FILE".to_owned()))
        }
    }
}

/// A log against the model of whatever it is a log of.
fn recorded(conform: &Conform, file: &Path, common: &Common) -> Result<Exit, CommandError> {
    let text = fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
    if fencepost_conform::etcd::is_one(&text) {
        Server::Etcd.refuse_others(conform)?;
        etcd::recorded(conform, file, &text, common)
    } else if amqp::is_one(&text) || amqp::traffic::is_one(&text) {
        Server::Rabbitmq.refuse_others(conform)?;
        rabbitmq::recorded(conform, file, &text, common)
    } else {
        Server::Consul.refuse_others(conform)?;
        consul::recorded(conform, file, &text, common)
    }
}

fn unreadable(file: &Path, why: &dyn std::fmt::Display) -> CommandError {
    CommandError::Input(format!("{}: {why}", file.display()))
}

/// A verdict on a log, as JSON where that is wanted.
fn tell(judged: &json::LogVerdictJson<'_>, common: &Common) {
    if common.json {
        say_json(judged);
    }
}

/// The rules that a run has not exercised.
fn tell_unexercised(open: &Unexercised, common: &Common) {
    if common.json {
        say_json(&json::UnexercisedRulesJson { never_exercised: &open.never, untold: &open.untold });
    } else if !common.quiet {
        say(&open.to_string());
    }
}

/// A warning that comes with a verdict.
fn warn(warning: Option<&str>, common: &Common) {
    if let Some(warning) = warning {
        conclude(&format!("Warning: {warning}.\n"), common);
    }
}

/// A sentence for people.
fn conclude(text: &str, common: &Common) {
    if common.json {
        eprint!("{text}");
    } else {
        say(text);
    }
}
