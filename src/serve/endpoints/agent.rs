//! `/v1/agent/`: the agent itself, and what it has.

use fencepost_conform::{HttpRequest, SECOND};
use serde_json::{Map, Value, json};

use super::directory::text;
use crate::stand_in::{Answer, StandIn};

/// The version of Consul that the model answers as.
const VERSION: &str = "1.8.7";

impl StandIn {
    pub(super) fn agent_read(&mut self, path: &str) -> Option<Answer> {
        let own = self.settings.node.to_lowercase();
        Some(match path {
            "/v1/agent/self" => Answer::json(&self.about_itself()),
            "/v1/agent/members" => Answer::json(&json!([self.member()])),
            "/v1/agent/host" | "/v1/agent/metrics" => return None,
            "/v1/agent/services" => {
                let mut services: Map<String, Value> = Map::new();
                let all: Vec<Map<String, Value>> = self
                    .backend
                    .directory
                    .services()
                    .filter(|(node, _)| *node == own)
                    .map(|(_, service)| service.clone())
                    .collect();
                for mut service in all {
                    let id = text(&service, "ID").to_owned();
                    // The agent shows the parts of Connect only where there are some.
                    if text(&service, "Kind").is_empty() {
                        service.retain(|field, _| !matches!(field.as_str(), "Proxy" | "Connect"));
                    }
                    if self.backend.agent_checks.has_service(&id) && self.backend.agent.has_service(&own, &id) {
                        services.insert(id, Value::Object(service));
                    }
                }
                Answer::json(&Value::Object(services))
            }
            "/v1/agent/checks" => {
                let known = self.backend.agent_checks.clone();
                let is_mine = |node: &str, check: &Map<String, Value>| node == own && known.has(text(check, "CheckID"));
                let checks = self.listed_checks(is_mine);
                let by_id =
                    checks.into_iter().map(|check| (check["CheckID"].as_str().unwrap_or_default().to_owned(), check));
                Answer::json(&Value::Object(by_id.collect()))
            }
            _ => return None,
        })
    }

    fn member(&self) -> Value {
        json!({
            "Name": self.settings.node, "Addr": "127.0.0.1", "Port": 8301, "Status": 1,
            "Tags": {"role": "consul", "dc": self.settings.datacenter, "id": self.settings.node_id, "build": VERSION, "port": "8300"},
            "ProtocolMin": 1, "ProtocolMax": 5, "ProtocolCur": 2, "DelegateMin": 2, "DelegateMax": 5, "DelegateCur": 4,
        })
    }

    fn about_itself(&self) -> Value {
        let ttl_min = self.settings.options.session_ttl_min;
        let position = self.backend.agent.position().to_string();
        json!({
            "Config": {
                "Datacenter": self.settings.datacenter, "NodeName": self.settings.node, "NodeID": self.settings.node_id,
                "Revision": "", "Server": true, "Version": VERSION,
            },
            "DebugConfig": {
                "ACLsEnabled": false, "SessionTTLMin": duration(ttl_min), "Datacenter": self.settings.datacenter,
                "NodeName": self.settings.node, "ServerMode": true,
            },
            "Coord": {"Vec": [0, 0, 0, 0, 0, 0, 0, 0], "Error": 1.5, "Adjustment": 0, "Height": 1e-5},
            "Member": self.member(),
            "Meta": {"consul-network-segment": ""},
            "Stats": {
                "agent": {"checks": self.backend.agent_checks.count().to_string()},
                "build": {"version": VERSION},
                "consul": {"leader": "true", "leader_addr": super::SERVER, "server": "true"},
                "raft": {
                    "applied_index": position, "commit_index": position, "last_log_index": position, "state": "Leader", "term": "2",
                },
            },
        })
    }

    pub(super) fn agent_write(&mut self, path: &str, question: &HttpRequest, client: &str) -> Option<Answer> {
        let name = |start: &str| path.strip_prefix(start).filter(|name| !name.is_empty());
        Some(if path == "/v1/agent/service/register" {
            self.register_service(question, client)
        } else if path == "/v1/agent/check/register" {
            self.register_check(&question.body, client)
        } else if let Some(id) = name("/v1/agent/service/deregister/") {
            self.backend.agent_checks.forget_service(id);
            self.catalog_write("deregister", &json!({"Node": self.settings.node, "ServiceID": id}), client)
        } else if let Some(id) = name("/v1/agent/check/deregister/") {
            self.backend.agent_checks.forget(id);
            self.catalog_write("deregister", &json!({"Node": self.settings.node, "CheckID": id}), client)
        } else if let Some(id) = name("/v1/agent/check/pass/") {
            self.set_check(id, "passing", &note(question), client)
        } else if let Some(id) = name("/v1/agent/check/warn/") {
            self.set_check(id, "warning", &note(question), client)
        } else if let Some(id) = name("/v1/agent/check/fail/") {
            self.set_check(id, "critical", &note(question), client)
        } else if let Some(id) = name("/v1/agent/check/update/") {
            let body: Value = serde_json::from_slice(&question.body).unwrap_or_default();
            let (status, output) =
                (body["Status"].as_str().unwrap_or_default(), body["Output"].as_str().unwrap_or_default());
            if !["passing", "warning", "critical"].contains(&status) {
                return Some(Answer::text(400, format!("Invalid check status: '{status}'")));
            }
            self.set_check(id, status, output, client)
        } else {
            return None;
        })
    }
}

/// As Go writes it, to the second: no agent of ours has another minimum than whole seconds or milliseconds.
fn duration(nanoseconds: i64) -> String {
    match nanoseconds % SECOND {
        0 => format!("{}s", nanoseconds / SECOND),
        _ => format!("{nanoseconds}ns"),
    }
}

fn note(question: &HttpRequest) -> String {
    super::parameter(&question.url, "note").unwrap_or_default()
}
