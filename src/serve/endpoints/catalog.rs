//! `/v1/catalog/` and `/v1/health/`, to be read: nodes, services and checks in full.

use std::collections::BTreeMap;

use fencepost_conform::HttpRequest;
use serde_json::{Map, Value, json};

use super::directory::{get, object, text};
use super::{parameter, parameters};
use crate::stand_in::{Answer, StandIn};

type Fields = Map<String, Value>;

impl StandIn {
    pub(super) fn catalog_read(&mut self, path: &str, question: &HttpRequest) -> Option<Answer> {
        if path == "/v1/catalog/datacenters" {
            return Some(Answer::json(&json!([self.settings.datacenter])));
        }
        let below = |start: &str| path.strip_prefix(start).filter(|name| !name.is_empty());
        let value = if path == "/v1/catalog/nodes" {
            let nodes = self.listed_nodes().into_iter();
            json!(nodes.filter(|node| self.has_meta(text(node, "Node"), question)).collect::<Vec<_>>())
        } else if path == "/v1/catalog/services" {
            self.all_services(question)
        } else if let Some(name) = below("/v1/catalog/service/") {
            self.instances(name, question)
        } else if let Some(name) = below("/v1/health/service/") {
            self.healthy(name, question)
        } else if let Some(name) = below("/v1/health/checks/") {
            self.checks_of(question, |check| text(check, "ServiceName") == name)
        } else if let Some(status) = below("/v1/health/state/") {
            self.checks_of(question, |check| status == "any" || text(check, "Status") == status)
        } else {
            return None;
        };
        Some(Answer::json(&value).at(self.backend.directory.index))
    }

    fn listed_nodes(&mut self) -> Vec<Fields> {
        let nodes: Vec<(String, Fields)> =
            self.backend.directory.nodes().map(|(name, node)| (name.to_owned(), node.clone())).collect();
        nodes.into_iter().filter(|(name, _)| self.backend.agent.has_node(name)).map(|(_, node)| node).collect()
    }

    /// Whether a node has all the metadata that a request asks for by `node-meta=NAME:VALUE`.
    fn has_meta(&self, node: &str, question: &HttpRequest) -> bool {
        let node = self.backend.directory.node(node);
        let meta = node.and_then(|node| node.get("Meta")).and_then(Value::as_object);
        parameters(&question.url, "node-meta").all(|wanted| {
            let (name, value) = wanted.split_once(':').unwrap_or((&wanted, ""));
            meta.is_some_and(|meta| meta.get(name).and_then(Value::as_str) == Some(value))
        })
    }

    /// Services that are there, with their nodes.
    fn listed_services(&mut self) -> Vec<(Fields, Fields)> {
        let all: Vec<(String, Fields)> =
            self.backend.directory.services().map(|(node, service)| (node.to_owned(), service.clone())).collect();
        let is_there = |(node, service): &(String, Fields)| self.backend.agent.has_service(node, text(service, "ID"));
        let there: Vec<(String, Fields)> = all.into_iter().filter(is_there).collect();
        there
            .into_iter()
            .filter_map(|(node, service)| Some((self.backend.directory.node(&node)?.clone(), service)))
            .collect()
    }

    /// Checks that are there, with what the model says of their status.
    pub(super) fn listed_checks(&mut self, is_wanted: impl Fn(&str, &Fields) -> bool) -> Vec<Value> {
        let all: Vec<(String, Fields)> =
            self.backend.directory.checks().map(|(node, check)| (node.to_owned(), check.clone())).collect();
        let mut found = Vec::new();
        for (node, mut check) in all {
            let Some(status) = self.backend.agent.check_status(&node, text(&check, "CheckID")) else { continue };
            check.insert("Status".to_owned(), json!(status.to_string()));
            if is_wanted(&node, &check) {
                found.push(Value::Object(check));
            }
        }
        found
    }

    fn checks_of(&mut self, question: &HttpRequest, is_wanted: impl Fn(&Fields) -> bool) -> Value {
        let checks = self.listed_checks(|_, check| is_wanted(check)).into_iter();
        checks.filter(|check| self.has_meta(check["Node"].as_str().unwrap_or_default(), question)).collect()
    }

