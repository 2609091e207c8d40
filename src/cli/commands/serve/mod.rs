//! `fencepost serve`: a stand-in for a server, for programs that are to be tested.

pub mod by_name;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use clap::{Args, Subcommand};
use fencepost_conform::nanoseconds;
use fencepost_serve::{Clock, EtcdVersion, FaultPlan, Server, Settings, Timers, Verdict};

use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::json::ReadyJson;
use crate::output::{say, say_json};
use crate::supervisor::{stop_on_interrupt, was_interrupted};

#[derive(Args, Debug)]
pub struct Serve {
    #[command(subcommand)]
    service: Service,
}

#[derive(Subcommand, Debug)]
enum Service {
    /// A Consul agent, version 1.8.7, with an empty store
    Consul(Box<Agent>),
    /// The part of a Kubernetes API server that leader election uses: leases of coordination.k8s.io/v1, and none to begin with
    Leases(Box<Shared>),
    /// An etcd server behind its JSON gateway, with an empty store; gRPC is left out
    Etcd(Box<Member>),
}

#[derive(Args, Debug)]
struct Member {
    #[command(flatten)]
    shared: Shared,
    /// The version as which it answers, from 3.4 on: 3.5.16, say
    #[arg(long, default_value_t, value_name = "VERSION")]
    version: EtcdVersion,
    /// When the scan finds a lease that is overdue: earliest, late=500ms or seeded=500ms
    #[arg(long, default_value = "earliest", value_name = "TIMERS")]
    timers: Timers,
}

/// What every stand-in is started with.
#[derive(Args, Debug)]
struct Shared {
    /// Where to listen; port 0 is a free one. The first line on stdout says which [default: 127.0.0.1:0]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// How time passes: real, scaled=100, manual, or auto: to the next deadline whenever every known client waits
    #[arg(long, default_value = "real", value_name = "CLOCK")]
    clock: Clock,
    /// The seed of ids, jitter and lateness
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The fault plan: a file of lines like `on PUT /v1/session/renew/* #3: lose-answer`
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// A client with an address of its own, by its name; may be repeated
    #[arg(long = "client", value_name = "NAME")]
    clients: Vec<String>,
    /// Write the run into this file at the end; that of a Consul agent, as `conform --recorded` reads it
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct Agent {
    #[command(flatten)]
    shared: Shared,
    /// A configuration of a Consul agent, in JSON: ports.http, bind_addr, client_addr, node_name, node_id, datacenter, session_ttl_min
    #[arg(long, value_name = "FILE")]
    config_file: Option<PathBuf>,
    /// How late timers of sessions are, of all that the rules allow: earliest, late=1s, pending=1s or seeded=1s
    #[arg(long, default_value = "earliest", value_name = "TIMERS")]
    timers: Timers,
    /// The shortest TTL of a session [default: 10s]
    #[arg(long, value_name = "DURATION")]
    session_ttl_min: Option<String>,
}

pub fn run(serve: &Serve, common: &Common) -> Result<Exit, CommandError> {
    match &serve.service {
        Service::Consul(agent) => {
            let (settings, listen) = of_agent(agent)?;
            until_stopped(Server::start, settings, &listen, agent.shared.record.as_deref(), common)
        }
        Service::Leases(shared) => {
            let (settings, listen) = shared.settings("leases")?;
            until_stopped(Server::start_leases, settings, &listen, shared.record.as_deref(), common)
        }
        Service::Etcd(member) => {
            let (mut settings, listen) = member.shared.settings("etcd")?;
            (settings.timers, settings.etcd) = (member.timers, member.version);
            until_stopped(Server::start_etcd, settings, &listen, member.shared.record.as_deref(), common)
        }
    }
}

/// How a stand-in is started.
type Start = fn(Settings, &str) -> io::Result<Server>;

/// Serves until a signal comes.
fn until_stopped(
    start: Start,
    settings: Settings,
    listen: &str,
    record: Option<&Path>,
    common: &Common,
) -> Result<Exit, CommandError> {
    stop_on_interrupt();
    let server = start(settings, listen).map_err(|error| CommandError::Input(format!("{listen}: {error}")))?;
    let addresses = server.addresses();
    let clients = addresses.clients.iter().map(|(name, address)| (name.clone(), address.to_string()));
    say_json(&ReadyJson { address: addresses.all.to_string(), clients: clients.collect() });
    // A program that reads this through a pipe waits for it.
    io::stdout().flush().map_err(|error| CommandError::Input(format!("stdout: {error}")))?;
    while !was_interrupted() {
        sleep(Duration::from_millis(20));
        server.news().iter().filter(|_| !common.quiet).for_each(|news| eprintln!("fencepost: {news}"));
    }
    let run = server.stop();
    if let Some(file) = record {
        fs::write(file, run.record).map_err(|error| unreadable(file, &error))?;
    }
    conclude(&run.verdict, common);
    Ok(match run.verdict.name() {
        "violated" => Exit::Unexpected,
        "inconclusive" => Exit::Undecided,
        // Without reports of who is inside there is no verdict, and the server has served all the same.
        _ => Exit::AsExpected,
    })
}

fn conclude(verdict: &Verdict, common: &Common) {
    if common.json {
        say_json(&verdict.json());
    } else if verdict.name() != "vacuous" || !verdict.misuse.is_empty() {
        say(&verdict.to_string());
    }
}

impl Shared {
    /// What the options and the plan say of this server, and where to listen.
    fn settings(&self, server: &str) -> Result<(Settings, String), CommandError> {
        let mut settings = Settings {
            clock: self.clock,
            seed: self.seed,
            clients: self.clients.clone(),
            is_recorded: self.record.is_some(),
            ..Settings::default()
        };
        if let Some(file) = &self.plan {
            let text = fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
            settings.plan = text.parse::<FaultPlan>().map_err(|error| unreadable(file, &error))?;
            settings.plan.suits(server).map_err(|why| unreadable(file, &why))?;
        }
        Ok((settings, self.listen.clone().unwrap_or_else(|| "127.0.0.1:0".to_owned())))
    }
}

/// The same of a Consul agent, with its configuration.
fn of_agent(agent: &Agent) -> Result<(Settings, String), CommandError> {
    let (mut settings, mut listen) = agent.shared.settings("consul")?;
    settings.timers = agent.timers;
    if let Some(file) = &agent.config_file {
        let text = fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
        let read = settings.configure(&text).map_err(|why| unreadable(file, &why))?;
        if agent.shared.listen.is_none() {
            listen = read.listen.unwrap_or(listen);
        }
        if !read.ignored.is_empty() {
            eprintln!("fencepost: {}: ignored: {}", file.display(), read.ignored.join(", "));
        }
    }
    if let Some(least) = &agent.session_ttl_min {
        let least = nanoseconds(least).ok().filter(|least| *least > 0);
        settings.options.session_ttl_min =
            least.ok_or_else(|| CommandError::Input("--session-ttl-min: a duration, as 10s".to_owned()))?;
    }
    Ok((settings, listen))
}

fn unreadable(file: &Path, why: &dyn std::fmt::Display) -> CommandError {
    CommandError::Input(format!("{}: {why}", file.display()))
}
