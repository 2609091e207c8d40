//! How nodes, services, checks and queries were registered: everything about them that is shown and has no other effect.

use std::collections::BTreeMap;

use fencepost_conform::{Class, HttpRequest};
use serde_json::{Map, Value, json};

use crate::settings::Settings;

/// Registrations, by names in small letters.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    nodes: BTreeMap<String, Map<String, Value>>,
    services: BTreeMap<(String, String), Map<String, Value>>,
    checks: BTreeMap<(String, String), Map<String, Value>>,
    queries: BTreeMap<String, Map<String, Value>>,
    /// When one of them changed last.
    pub(super) index: u64,
}

impl Directory {
    /// With what the agent has registered of itself.
    pub(crate) fn new(settings: &Settings, index: u64) -> Self {
        let mut directory = Directory {
            nodes: BTreeMap::new(),
            services: BTreeMap::new(),
            checks: BTreeMap::new(),
            queries: BTreeMap::new(),
            index,
        };
        let own = serde_json::from_slice(&Directory::own(settings).body).unwrap_or_default();
        directory.note_registration(&object(&own), index);
        directory
    }

    /// How an agent registers its own node.
    pub(crate) fn own(settings: &Settings) -> HttpRequest {
        let addresses = ["lan", "lan_ipv4", "wan", "wan_ipv4"].map(|name| (name.to_owned(), json!("127.0.0.1")));
        let mut meta = settings.node_meta.clone();
        meta.insert("consul-network-segment".to_owned(), String::new());
        let body = json!({
            "ID": settings.node_id, "Node": settings.node, "Address": "127.0.0.1",
            "TaggedAddresses": Map::from_iter(addresses), "NodeMeta": meta,
            "Service": {"ID": "consul", "Service": "consul", "Port": 8300},
            "Check": {
                "CheckID": "serfHealth", "Name": "Serf Health Status", "Status": "passing",
                "Output": "Agent alive and reachable",
            },
        });
        let url = "/v1/catalog/register".to_owned();
        HttpRequest { method: "PUT".to_owned(), url, body: body.to_string().into_bytes() }
    }

    /// A request has been carried out.
    pub(crate) fn note(&mut self, question: &HttpRequest, class: Class, index: u64) {
        match class {
            Class::NodeRegistered | Class::NodeRenamed | Class::CheckSet | Class::CheckCritical => {
                let body = object(&serde_json::from_slice(&question.body).unwrap_or_default());
                self.index = index;
                self.note_registration(&body, index);
            }
            Class::CheckRemoved | Class::ServiceRemoved | Class::NodeRemoved => self.index = index,
            Class::TxnDone | Class::TxnFreesAndLocks | Class::TxnItemAtIndex | Class::TxnCheckUntold => {
                self.note_transaction(&question.body, index);
            }
            _ => {}
        }
    }

    fn note_registration(&mut self, body: &Map<String, Value>, index: u64) {
        let node = text(body, "Node").to_lowercase();
        let skips_node = get(body, "SkipNodeUpdate") == Some(&Value::Bool(true));
        if !skips_node || !self.nodes.contains_key(&node) {
            self.note_node(body, index);
        }
        if let Some(service) = get(body, "Service").and_then(Value::as_object) {
            self.note_service(&node, service, index);
        }
        let listed = get(body, "Checks").and_then(Value::as_array).into_iter().flatten();
        for check in get(body, "Check").into_iter().chain(listed).filter_map(Value::as_object) {
            self.note_check(&node, check, index);
        }
    }

    fn note_transaction(&mut self, body: &[u8], index: u64) {
        let Ok(Value::Array(items)) = serde_json::from_slice(body) else { return };
        for item in items.iter().filter_map(Value::as_object) {
            let part = |kind: &str| {
                let part = get(item, kind)?.as_object()?;
                matches!(text(part, "Verb"), "set" | "cas").then_some((part, get(part, kind)?.as_object()?))
            };
            if let Some((_, node)) = part("Node") {
                self.note_node(node, index);
            } else if let Some((around, service)) = part("Service") {
                self.note_service(&text(around, "Node").to_lowercase(), service, index);
            } else if let Some((_, check)) = part("Check") {
                self.note_check(&text(check, "Node").to_lowercase(), check, index);
            } else {
                continue;
            }
            self.index = index;
        }
    }

    fn note_node(&mut self, body: &Map<String, Value>, index: u64) {
        let name = text(body, "Node").to_lowercase();
        let created = self.nodes.get(&name).and_then(|node| node["CreateIndex"].as_u64()).unwrap_or(index);
        let pick = |field: &str| get(body, field).cloned().unwrap_or(Value::Null);
        let meta = get(body, "NodeMeta").or(get(body, "Meta")).cloned().unwrap_or(Value::Null);
        let node = json!({
            "ID": text(body, "ID"), "Node": text(body, "Node"), "Address": text(body, "Address"), "Datacenter": "dc1",
            "TaggedAddresses": pick("TaggedAddresses"), "Meta": meta, "CreateIndex": created, "ModifyIndex": index,
        });
        self.nodes.insert(name, object(&node));
    }

