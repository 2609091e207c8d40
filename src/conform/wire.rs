//! Requests to a real Consul agent.

use std::time::Duration;

use super::consul::{HttpRequest, Options, Reply, nanoseconds};
use serde_json::Value;
use ureq::http::Request;

use super::error::ConformError;

/// A running Consul agent.
#[derive(Clone)]
pub struct Consul {
    base: String,
    http: ureq::Agent,
    /// The name of its node.
    pub node: String,
    /// What it is configured with.
    pub options: Options,
    /// Its version.
    pub version: String,
    /// The name of its datacenter.
    pub datacenter: String,
    /// Its log position when it was asked first: tells apart what one run after another writes.
    pub position: String,
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
        let (options, version, position) = (Options::default(), String::new(), String::new());
        let (node, datacenter) = (String::new(), String::new());
        let mut consul = Consul { base, http, node, options, version, datacenter, position, has_acls: false };
        let reply = consul.ask(&get("/v1/agent/self"))?;
        let about: Value = serde_json::from_slice(&reply.body)
            .map_err(|_| ConformError(format!("{} answers, but not as a Consul agent does", consul.base)))?;
        let text = |path: &str| about.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        (consul.node, consul.version) = (text("/Config/NodeName"), text("/Config/Version"));
        consul.datacenter = text("/Config/Datacenter");
        consul.position = text("/Stats/raft/applied_index");
        consul.has_acls = about.pointer("/DebugConfig/ACLsEnabled") == Some(&Value::Bool(true));
        if consul.node.is_empty() {
            return Err(ConformError(format!("{} answers, but not as a Consul agent does", consul.base)));
        }
        if let Some(minimum) = nanoseconds(&text("/DebugConfig/SessionTTLMin")).ok().filter(|minimum| *minimum > 0) {
            consul.options.session_ttl_min = minimum;
        }
        Ok(consul)
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// The agent cannot be reached, or its response cannot be read.
    pub fn ask(&self, question: &HttpRequest) -> Result<Reply, ConformError> {
        let failure =
            |error: ureq::Error| ConformError(format!("{} {}{}: {error}", question.method, self.base, question.url));
        let request = Request::builder()
            .method(question.method.as_str())
            .uri(format!("{}{}", self.base, question.url))
            .body(question.body.clone())
            .map_err(|error| ConformError(format!("{}: {error}", question.url)))?;
        let mut response = self.http.run(request).map_err(failure)?;
        let header = response.headers().get("X-Consul-Index");
        let index = header.and_then(|value| value.to_str().ok()?.parse().ok());
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(64 << 20).read_to_vec().map_err(failure)?;
        Ok(Reply { status, index, has_headers: true, body })
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
