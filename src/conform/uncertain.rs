//! What a log leaves open. Each of it widens what is possible, and is listed with the verdict.

use std::fmt;

use super::consul::{Agent, HttpRequest};
use super::judge::is_in_doubt;
use super::log::{Episode, EventKind, LogRecord};
use super::versions::ModelledServer;

/// The version whose rules the model follows.
pub const VERSION: &str = "1.8.7";

/// Something that a log leaves open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Uncertainty {
    /// The store was not empty at the beginning.
    Beginning,
    /// Clients write that are not in the log.
    Others,
    /// Requests whose bodies are unknown.
    Bodies(usize),
    /// Answers whose bodies are unknown.
    Answers(usize),
    /// Requests without an answer, or with one that does not say whether they were carried out.
    InDoubt(usize),
    /// How far stamps may be off, in nanoseconds.
    Stamps(i64),
    /// Requests without instants.
    Untimed(usize),
    /// Servers restarted, or another one came to lead.
    Restarts(usize),
    /// The store was set back to a snapshot.
    Restores(usize),
    /// A node failed or left.
    NodeFailed(String),
    /// Requests to endpoints that the model does not have, and that may end sessions.
    UnknownWrites(usize),
    /// Requests that were refused for lack of permissions.
    Refused(usize),
    /// Requests that the recorder refused itself.
    NotPassedOn(usize),
    /// Another version than the model's.
    Version(String),
}

impl fmt::Display for Uncertainty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Uncertainty::Beginning => f.write_str("the content of the store at the beginning is unknown"),
            Uncertainty::Others => f.write_str("clients write that are not in the log"),
            Uncertainty::Bodies(count) => write!(f, "the bodies of {count} requests are unknown"),
            Uncertainty::Answers(count) => write!(f, "the bodies of {count} answers are unknown"),
            Uncertainty::InDoubt(count) => {
                write!(f, "no answer says whether {count} requests were carried out")
            }
            Uncertainty::Stamps(off) => write!(f, "stamps may be off by {} ms", off / 1_000_000),
            Uncertainty::Untimed(count) => {
                write!(f, "{count} requests have no instants: each is taken to follow the one before")
            }
            Uncertainty::Restarts(count) => {
                write!(f, "servers restarted or failed over {count} times: timers began anew")
            }
            Uncertainty::Restores(count) => {
                write!(f, "snapshots were restored {count} times: nothing before one tells of anything after it")
            }
            Uncertainty::NodeFailed(node) => write!(f, "node {node} failed: its sessions may have ended"),
            Uncertainty::UnknownWrites(count) => {
                write!(f, "{count} requests to endpoints that the model does not have may have ended sessions")
            }
            Uncertainty::Refused(count) => write!(f, "{count} requests were refused for lack of permissions"),
            Uncertainty::NotPassedOn(count) => {
                write!(
                    f,
                    "the recorder refused {count} requests itself: no server has seen them, and they are not judged"
                )
            }
            Uncertainty::Version(version) => {
                write!(f, "the log is of Consul {version}, and the rules are those of {VERSION}")
            }
        }
    }
}