    fn note_service(&mut self, node: &str, body: &Map<String, Value>, index: u64) {
        let name = text(body, "Service");
        let id = if text(body, "ID").is_empty() { name } else { text(body, "ID") };
        let pick = |field: &str, default: Value| get(body, field).cloned().unwrap_or(default);
        let mut proxy = get(body, "Proxy").map(object).unwrap_or_default();
        for part in ["MeshGateway", "Expose"] {
            proxy.entry(part).or_insert_with(|| json!({}));
        }
        let mut service = object(&json!({
            "ID": id, "Service": name, "Tags": pick("Tags", json!([])), "Address": text(body, "Address"),
            "Meta": pick("Meta", Value::Null), "Port": pick("Port", json!(0)),
            "Weights": pick("Weights", json!({"Passing": 1, "Warning": 1})),
            "EnableTagOverride": pick("EnableTagOverride", json!(false)), "Proxy": proxy, "Connect": pick("Connect", json!({})),
            "CreateIndex": index, "ModifyIndex": index,
        }));
        // These are shown only where they were given.
        for field in ["Kind", "TaggedAddresses"] {
            get(body, field).into_iter().for_each(|value| drop(service.insert(field.to_owned(), value.clone())));
        }
        self.services.insert((node.to_owned(), id.to_lowercase()), service);
    }

    fn note_check(&mut self, node: &str, body: &Map<String, Value>, index: u64) {
        let id = if text(body, "CheckID").is_empty() { text(body, "Name") } else { text(body, "CheckID") };
        let of = text(body, "ServiceID").to_lowercase();
        let service = self.services.get(&(node.to_owned(), of));
        let named = |field: &str| service.and_then(|service| service.get(field)).cloned();
        let definition = get(body, "Definition").map(object).unwrap_or_default();
        let kind = match text(body, "Type") {
            "" => kind(&definition),
            given => given,
        };
        let check = json!({
            "Node": self.nodes.get(node).map_or(node, |node| text(node, "Node")), "CheckID": id,
            "Name": text(body, "Name"), "Notes": text(body, "Notes"), "Output": text(body, "Output"),
            "ServiceID": text(body, "ServiceID"), "ServiceName": named("Service").unwrap_or(json!("")),
            "ServiceTags": named("Tags").unwrap_or(json!([])), "Type": kind, "Definition": definition,
            "CreateIndex": index, "ModifyIndex": index,
        });
        self.checks.insert((node.to_owned(), id.to_lowercase()), object(&check));
    }

    /// A query was created or changed by this body.
    pub(super) fn note_query(&mut self, id: &str, body: &[u8]) {
        self.queries.insert(id.to_lowercase(), object(&serde_json::from_slice(body).unwrap_or_default()));
    }

    /// How a query was written.
    pub(super) fn query(&self, id: &str) -> Option<&Map<String, Value>> {
        self.queries.get(&id.to_lowercase())
    }

    /// The same by id, or by name.
    pub(super) fn query_by(&self, name: &str) -> Option<&Map<String, Value>> {
        let named = || self.queries.values().find(|query| text(query, "Name").eq_ignore_ascii_case(name));
        self.query(name).or_else(named)
    }

    /// Everything that was registered, by the names of nodes in small letters; it may be gone.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (&str, &Map<String, Value>)> {
        self.nodes.iter().map(|(name, node)| (name.as_str(), node))
    }

    pub(super) fn node(&self, name: &str) -> Option<&Map<String, Value>> {
        self.nodes.get(&name.to_lowercase())
    }

    pub(super) fn services(&self) -> impl Iterator<Item = (&str, &Map<String, Value>)> {
        self.services.iter().map(|((node, _), service)| (node.as_str(), service))
    }

    pub(super) fn service(&self, node: &str, id: &str) -> Option<&Map<String, Value>> {
        self.services.get(&(node.to_lowercase(), id.to_lowercase()))
    }

    pub(super) fn checks(&self) -> impl Iterator<Item = (&str, &Map<String, Value>)> {
        self.checks.iter().map(|((node, _), check)| (node.as_str(), check))
    }

    pub(super) fn check(&self, node: &str, id: &str) -> Option<&Map<String, Value>> {
        self.checks.get(&(node.to_lowercase(), id.to_lowercase()))
    }
}

/// What a check is by its definition, where it does not say so.
fn kind(definition: &Map<String, Value>) -> &'static str {
    let probes = |field: &str| !text(definition, field).is_empty() && !text(definition, "Interval").is_empty();
    match (probes("HTTP"), probes("TCP")) {
        (true, _) => "http",
        (false, true) => "tcp",
        (false, false) => "",
    }
}

/// A field, whatever the letter case of its name; null is none.
pub(super) fn get<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object.iter().find(|(key, value)| key.eq_ignore_ascii_case(name) && !value.is_null()).map(|(_, value)| value)
}

/// A field that is a text; an empty one, if it is not there.
pub(super) fn text<'a>(object: &'a Map<String, Value>, name: &str) -> &'a str {
    get(object, name).and_then(Value::as_str).unwrap_or("")
}

pub(super) fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}
