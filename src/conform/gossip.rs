//! A second agent whose node fails: it is killed without a word, gossip notices after a while, and the server calls its `serfHealth`
//! critical. Sessions that are bound to that end (C-INV-4). It is started and killed by commands that the user gives.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::consul::{HttpRequest, Reply};
use super::error::ConformError;
use super::guard::MARK;
use super::log::{Episode, Event, EventKind, LogRecord, number};
use super::restart::shell;
use super::wire::{Consul, get, put};

/// How long gossip may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// An agent in client mode that has joined.
#[derive(Clone, Debug)]
pub struct Second {
    /// The name of its node.
    pub node: String,
    pub(super) base: String,
    start: String,
    kill: String,
}

impl Consul {
    /// Starts a second agent by a shell command that prints its address; another one kills it.
    ///
    /// # Errors
    /// It does not come up, or is not of this datacenter.
    pub fn join(&mut self, start: &str, kill: &str) -> Result<(), ConformError> {
        let printed = shell(start)?;
        let other = Consul::connect(printed.trim())?;
        let (start, kill) = (start.to_owned(), kill.to_owned());
        let second = Second { node: other.node, base: other.base, start, kill };
        if second.node == self.node {
            return Err(ConformError(format!("`{}` starts an agent of the same node, {}", second.start, second.node)));
        }
        self.until_node_is(&second.node, "passing")?;
        self.second = Some(second);
        Ok(())
    }

    /// Kills the second agent.
    pub(super) fn kill(&self, second: &Second) -> Result<(), ConformError> {
        shell(&second.kill).map(drop)
    }

    /// Starts the second agent again, and waits until gossip knows that it is well.
    pub(super) fn revive(&self, second: &Second) -> Result<(), ConformError> {
        shell(&second.start)?;
        self.until_node_is(&second.node, "passing")
    }

    /// Waits until gossip's opinion of a node is in the catalogue.
    pub(super) fn until_node_is(&self, node: &str, status: &str) -> Result<(), ConformError> {
        let end = Instant::now() + PATIENCE;
        let is_so = || -> Result<bool, ConformError> {
            let reply = self.ask(&get(&format!("/v1/health/node/{node}")))?;
            let checks: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
            let mut checks = checks.as_array().into_iter().flatten();
            Ok(checks.any(|check| check["CheckID"] == "serfHealth" && check["Status"] == status))
        };
        while !is_so()? {
            if Instant::now() >= end {
                return Err(ConformError(format!("gossip does not call node {node} {status} within {PATIENCE:?}")));
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Asks the second agent.
    pub(super) fn ask_second(&self, second: &Second, question: &HttpRequest) -> Result<Reply, ConformError> {
        self.ask_at(&second.base, question)
    }
}

/// What gossip's opinion of a node is in the catalogue, as a request. C-INV-4: a failed node has a critical check, and nothing else changes.
pub(super) fn opinion(node: &str, status: &str) -> HttpRequest {
    let check = json!({"Node": node, "CheckID": "serfHealth", "Name": "Serf Health Status", "Status": status});
    let body = json!({"Node": node, "Address": "127.0.0.1", "SkipNodeUpdate": true, "Check": check});
    put("/v1/catalog/register", body.to_string())
}

/// The conversation of a run.
struct Desk<'a> {
    consul: &'a Consul,
    second: &'a Second,
    began: Instant,
    tree: String,
    lines: Vec<LogRecord>,
}

/// Kills the second agent while its sessions hold locks, and watches them pass on: an episode with the event `node-failed`, to be judged.
/// None without a second agent.
///
/// # Errors
/// One of the agents cannot be talked to.
pub fn node_fails(consul: &Consul, lateness: i64) -> Result<Option<Episode>, ConformError> {
    let Some(second) = &consul.second else { return Ok(None) };
    consul.clean()?;
    let tree = format!("fencepost/{}-gossip/", consul.position()?);
    let mut desk = Desk { consul, second, began: Instant::now(), tree, lines: Vec::new() };
    let killed = desk.play();
    // Whatever has happened, it is to be there again.
    consul.revive(second)?;
    let (sent, received) = killed?;
    desk.after()?;
    consul.clean()?;
    let event = Event { number: 0, kind: EventKind::NodeFailed(second.node.clone()), sent, received };
    let mut episodes = vec![Episode {
        node: consul.node.clone(),
        nodes: vec![second.node.clone()],
        options: consul.options,
        lateness: Some(lateness),
        lines: desk.lines,
        events: vec![event],
        ..Episode::default()
    }];
    number(&mut episodes);
    Ok(episodes.pop())
}

impl Desk<'_> {
    fn now(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_nanos()).expect("no run takes centuries")
    }

