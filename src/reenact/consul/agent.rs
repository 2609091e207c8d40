//! Where the agent is, and how it is configured.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use fencepost_consul::Consul;
use fencepost_live::{HttpRequest, Reply, send};
use fencepost_model::scenario::Scenario;
use serde_json::Value;

use super::drive::perform;
use super::stage::Stage;
use crate::drive::Ended;
use crate::driven::Means;
use crate::error::ServerError;
use crate::plan::ReenactmentPlan;
use crate::run::RealServer;

/// How long the agent may take over a request that does not block.
const PATIENCE: Duration = Duration::from_secs(30);

/// A Consul agent that is driven.
#[derive(Debug)]
pub struct Agent {
    pub(crate) base: String,
    /// Its version.
    pub version: String,
    /// A shell command that restarts it on the same data, and returns when it is ready.
    pub restart: Option<String>,
    /// Where its log was: a lock-delay belongs to a name (C-LD-7), so that no name is used twice.
    position: String,
}

/// How many executions this program has begun.
static EXECUTIONS: AtomicU32 = AtomicU32::new(0);

impl Agent {
    /// The agent at an address like `http://127.0.0.1:8500`.
    ///
    /// # Errors
    /// There is none, or sessions cannot have short TTLs there.
    pub fn connect(address: &str, restart: Option<String>) -> Result<Self, ServerError> {
        let base = address.trim_end_matches('/');
        let base = if base.contains("://") { base.to_owned() } else { format!("http://{base}") };
        let mut agent = Agent { base, version: String::new(), restart, position: String::new() };
        let about = agent.json("GET", "/v1/agent/self", "")?;
        let text = |path: &str| about.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        (agent.version, agent.position) = (text("/Config/Version"), text("/Stats/raft/applied_index"));
        if agent.version.is_empty() {
            return Err(ServerError(format!("{} answers, but not as a Consul agent does", agent.base)));
        }
        if agent.position.is_empty() {
            return Err(ServerError(format!("{} is no server: it does not say where its log is", agent.base)));
        }
        match text("/DebugConfig/SessionTTLMin").as_str() {
            "1s" => Ok(agent),
            least => Err(ServerError(format!(
                "{} refuses sessions with short TTLs (session_ttl_min is {}); start the agent with -hcl 'session_ttl_min = \"1s\"'",
                agent.base,
                if ["", "0s"].contains(&least) { "10s" } else { least },
            ))),
        }
    }

    /// The prefix of keys and the name of one execution; no other one has it.
    pub(crate) fn fresh_name(&self) -> String {
        let execution = EXECUTIONS.fetch_add(1, Ordering::Relaxed);
        format!("{}-{}-{execution}", self.position, std::process::id())
    }

    /// Asks, and waits for the answer.
    pub(crate) fn ask(&self, method: &'static str, path: &str, body: &str) -> Reply {
        let body = body.as_bytes().to_vec();
        send(&self.base, &HttpRequest { method, path: path.to_owned(), body, timeout: PATIENCE })
    }

    /// The same, for a success. 404 is one, and says nothing.
    pub(crate) fn json(&self, method: &'static str, path: &str, body: &str) -> Result<Value, ServerError> {
        let failure = |why: String| ServerError(format!("{method} {}{path}: {why}", self.base));
        match self.ask(method, path, body) {
            Reply::Answered { status: 200, body, .. } => Ok(serde_json::from_slice(&body).unwrap_or_default()),
            Reply::Answered { status: 404, .. } => Ok(Value::Null),
            Reply::Answered { status, body, .. } => {
                Err(failure(format!("{status} {}", String::from_utf8_lossy(&body).trim())))
            }
            Reply::Refused(why) | Reply::Closed(why) => Err(ServerError(why)),
            Reply::Lost => Err(failure("no answer".to_owned())),
        }
    }
}

impl RealServer for Agent {
    type Service = Consul;

    fn name(&self) -> String {
        format!("Consul {}", self.version)
    }

    fn means(&self) -> Means {
        Means { restart: self.restart.is_some(), ..Means::default() }
    }

    fn perform(&self, scenario: &Scenario<Consul>, plan: &ReenactmentPlan<Consul>) -> Result<Ended, ServerError> {
        let stage = Stage::set(self, scenario, plan.schedule.tick)?;
        let ended = perform(plan, &stage);
        stage.strike()?;
        ended
    }
}
