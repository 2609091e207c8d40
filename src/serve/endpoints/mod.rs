//! What clients ask of an agent that is no part of the model: who leads, what the catalogue looks like in full, and what the agent
//! itself is, has and checks. Whether a node, a service or a check is there, and what its status is, always says the model.
//!
//! ```text
//! directory  how things were registered     catalog   lists of nodes, services and checks
//! agent      the agent itself               checks    services and checks that clients give to the agent
//! ```

mod agent;
mod catalog;
mod checks;
mod decorate;
mod directory;

use fencepost_conform::HttpRequest;
use serde_json::json;

use crate::stand_in::{Answer, StandIn};
pub(crate) use checks::AgentChecks;
pub(crate) use directory::Directory;

/// Endpoints of Consul 1.8 that the stand-in does not have, by their beginnings. C-GEN-5: any other path is 404.
const UNSUPPORTED: &[&str] = &[
    "/v1/acl/",
    "/v1/agent/",
    "/v1/catalog/",
    "/v1/config",
    "/v1/connect/",
    "/v1/coordinate/",
    "/v1/discovery-chain/",
    "/v1/event/",
    "/v1/health/",
    "/v1/internal/",
    "/v1/namespace",
    "/v1/operator/",
    "/v1/snapshot",
];

impl StandIn {
    /// A request for something that the model does not have.
    pub(crate) fn serve_beyond(&mut self, question: &HttpRequest, client: &str) -> Answer {
        let path = question.url.split('?').next().unwrap_or_default();
        let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned();
        let known = match (question.method.as_str(), path.as_str()) {
            ("GET", "/v1/status/leader") => Some(Answer::json(&json!(SERVER))),
            ("GET", "/v1/status/peers") => Some(Answer::json(&json!([SERVER]))),
            ("GET", path) if path.starts_with("/v1/agent/") => self.agent_read(path),
            ("PUT", path) if path.starts_with("/v1/agent/") => self.agent_write(path, question, client),
            // C-GEN-12.
            ("GET", path) if is_per_datacenter(path) && self.is_elsewhere(&question.url) => {
                Some(Answer::text(500, "No path to datacenter"))
            }
            ("GET", path) => self.catalog_read(path, question),
            _ => None,
        };
        if let Some(answer) = known {
            return answer;
        }
        match UNSUPPORTED.iter().any(|start| path.starts_with(start)) {
            true => crate::consul::beyond(&format!("{} {path}", question.method)),
            false => Answer::new(404, "text/plain; charset=utf-8", ""),
        }
    }

    /// Whether a request names another datacenter.
    fn is_elsewhere(&self, url: &str) -> bool {
        parameter(url, "dc").is_some_and(|name| !name.is_empty() && name != self.settings.datacenter)
    }
}

/// Whether each datacenter has an answer of its own.
fn is_per_datacenter(path: &str) -> bool {
    path != "/v1/catalog/datacenters" && (path.starts_with("/v1/catalog/") || path.starts_with("/v1/health/"))
}

/// Where the servers talk to each other: there is one.
pub(crate) const SERVER: &str = "127.0.0.1:8300";

/// The first value of a parameter of a request.
pub(crate) fn parameter(url: &str, name: &str) -> Option<String> {
    parameters(url, name).next()
}

/// Every value of a parameter of a request.
fn parameters<'a>(url: &'a str, name: &'a str) -> impl Iterator<Item = String> + 'a {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    form_urlencoded::parse(query.as_bytes()).filter(move |(key, _)| key == name).map(|(_, value)| value.into_owned())
}