    fn all_services(&mut self, question: &HttpRequest) -> Value {
        let mut tags: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (node, service) in self.listed_services() {
            if !self.has_meta(text(&node, "Node"), question) {
                continue;
            }
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
        if !self.backend.agent.has_node(name) {
            return Value::Null;
        }
        let mine = self.listed_services().into_iter().filter(|(node, _)| text(node, "Node").eq_ignore_ascii_case(name));
        let services: BTreeMap<String, Fields> =
            mine.map(|(_, service)| (text(&service, "ID").to_owned(), service)).collect();
        json!({"Node": self.backend.directory.node(name), "Services": services})
    }

    /// Instances of a service, with all the tags and on a node with all the metadata that are asked for.
    fn wanted(&mut self, name: &str, question: &HttpRequest) -> Vec<(Fields, Fields)> {
        let wanted: Vec<String> = parameters(&question.url, "tag").filter(|tag| !tag.is_empty()).collect();
        let services = self.listed_services().into_iter();
        services
            .filter(|(node, service)| {
                text(service, "Service") == name
                    && wanted.iter().all(|tag| has_tag(service, tag))
                    && self.has_meta(text(node, "Node"), question)
            })
            .collect()
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
        let passes = |check: &Value| check["Status"] == "passing";
        let instances = self.wanted(name, question).into_iter().map(|instance| self.with_checks(instance));
        json!(
            instances
                .filter(|found| !only_passing || found["Checks"].as_array().into_iter().flatten().all(passes))
                .collect::<Vec<_>>()
        )
    }

    /// An instance of a service with the checks of its own and of its node.
    fn with_checks(&mut self, (node, service): (Fields, Fields)) -> Value {
        let (of, id) = (text(&node, "Node").to_lowercase(), text(&service, "ID").to_owned());
        let concerns = |check: &Fields| text(check, "ServiceID").is_empty() || text(check, "ServiceID") == id;
        let checks = self.listed_checks(|node, check| node == of && concerns(check));
        json!({"Node": node, "Service": service, "Checks": checks})
    }

    /// What a prepared query finds: instances without a critical check, or with passing ones only, apart from the checks that it
    /// ignores; with all of its tags, and none of those that it writes with `!`.
    pub(super) fn executed(&mut self, query: &Fields) -> Value {
        let name = text(query, "Service");
        let list = |field: &str| get(query, field).and_then(Value::as_array).cloned().unwrap_or_default();
        let (ignored, tags) = (list("IgnoreCheckIDs"), list("Tags"));
        let only_passing = get(query, "OnlyPassing") == Some(&Value::Bool(true));
        let is_well = |check: &Value| {
            ignored.contains(&check["CheckID"])
                || check["Status"] == "passing"
                || !only_passing && check["Status"] != "critical"
        };
        let fits = |service: &Fields| {
            tags.iter().filter_map(Value::as_str).all(|tag| match tag.strip_prefix('!') {
                Some(tag) => !has_tag(service, tag),
                None => has_tag(service, tag),
            })
        };
        let instances = self.listed_services().into_iter();
        let fitting: Vec<(Fields, Fields)> =
            instances.filter(|(_, service)| text(service, "Service") == name && fits(service)).collect();
        let found = fitting.into_iter().map(|instance| self.with_checks(instance));
        let nodes: Vec<Value> =
            found.filter(|found| found["Checks"].as_array().into_iter().flatten().all(is_well)).collect();
        json!({
            "Service": name, "Nodes": nodes, "DNS": object(&json!({"TTL": ""})), "Datacenter": self.settings.datacenter,
            "Failovers": 0, "Index": 0, "LastContact": 0, "KnownLeader": true,
        })
    }
}

fn has_tag(service: &Fields, tag: &str) -> bool {
    service.get("Tags").and_then(Value::as_array).is_some_and(|tags| tags.iter().any(|known| known == tag))
}