    fn ask(&mut self, question: HttpRequest) -> Result<Value, ConformError> {
        self.ask_one(question, false)
    }

    fn ask_one(&mut self, question: HttpRequest, of_second: bool) -> Result<Value, ConformError> {
        let sent = self.now();
        let reply = match of_second {
            true => self.consul.ask_second(self.second, &question)?,
            false => self.consul.ask(&question)?,
        };
        let received = self.now();
        let answer = serde_json::from_slice(&reply.body).unwrap_or_default();
        let mut line = LogRecord::new(0, question, reply, (sent, received));
        line.details.agent = of_second.then(|| self.second.node.clone());
        self.lines.push(line);
        Ok(answer)
    }

    fn session(&mut self, requested: Value, of_second: bool) -> Result<String, ConformError> {
        let mut requested = requested;
        requested["Name"] = json!(MARK);
        let answer = self.ask_one(put("/v1/session/create", requested.to_string()), of_second)?;
        Ok(answer["ID"].as_str().unwrap_or_default().to_owned())
    }

    fn acquire(&mut self, key: &str, session: &str) -> Result<bool, ConformError> {
        let url = format!("/v1/kv/{}{key}?acquire={session}", self.tree);
        Ok(self.ask(put(&url, "x"))? == json!(true))
    }

    /// Asks again and again until it is so.
    fn until(&mut self, mut is_so: impl FnMut(&mut Self) -> Result<bool, ConformError>) -> Result<(), ConformError> {
        let end = Instant::now() + PATIENCE;
        while !is_so(self)? {
            if Instant::now() >= end {
                return Err(ConformError(format!("gossip does not notice within {PATIENCE:?} that a node has failed")));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// When the agent was killed, between two instants.
    fn play(&mut self) -> Result<(i64, i64), ConformError> {
        let node = self.second.node.clone();
        // By default a session is bound to gossip's opinion of its node; without checks it outlives that.
        let releases = self.session(json!({"Node": node, "LockDelay": "1s"}), false)?;
        let deletes = self.session(json!({"LockDelay": "0s", "Behavior": "delete"}), true)?;
        let unbound = self.session(json!({"Node": node, "NodeChecks": [], "LockDelay": "0s"}), false)?;
        let other = self.session(json!({"LockDelay": "0s"}), false)?;
        for (key, session) in [("a", &releases), ("b", &deletes), ("c", &unbound)] {
            self.acquire(key, session)?;
        }
        let sent = self.now();
        self.consul.kill(self.second)?;
        let killed = (sent, self.now());
        // Until gossip notices, the lock is held.
        self.until(|desk| {
            desk.acquire("a", &other)?;
            let alive = desk.ask(get(&format!("/v1/session/info/{releases}")))?;
            Ok(alive == json!([]))
        })?;
        for key in ["a", "b", "c"] {
            let url = format!("/v1/kv/{}{key}", self.tree);
            self.ask(get(&url))?;
        }
        self.ask(get(&format!("/v1/health/node/{node}")))?;
        self.ask(get("/v1/session/list"))?;
        self.until(|desk| desk.acquire("a", &other))?;
        for key in ["b", "c"] {
            self.acquire(key, &other)?;
        }
        // No session can be bound to its check before it is back.
        self.session(json!({"Node": node}), false)?;
        Ok(killed)
    }

    /// The agent is back.
    fn after(&mut self) -> Result<(), ConformError> {
        let node = self.second.node.clone();
        self.ask(get(&format!("/v1/health/node/{node}")))?;
        self.session(json!({"LockDelay": "0s"}), true)?;
        self.ask(get("/v1/session/list"))?;
        Ok(())
    }
}
