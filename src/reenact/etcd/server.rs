//! Where the server is, and the commands that the user gives for it. It must be empty: a compaction, a pause and a restart concern each of
//! its users.

use std::process::Command;
use std::time::Duration;

use fencepost_etcd::Etcd;
use fencepost_live::{HttpRequest, Reply, send};
use fencepost_model::scenario::Scenario;
use serde_json::{Value, json};

use super::answers::number;
use super::drive::perform;
use super::requests::bytes;
use super::stage::Stage;
use crate::drive::Ended;
use crate::driven::Means;
use crate::error::ServerError;
use crate::plan::ReenactmentPlan;
use crate::run::RealServer;

/// How long the server may take over a request.
const PATIENCE: Duration = Duration::from_secs(30);

/// Shell commands for the server.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EtcdCommands {
    /// Kills it, starts it on the same data, and returns when it is ready.
    pub restart: Option<String>,
    /// Stops its process (SIGSTOP), and lets it go on (SIGCONT).
    pub pause: Option<(String, String)>,
}

/// An etcd server that is driven.
#[derive(Debug)]
pub struct DrivenEtcd {
    pub(super) base: String,
    /// Its version.
    pub version: String,
    pub(super) commands: EtcdCommands,
}

impl DrivenEtcd {
    /// The server at an address like `http://127.0.0.1:2379`.
    ///
    /// # Errors
    /// There is none, or it is not clearly empty.
    pub fn connect(address: &str, commands: EtcdCommands) -> Result<Self, ServerError> {
        let base = address.trim_end_matches('/');
        let base = if base.contains("://") { base.to_owned() } else { format!("http://{base}") };
        let mut server = DrivenEtcd { base, version: String::new(), commands };
        let about = match server.send("GET", "/version", "") {
            Reply::Refused(why) | Reply::Closed(why) => return Err(ServerError(why)),
            reply => body(&reply),
        };
        server.version = about["etcdserver"].as_str().unwrap_or_default().to_owned();
        if server.version.is_empty() {
            return Err(ServerError(format!("{} answers, but not as etcd does", server.base)));
        }
        server.must_be_empty()?;
        Ok(server)
    }

    /// A server is used if it says clearly that it has no key and no lease.
    fn must_be_empty(&self) -> Result<(), ServerError> {
        let all = json!({"key": bytes("\0"), "range_end": bytes("\0"), "count_only": true});
        let found = self.json("/v3/kv/range", &all)?;
        // E-GEN-4: a count of 0 is left out.
        let count = match &found["count"] {
            Value::Null if number(&found["header"]["revision"]).is_some() => Some(0),
            count => number(count),
        };
        let count = count
            .ok_or_else(|| ServerError(format!("{} does not say clearly how many keys it has: {found}", self.base)))?;
        let leases = self.leases()?.len();
        if count == 0 && leases == 0 {
            return Ok(());
        }
        Err(ServerError(format!(
            "the etcd server at {} is in use: it has {count} keys and {leases} leases. Compactions, pauses and restarts would concern its users: start one that is empty",
            self.base
        )))
    }

    /// The ids of all leases.
    pub(super) fn leases(&self) -> Result<Vec<i64>, ServerError> {
        let found = self.json("/v3/lease/leases", &json!({}))?;
        if number(&found["header"]["revision"]).is_none() {
            return Err(ServerError(format!("{} does not say clearly which leases it has: {found}", self.base)));
        }
        let leases = found["leases"].as_array().into_iter().flatten();
        let ids: Option<Vec<i64>> = leases.map(|lease| number(&lease["ID"])).collect();
        ids.ok_or_else(|| ServerError(format!("{} does not say clearly which leases it has: {found}", self.base)))
    }

    fn send(&self, method: &'static str, path: &str, body: &str) -> Reply {
        let body = body.as_bytes().to_vec();
        send(&self.base, &HttpRequest { method, path: path.to_owned(), body, timeout: PATIENCE })
    }

    /// Asks, and waits for the answer, whatever it is.
    pub(super) fn reply(&self, path: &str, question: &Value) -> Result<(u16, Value), ServerError> {
        match self.send("POST", path, &question.to_string()) {
            Reply::Refused(why) | Reply::Closed(why) => Err(ServerError(why)),
            Reply::Lost => Err(ServerError(format!("{}{path}: no answer", self.base))),
            reply @ Reply::Answered { status, .. } => Ok((status, body(&reply))),
        }
    }

    /// The same for a success.
    pub(super) fn json(&self, path: &str, question: &Value) -> Result<Value, ServerError> {
        match self.reply(path, question)? {
            (200, body) => Ok(body),
            (status, body) => Err(ServerError(format!("{}{path}: {status} {body}", self.base))),
        }
    }

    /// Runs a command of the user.
    pub(super) fn run(command: &str) -> Result<(), ServerError> {
        let failure = |why: String| ServerError(format!("`{command}`: {why}"));
        let output = Command::new("sh").args(["-c", command]).output().map_err(|error| failure(error.to_string()))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(failure(format!("{}: {said}", output.status)))
    }
}

fn body(reply: &Reply) -> Value {
    match reply {
        Reply::Answered { body, .. } => serde_json::from_slice(body).unwrap_or_default(),
        Reply::Refused(_) | Reply::Closed(_) | Reply::Lost => Value::Null,
    }
}

impl RealServer for DrivenEtcd {
    type Service = Etcd;

    fn name(&self) -> String {
        format!("etcd {}", self.version)
    }

    fn means(&self) -> Means {
        let EtcdCommands { restart, pause } = &self.commands;
        Means { restart: restart.is_some(), pause: pause.is_some(), ..Means::default() }
    }

    fn perform(&self, scenario: &Scenario<Etcd>, plan: &ReenactmentPlan<Etcd>) -> Result<Ended, ServerError> {
        let stage = Stage::set(self, scenario)?;
        let ended = perform(plan, scenario, &stage);
        stage.strike()?;
        ended
    }
}
