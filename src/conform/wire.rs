//! Requests to a real Consul agent.

use std::time::Duration;

use super::consul::{Contact, HttpRequest, Options, Reply, nanoseconds};
use serde_json::Value;
use ureq::http::Request;

use super::error::ConformError;
use super::gossip::Second;

/// A running Consul agent.
#[derive(Clone)]
pub struct Consul {
    pub(super) base: String,
    http: ureq::Agent,
    /// The name of its node.
    pub node: String,
    /// What it is configured with.
    pub options: Options,
    /// Its version.
    pub version: String,
    /// The name of its datacenter.
    pub datacenter: String,
    /// A shell command that restarts the server, if there may be restarts. What was written must outlast it.
    pub restart: Option<String>,
    /// A second agent, if there is one.
    pub second: Option<Second>,
    /// Whether access control is on.
    pub(super) has_acls: bool,
}

impl Consul {
    /// Connects to the agent at an address like `http://127.0.0.1:8500`, and asks how it is configured.
    ///
    /// # Errors
    /// There is no Consul agent at the address.
    pub fn connect(address: &str) -> Result<Self, ConformError> {
        let http = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(Duration::from_secs(60)))
            .build()
            .new_agent();
        let base = match address.trim_end_matches('/') {
            plain if plain.contains("://") => plain.to_owned(),
            plain => format!("http://{plain}"),
        };
        let (options, version) = (Options::default(), String::new());
        let (node, datacenter) = (String::new(), String::new());
        let mut consul =
            Consul { base, http, node, options, version, datacenter, restart: None, second: None, has_acls: false };
        let reply = consul.ask(&get("/v1/agent/self"))?;
        let about: Value = serde_json::from_slice(&reply.body)
            .map_err(|_| ConformError(format!("{} answers, but not as a Consul agent does", consul.base)))?;
        let text = |path: &str| about.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        (consul.node, consul.version) = (text("/Config/NodeName"), text("/Config/Version"));
        consul.datacenter = text("/Config/Datacenter");
        consul.has_acls = about.pointer("/DebugConfig/ACLsEnabled") == Some(&Value::Bool(true));
        if consul.node.is_empty() {
            return Err(ConformError(format!("{} answers, but not as a Consul agent does", consul.base)));
        }
        if let Some(minimum) = nanoseconds(&text("/DebugConfig/SessionTTLMin")).ok().filter(|minimum| *minimum > 0) {
            consul.options.session_ttl_min = minimum;
        }
        Ok(consul)
    }

    /// Where its log is now: tells apart what one run after another writes. A lock-delay belongs to a name (C-LD-7), so that no name may
    /// be used twice.
    pub(super) fn position(&self) -> Result<String, ConformError> {
        let reply = self.ask(&get("/v1/agent/self"))?;
        let about: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let position = about.pointer("/Stats/raft/applied_index").and_then(Value::as_str);
        position.map(str::to_owned).ok_or_else(|| ConformError("the agent does not say where its log is".to_owned()))
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// The agent cannot be reached, or its response cannot be read.
    pub fn ask(&self, question: &HttpRequest) -> Result<Reply, ConformError> {
        self.ask_at(&self.base, question)
    }

    /// The same of an agent at another address.
    pub(super) fn ask_at(&self, base: &str, question: &HttpRequest) -> Result<Reply, ConformError> {
        let failure = |error: ureq::Error| ConformError(format!("{} {base}{}: {error}", question.method, question.url));
        let request = Request::builder()
            .method(question.method.as_str())
            .uri(format!("{base}{}", question.url))
            .body(question.body.clone())
            .map_err(|error| ConformError(format!("{}: {error}", question.url)))?;
        let mut response = self.http.run(request).map_err(failure)?;
        let header = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        let index = header("X-Consul-Index").and_then(|value| value.parse().ok());
        let contact =
            Contact { known_leader: header("X-Consul-KnownLeader"), last_contact: header("X-Consul-LastContact") };
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(64 << 20).read_to_vec().map_err(failure)?;
        Ok(Reply { status, index, has_headers: true, contact: Some(contact), body })
    }
}

/// A request without a body.
pub(super) fn get(url: &str) -> HttpRequest {
    question("GET", url, "")
}

pub(super) fn put(url: &str, body: impl Into<Vec<u8>>) -> HttpRequest {
    question("PUT", url, body)
}

pub(super) fn question(method: &str, url: &str, body: impl Into<Vec<u8>>) -> HttpRequest {
    HttpRequest { method: method.to_owned(), url: url.to_owned(), body: body.into() }
}
