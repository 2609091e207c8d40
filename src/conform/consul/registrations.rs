//! How nodes, services and checks are written: which texts are one item (C-INV-17), and what is shown of it.

use std::collections::BTreeMap;

use fencepost_consul::{Item, ItemRecord, Text};
use fencepost_model::ids::{ClientId, Index};
use serde_json::{Map, Value, json};

use super::catalog::id_of;
use super::{Agent, BodyShape, field};

type Fields = Map<String, Value>;

/// What a request says of an item, in the words of an answer.
pub(super) struct Form {
    pub(super) json: Value,
    /// Whether nothing is left out that could make a difference.
    is_exact: bool,
    has_id: bool,
}

/// A node; its metadata have another name in a registration than in a transaction.
pub(super) fn node_form(body: &Fields, meta: &str, datacenter: &str) -> Form {
    let datacenter = if text(body, "Datacenter").is_empty() { datacenter } else { text(body, "Datacenter") };
    let json = json!({
        "ID": text(body, "ID"), "Node": text(body, "Node"), "Address": text(body, "Address"), "Datacenter": datacenter,
        "TaggedAddresses": sorted(body, "TaggedAddresses"), "Meta": sorted(body, meta),
    });
    Form { json, is_exact: true, has_id: true }
}

/// A service of a node that is written like this.
pub(super) fn service_form(node: &str, body: &Fields) -> Form {
    let or = |name: &str, default: Value| field(body, name).cloned().unwrap_or(default);
    let id = id_of(body);
    let json = json!({
        "Node": node, "ID": id, "Service": text(body, "Service"), "Tags": or("Tags", Value::Null),
        "Address": text(body, "Address"), "Port": or("Port", json!(0)), "Meta": sorted(body, "Meta"),
        "EnableTagOverride": or("EnableTagOverride", json!(false)),
    });
    let rest = ["Kind", "TaggedAddresses", "Weights", "Proxy", "Connect"];
    let is_exact = rest.iter().all(|name| field(body, name).is_none());
    Form { json, is_exact, has_id: !id.is_empty() }
}

/// What the checks of a service take over from it.
pub(super) fn face(service: &Form) -> Value {
    json!({"ServiceName": service.json["Service"], "ServiceTags": service.json["Tags"]})
}

/// A check of a node that is written like this. C-INV-16: without an id it has its name for one.
pub(super) fn check_form(node: &str, body: &Fields) -> Form {
    let id = if text(body, "CheckID").is_empty() { text(body, "Name") } else { text(body, "CheckID") };
    // C-SES-11: without a status it is critical.
    let status = if text(body, "Status").is_empty() { "critical" } else { text(body, "Status") };
    let mut json = json!({
        "Node": node, "CheckID": id, "Name": text(body, "Name"), "Status": status, "Notes": text(body, "Notes"),
        "Output": text(body, "Output"), "ServiceID": text(body, "ServiceID"),
    });
    if text(body, "ServiceID").is_empty() {
        json["ServiceName"] = json!(text(body, "ServiceName"));
        json["ServiceTags"] = field(body, "ServiceTags").cloned().unwrap_or_default();
    }
    let is_exact = field(body, "Definition").is_none_or(|definition| *definition == json!({}));
    Form { json, is_exact, has_id: !id.is_empty() }
}

/// What an answer shows of a text. Lists that are empty are null in some answers.
const NODE: &[&str] = &["ID", "Node", "Address", "Datacenter", "TaggedAddresses", "Meta"];
const SERVICE: &[&str] = &["ID", "Service", "Tags", "Address", "Port", "Meta", "EnableTagOverride"];
const CHECK: &[&str] =
    &["Node", "CheckID", "Name", "Status", "Notes", "Output", "ServiceID", "ServiceName", "ServiceTags"];

impl Agent {
    /// What stands for a text. An agent keeps its own node, services and checks up to date: how they look is known in part.
    pub(super) fn text(&mut self, node: ClientId, form: &Form) -> Text {
        let is_exact = form.is_exact && !self.agents.contains(&node);
        Text { number: self.names.text(&form.json), is_exact, has_id: form.has_id }
    }

    /// What stands for the name and the tags of a service; 0 stands for none.
    pub(super) fn face(&mut self, service: &Form) -> u32 {
        self.names.text(&face(service)) + 1
    }

    /// What was written of an item.
    pub(super) fn written(&self, record: &ItemRecord) -> Fields {
        let mut fields = self.names.json(record.text.number);
        if record.face > 0 {
            fields.extend(self.names.json(record.face - 1));
        }
        fields
    }

    /// An item as answers show it. C-INV-17: with its indexes, where they are known.
    pub(super) fn item_shape(&self, item: Item, record: &ItemRecord) -> BodyShape {
        let (node, all, of_agent): (_, _, &[&str]) = match item {
            Item::Node(node) => (node, NODE, &["Node"]),
            Item::Service(node, _) => (node, SERVICE, &["ID", "Service"]),
            Item::Check(node, _) => (node, CHECK, &["CheckID", "Status", "ServiceID"]),
        };
        let shown = if self.agents.contains(&node) { of_agent } else { all };
        let written = self.written(record);
        let is_empty = |value: &Value| *value == Value::Null || *value == json!([]);
        let is_list = |name: &&&'static str| name.ends_with("Tags");
        let fields = shown.iter().filter(|name| !(is_list(name) && is_empty(&written[**name])));
        let mut fields: Vec<(&'static str, BodyShape)> =
            fields.map(|name| (*name, BodyShape::Json(written[*name].clone()))).collect();
        for (name, index) in [("CreateIndex", record.create), ("ModifyIndex", record.modify)] {
            if index != Index::NONE {
                fields.push((name, BodyShape::Index(index)));
            }
        }
        BodyShape::Some(fields)
    }

    /// The server's ModifyIndex of a node, of its check, or of its service, if it is there and a response has shown the index.
    pub fn item_index(&mut self, node: &str, part: Option<Part<'_>>) -> Option<u64> {
        let on = self.names.node(node).ok()?;
        let item = match part {
            None => Item::Node(on),
            Some(Part::Service(id)) => Item::Service(on, self.names.service(id).ok()?),
            Some(Part::Check(id)) => Item::Check(on, self.names.known_check(on, id)?),
        };
        self.names.theirs(self.server.record(item)?.modify)
    }
}

/// A part of a node, by its id.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Part<'a> {
    /// A service.
    Service(&'a str),
    /// A check.
    Check(&'a str),
}

fn text<'a>(body: &'a Fields, name: &str) -> &'a str {
    field(body, name).and_then(Value::as_str).unwrap_or("")
}

/// A map, in the order of its keys.
fn sorted(body: &Fields, name: &str) -> Value {
    let map = field(body, name).and_then(Value::as_object);
    map.map_or(Value::Null, |map| json!(map.iter().collect::<BTreeMap<_, _>>()))
}