/// What a log leaves open.
pub fn uncertainties(episodes: &[Episode]) -> Vec<Uncertainty> {
    let mut found = Vec::new();
    let any = |is_so: &dyn Fn(&Episode) -> bool| episodes.iter().any(is_so);
    let count = |is_so: &dyn Fn(&Episode, &LogRecord) -> bool| -> usize {
        episodes.iter().map(|episode| episode.lines.iter().filter(|line| is_so(episode, line)).count()).sum()
    };
    let events = |is_so: &dyn Fn(&EventKind) -> bool| -> usize {
        episodes.iter().flat_map(|episode| &episode.events).filter(|event| is_so(&event.kind)).count()
    };
    let mut add = |count: usize, uncertainty: &dyn Fn(usize) -> Uncertainty| {
        if count > 0 {
            found.push(uncertainty(count));
        }
    };
    add(any(&|episode| episode.begins_later).into(), &|_| Uncertainty::Beginning);
    add(any(&|episode| episode.gaps.others_write).into(), &|_| Uncertainty::Others);
    add(count(&|_, line| line.details.lacks_body), &Uncertainty::Bodies);
    add(count(&|_, line| line.details.lacks_answer), &Uncertainty::Answers);
    let is_open = |line: &LogRecord| line.question.method != "GET" && line.reply.as_ref().is_none_or(is_in_doubt);
    add(count(&|_, line| is_open(line)), &Uncertainty::InDoubt);
    let stamps = episodes.iter().map(|episode| episode.gaps.stamps).max().unwrap_or(0);
    add((stamps > 0).into(), &|_| Uncertainty::Stamps(stamps));
    add(count(&|_, line| !line.is_timed), &Uncertainty::Untimed);
    add(events(&|kind| matches!(kind, EventKind::Restart | EventKind::Failover)), &Uncertainty::Restarts);
    let restores = count(&|_, line| is_restore(&line.question));
    add(events(&|kind| *kind == EventKind::Restore) + restores, &Uncertainty::Restores);
    add(count(&|_, line| may_end_sessions(&line.question)), &Uncertainty::UnknownWrites);
    add(count(&|episode, line| is_refused(episode, line)), &Uncertainty::Refused);
    add(events(&|kind| matches!(kind, EventKind::NotPassedOn(_))), &Uncertainty::NotPassedOn);
    for event in episodes.iter().flat_map(|episode| &episode.events) {
        if let EventKind::NodeFailed(node) = &event.kind {
            found.push(Uncertainty::NodeFailed(node.clone()));
        }
    }
    let mut versions: Vec<&str> = episodes.iter().map(|episode| episode.version.as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    let is_other = |version: &&str| !ModelledServer::CONSUL.is_known(version);
    found.extend(versions.into_iter().filter(is_other).map(|version| Uncertainty::Version(version.to_owned())));
    found
}

/// Whether a log says everything that the model needs to carry its requests out.
pub fn is_complete(episode: &Episode) -> bool {
    let is_open = |line: &LogRecord| {
        line.details.lacks_body
            || line.details.lacks_answer
            || may_end_sessions(&line.question)
            || is_restore(&line.question)
            || is_refused(episode, line)
    };
    !(episode.begins_later || episode.gaps.others_write)
        && episode.events.iter().all(|event| is_searched(episode, &event.kind))
        && !episode.lines.iter().any(is_open)
}

/// Whether a search can carry an event out: a node fails that the head knows, or the servers have nothing to do with it.
fn is_searched(episode: &Episode, kind: &EventKind) -> bool {
    match kind {
        EventKind::NodeFailed(node) => episode.nodes.contains(node),
        EventKind::NotPassedOn(_) => true,
        EventKind::Restart | EventKind::Failover | EventKind::Restore => false,
    }
}

/// C-GEN-5: 403, where servers know of permissions: it was not carried out.
pub fn is_refused(episode: &Episode, line: &LogRecord) -> bool {
    episode.gaps.has_acl && line.reply.as_ref().is_some_and(|reply| reply.status == 403)
}

/// C-LD-13: a request that sets the store back.
pub fn is_restore(question: &HttpRequest) -> bool {
    question.method == "PUT" && path(question) == "/v1/snapshot"
}

/// Endpoints that the model does not have, and that touch neither keys nor sessions, nor what sessions hang on.
const BESIDE: [&str; 12] = [
    "/v1/acl",
    "/v1/config",
    "/v1/connect",
    "/v1/coordinate",
    "/v1/discovery-chain",
    "/v1/event",
    "/v1/agent/token",
    "/v1/agent/reload",
    "/v1/agent/connect",
    "/v1/operator/autopilot",
    "/v1/operator/keyring",
    "/v1/query/",
];

/// Whether a request is for what the model does not have, and changes nothing that it has: its answer is not judged.
pub fn is_beside(line: &LogRecord) -> bool {
    let is_known = line.reply.as_ref().is_none_or(|reply| reply.status == 404) || Agent::knows(&line.question);
    !is_known && (line.question.method == "GET" || is_harmless(&line.question))
}

fn is_harmless(question: &HttpRequest) -> bool {
    BESIDE.iter().any(|start| path(question).starts_with(start))
}

/// Whether a request is for what the model does not have, and may end sessions: agents' services and checks, agents that leave.
pub fn may_end_sessions(question: &HttpRequest) -> bool {
    question.method != "GET" && !Agent::knows(question) && !is_harmless(question) && !is_restore(question)
}

fn path(question: &HttpRequest) -> &str {
    question.url.split('?').next().unwrap_or_default()
}
