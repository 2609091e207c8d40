//! `/v1/catalog/` and `/v1/health/`, to be read: nodes, services and checks in full.

use std::collections::BTreeMap;

use fencepost_conform::HttpRequest;
use serde_json::{Map, Value, json};

use super::directory::{object, text};
use super::parameter;
use crate::stand_in::{Answer, StandIn};

type Fields = Map<String, Value>;

impl StandIn {
    pub(super) fn catalog_read(&mut self, path: &str, question: &HttpRequest) -> Option<Answer> {
        if path == "/v1/catalog/datacenters" {
            return Some(Answer::json(&json!([self.settings.datacenter])));
        }
        let below = |start: &str| path.strip_prefix(start).filter(|name| !name.is_empty());
        let value = if path == "/v1/catalog/nodes" {
            json!(self.listed_nodes())
        } else if path == "/v1/catalog/services" {
            self.all_services()
        } else if let Some(name) = below("/v1/catalog/service/") {
            self.instances(name, question)
        } else if let Some(name) = below("/v1/health/service/") {
            self.healthy(name, question)
        } else if let Some(name) = below("/v1/health/checks/") {
            Value::Array(self.listed_checks(|_, check| text(check, "ServiceName") == name))
        } else if let Some(status) = below("/v1/health/state/") {
            Value::Array(self.listed_checks(|_, check| status == "any" || text(check, "Status") == status))
        } else {
            return None;
        };
        Some(Answer::json(&value).at(self.directory.index))
    }

    fn listed_nodes(&mut self) -> Vec<Fields> {
        let nodes: Vec<(String, Fields)> =
            self.directory.nodes().map(|(name, node)| (name.to_owned(), node.clone())).collect();
        nodes.into_iter().filter(|(name, _)| self.agent.has_node(name)).map(|(_, node)| node).collect()
    }

    /// Services that are there, with their nodes.
    fn listed_services(&mut self) -> Vec<(Fields, Fields)> {
        let all: Vec<(String, Fields)> =
            self.directory.services().map(|(node, service)| (node.to_owned(), service.clone())).collect();
        let is_there = |(node, service): &(String, Fields)| self.agent.has_service(node, text(service, "ID"));
        let there: Vec<(String, Fields)> = all.into_iter().filter(is_there).collect();
        there.into_iter().filter_map(|(node, service)| Some((self.directory.node(&node)?.clone(), service))).collect()
    }

    /// Checks that are there, with what the model says of their status.
    pub(super) fn listed_checks(&mut self, is_wanted: impl Fn(&str, &Fields) -> bool) -> Vec<Value> {
        let all: Vec<(String, Fields)> =
            self.directory.checks().map(|(node, check)| (node.to_owned(), check.clone())).collect();
        let mut found = Vec::new();
        for (node, mut check) in all {
            let Some(status) = self.agent.check_status(&node, text(&check, "CheckID")) else { continue };
            check.insert("Status".to_owned(), json!(status.to_string()));
            if is_wanted(&node, &check) {
                found.push(Value::Object(check));
            }
        }
        found
    }

    fn all_services(&mut self) -> Value {
        let mut tags: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (_, service) in self.listed_services() {
            let known = tags.entry(text(&service, "Service").to_owned()).or_default();
            for tag in service.get("Tags").and_then(Value::as_array).into_iter().flatten() {
                if !known.contains(tag) {
                    known.push(tag.clone());
                }
            }
        }
        json!(tags)
    }

    pub(super) fn node_with_services(&mut self, name: &str) -> Value {
        if !self.agent.has_node(name) {
            return Value::Null;
        }
        let mine = self.listed_services().into_iter().filter(|(node, _)| text(node, "Node").eq_ignore_ascii_case(name));
        let services: BTreeMap<String, Fields> =
            mine.map(|(_, service)| (text(&service, "ID").to_owned(), service)).collect();
        json!({"Node": self.directory.node(name), "Services": services})
    }

    /// Instances of a service, with a tag if one is asked for.
    fn wanted(&mut self, name: &str, question: &HttpRequest) -> Vec<(Fields, Fields)> {
        let tag = parameter(&question.url, "tag").filter(|tag| !tag.is_empty());
        let has_tag = |service: &Fields| match &tag {
            None => true,
            Some(tag) => service.get("Tags").and_then(Value::as_array).is_some_and(|tags| tags.contains(&json!(tag))),
        };
        let services = self.listed_services().into_iter();
        services.filter(|(_, service)| text(service, "Service") == name && has_tag(service)).collect()
    }

    fn instances(&mut self, name: &str, question: &HttpRequest) -> Value {
        let wanted = self.wanted(name, question).into_iter();
        let instance = |(mut node, service): (Fields, Fields)| {
            let meta = node.remove("Meta").unwrap_or_default();
            node.insert("NodeMeta".to_owned(), meta);
            for (field, value) in service {
                let field = match field.as_str() {
                    "ID" => "ServiceID".to_owned(),
                    "Service" => "ServiceName".to_owned(),
                    "CreateIndex" | "ModifyIndex" => field,
                    other => format!("Service{other}"),
                };
                node.insert(field, value);
            }
            node
        };
        json!(wanted.map(instance).collect::<Vec<_>>())
    }

    fn healthy(&mut self, name: &str, question: &HttpRequest) -> Value {
        let only_passing = parameter(&question.url, "passing").is_some_and(|value| value != "false");
        let mut found = Vec::new();
        for (node, service) in self.wanted(name, question) {
            let (of, id) = (text(&node, "Node").to_lowercase(), text(&service, "ID").to_owned());
            let concerns = |check: &Fields| text(check, "ServiceID").is_empty() || text(check, "ServiceID") == id;
            let checks = self.listed_checks(|node, check| node == of && concerns(check));
            let passes = checks.iter().all(|check| check["Status"] == "passing");
            if passes || !only_passing {
                found.push(json!({"Node": node, "Service": service, "Checks": checks}));
            }
        }
        json!(found)
    }

    /// The same for what a prepared query finds.
    pub(super) fn executed(&mut self, name: &str) -> Value {
        let question = HttpRequest { method: "GET".to_owned(), url: "/?passing".to_owned(), body: Vec::new() };
        let nodes = self.healthy(name, &question);
        json!({
            "Service": name, "Nodes": nodes, "DNS": object(&json!({"TTL": ""})), "Datacenter": self.settings.datacenter,
            "Failovers": 0, "Index": 0, "LastContact": 0, "KnownLeader": true,
        })
    }
}
