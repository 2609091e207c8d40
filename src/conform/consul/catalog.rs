//! `/v1/catalog/` and `/v1/health/`: nodes, services and checks, as far as sessions hang on them.

use fencepost_consul::{CheckKind, Item, ItemRecord, Registration, Status};
use fencepost_model::ids::{ClientId, Index};
use serde_json::{Map, Value, json};

use super::names::{NameLimitError, is_uuid};
use super::registrations::{Form, check_form, node_form, service_form};
use super::sessions::SERF_HEALTH;
use super::transactions::status;
use super::{Agent, Answered, BodyShape, Class, Expected, Parts, field};

/// What a registration says of a check.
pub(super) struct Wanted {
    pub(super) kind: CheckKind,
    pub(super) service: Option<u16>,
    pub(super) form: Form,
    /// The node that it names, if any.
    node: String,
}

impl Wanted {
    pub(super) fn id(&self) -> &str {
        self.form.json["CheckID"].as_str().unwrap_or("")
    }

    pub(super) fn status(&self) -> Status {
        status(self.form.json["Status"].as_str().unwrap_or(""))
    }
}

impl Agent {
    /// The node of an agent is there from the start, and well.
    pub(super) fn add_own_node(&mut self, name: &str) {
        let node = self.names.node(name).expect("one of few");
        let kind = self.names.check(node, SERF_HEALTH).expect("its first one");
        self.agents.push(node);
        let form = node_form(&object_of(json!({"Node": name})), "Meta", &self.datacenter);
        let text = self.text(node, &form);
        self.register_item(Registration::Node(node, text));
        let form = check_form(name, &object_of(json!({"CheckID": SERF_HEALTH, "Status": "passing"})));
        let text = self.text(node, &form);
        self.register_item(Registration::Check { node, kind, status: Status::Passing, service: None, text });
    }

    fn register_item(&mut self, registration: Registration) {
        let registered = self.act(|server, context, out| server.register(registration, context, out));
        registered.expect("what it belongs to was looked at before");
    }

    /// C-SES-1: the node of the agent that is asked.
    pub(super) fn own_node(&self) -> &str {
        self.asked.as_deref().unwrap_or(&self.own)
    }

    /// C-INV-9: everything at one log position; C-INV-4: a node whose id is known under another name takes that away.
    pub(super) fn register(&mut self, parts: &Parts<'_>) -> Answered {
        let Some(body) = object(parts.body) else {
            return Ok(Expected::text(Class::RegisterBody, 400, "Request decode failed"));
        };
        let text = |name: &str| field(&body, name).and_then(Value::as_str).unwrap_or("");
        if self.is_elsewhere(text("Datacenter")) {
            return Ok(Expected::text(Class::NoDatacenter, 500, "No path to datacenter"));
        }
        // A node that is there stays as it is, where that is asked for.
        let skips_node = field(&body, "SkipNodeUpdate") == Some(&Value::Bool(true));
        if text("Node").is_empty() {
            return Ok(Expected::text(Class::RegisterBody, 500, "Must provide node"));
        }
        if !text("ID").is_empty() && !is_uuid(text("ID")) {
            return Ok(Expected::text(Class::RegisterBody, 500, "Bad node ID"));
        }
        if text("Address").is_empty() && !skips_node {
            let why = "Must provide address if SkipNodeUpdate is not set";
            return Ok(Expected::text(Class::RegisterBody, 500, why));
        }
        let asked = field(&body, "Service").and_then(Value::as_object);
        if asked.is_some_and(|service| !id_of(service).is_empty() && service_name(service).is_empty()) {
            return Ok(Expected::text(Class::RegisterBody, 500, "Must provide service name with ID"));
        }
        let node = self.names.node(text("Node"))?;
        let service = asked.map(|service| self.names.service(id_of(service))).transpose()?;
        let listed = field(&body, "Checks").and_then(Value::as_array).into_iter().flatten();
        let checks: Vec<Wanted> = field(&body, "Check")
            .into_iter()
            .chain(listed)
            .filter_map(Value::as_object)
            .map(|check| self.wanted(node, text("Node"), check))
            .collect::<Result<_, _>>()?;
        self.server.begin_entry();
        if asked.is_some_and(|service| id_of(service).is_empty()) {
            // C-TXN-11: the entry is in the log, and nothing of it is applied.
            return Ok(Expected::text(Class::CheckNoId, 500, "object missing primary index"));
        }
        if let Some(other) =
            checks.iter().map(|check| &check.node).find(|other| !other.is_empty() && **other != text("Node"))
        {
            // C-INV-15: the entry is in the log, and nothing of it is applied.
            let why = format!("check node {other:?} does not match node {:?}", text("Node"));
            return Ok(Expected::text(Class::CheckElsewhere, 500, why));
        }
        if checks.iter().any(|check| check.id().is_empty()) {
            return Ok(Expected::text(Class::CheckNoId, 500, "object missing primary index"));
        }
        let is_kept = skips_node && self.server.is_listed(node);
        let former = if is_kept { None } else { self.former(text("ID"), text("Node"), node) };
        // C-INV-19: what goes with the former name is not there for the checks.
        let keeps_services = former != Some(node);
        let known = |wanted: &Wanted| {
            let is_there = |of: u16| Some(of) == service || keeps_services && self.server.has_service(node, of);
            wanted.service.is_none_or(is_there)
        };
        if !checks.iter().all(known) {
            // The entry is in the log, and nothing of it is applied.
            return Ok(Expected::text(Class::CheckOfNoService, 500, "Missing service registration"));
        }
        let mut class = Class::NodeRegistered;
        if !is_kept {
            let create = former.and_then(|former| self.server.record(Item::Node(former))).map(|record| record.create);
            if let Some(former) = former {
                self.act(|server, context, out| server.drop_node(former, context, out));
                class = Class::NodeRenamed;
            }
            self.note_node_id(text("ID"), node);
            let form = node_form(&body, "NodeMeta", &self.datacenter);
            let text = self.text(node, &form);
            self.register_item(Registration::Node(node, text));
            create.into_iter().for_each(|create| self.server.date_node(node, create));
        }
        if let (Some(service), Some(asked)) = (service, asked) {
            let form = service_form(text("Node"), asked);
            let (text, face) = (self.text(node, &form), self.face(&form));
            self.register_item(Registration::Service { node, service, text, face });
        }
        for wanted in checks {
            let (kind, status) = (wanted.kind, wanted.status());
            let text = self.text(node, &wanted.form);
            self.register_item(Registration::Check { node, kind, status, service: wanted.service, text });
            class = if status == Status::Critical { Class::CheckCritical } else { Class::CheckSet };
        }
        Ok(Expected::done(class, true))
    }

    /// Reads a check of a node that is written like this.
    pub(super) fn wanted(
        &mut self,
        node: ClientId,
        on: &str,
        check: &Map<String, Value>,
    ) -> Result<Wanted, NameLimitError> {
        let text = |name: &str| field(check, name).and_then(Value::as_str).unwrap_or("");
        let service = (!text("ServiceID").is_empty()).then(|| self.names.service(text("ServiceID"))).transpose()?;
        let form = check_form(if text("Node").is_empty() { on } else { text("Node") }, check);
        let kind = self.names.check(node, form.json["CheckID"].as_str().unwrap_or(""))?;
        Ok(Wanted { kind, service, form, node: text("Node").to_owned() })
    }

    /// C-INV-4, C-INV-19: the node that has this id under another name, or under this one in other letters.
    pub(super) fn former(&self, id: &str, name: &str, node: ClientId) -> Option<ClientId> {
        let old = self.node_of_id(id)?;
        let written = self.written(&self.server.record(Item::Node(old))?);
        (old != node || written["Node"] != name).then_some(old)
    }

    /// The node that has an id.
    pub(super) fn node_of_id(&self, id: &str) -> Option<ClientId> {
        let id = id.to_ascii_lowercase();
        self.node_ids.iter().find(|(known, _)| *known == id && !id.is_empty()).map(|(_, node)| *node)
    }

    /// A registration without an id takes it away.
    pub(super) fn note_node_id(&mut self, id: &str, node: ClientId) {
        let id = id.to_ascii_lowercase();
        self.node_ids.retain(|(known, other)| *known != id && *other != node);
        if !id.is_empty() {
            self.node_ids.push((id, node));
        }
    }

    /// C-INV-8: a service, else a check, else the node; C-INV-7: what is not there is no error.
    pub(super) fn deregister(&mut self, parts: &Parts<'_>) -> Answered {
        let Some(body) = object(parts.body) else {
            return Ok(Expected::text(Class::RegisterBody, 400, "Request decode failed"));
        };
        let text = |name: &str| field(&body, name).and_then(Value::as_str).unwrap_or("");
        if self.is_elsewhere(text("Datacenter")) {
            return Ok(Expected::text(Class::NoDatacenter, 500, "No path to datacenter"));
        }
        if text("Node").is_empty() {
            return Ok(Expected::text(Class::RegisterBody, 500, "Must provide node"));
        }
        let node = self.names.node(text("Node"))?;
        let is_listed = self.server.is_listed(node);
        let class = if !text("ServiceID").is_empty() {
            let service = self.names.service(text("ServiceID"))?;
            let was_there = is_listed && self.server.has_service(node, service);
            self.act(|server, context, out| server.deregister_service(node, service, context, out));
            if was_there { Class::ServiceRemoved } else { Class::NothingRemoved }
        } else if !text("CheckID").is_empty() {
            let kind = self.names.check(node, text("CheckID"))?;
            let was_there = self.server.check(node, kind).is_some();
            self.act(|server, context, out| server.deregister_check(node, kind, context, out));
            if was_there { Class::CheckRemoved } else { Class::NothingRemoved }
        } else {
            self.act(|server, context, out| server.deregister_node(node, context, out));
            self.node_ids.retain(|(_, other)| *other != node);
            if is_listed { Class::NodeRemoved } else { Class::NothingRemoved }
        };
        Ok(Expected::done(class, true))
    }

    /// C-GEN-8: the checks of a node, by id. C-INV-13: at the index of the table of checks.
    pub(super) fn health_of_node(&mut self, parts: &Parts<'_>) -> Answered {
        if parts.path.is_empty() {
            return Ok(Expected::text(Class::SessionMissing, 400, "Missing node name"));
        }
        let node = self.names.node(&parts.path)?;
        let mut checks: Vec<(&str, BodyShape)> = CheckKind::all()
            .filter_map(|kind| {
                let said = self.server.check(node, kind)?;
                let record = self.server.record(Item::Check(node, kind)).unwrap_or_default();
                Some((self.names.check_key(node, kind), self.check_shape(node, kind, said, &record)))
            })
            .collect();
        checks.sort_unstable_by_key(|(key, _)| *key);
        let shapes = checks.into_iter().map(|(_, shape)| shape).collect();
        Ok(Expected::new(Class::Health, 200, BodyShape::List(shapes)).at(self.server.checks_index()))
    }

    /// C-INV-14: the status that was written; a model with a fault may say another, or forget how a check was written.
    fn check_shape(&self, node: ClientId, kind: CheckKind, said: Status, record: &ItemRecord) -> BodyShape {
        if self.server.record(Item::Check(node, kind)).is_none() {
            return BodyShape::Some(vec![("Status", BodyShape::text(said.to_string()))]);
        }
        let mut shape = self.item_shape(Item::Check(node, kind), record);
        if let BodyShape::Some(fields) = &mut shape
            && let Some((_, shown)) = fields.iter_mut().find(|(name, _)| *name == "Status")
            && !matches!(shown, BodyShape::Json(Value::String(text)) if status(text) == said)
        {
            *shown = BodyShape::text(said.to_string());
        }
        shape
    }

    /// C-INV-18: a node with its services.
    pub(super) fn node_with_services(&mut self, parts: &Parts<'_>) -> Answered {
        if parts.path.is_empty() {
            return Ok(Expected::text(Class::SessionMissing, 400, "Missing node name"));
        }
        let node = self.names.node(&parts.path)?;
        let record = self.server.record(Item::Node(node)).filter(|_| self.server.is_listed(node));
        let Some(record) = record else {
            if parts.path.len() > 1 && parts.path.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit()) {
                return Err(NameLimitError("a name that may be the beginning of a node's id"));
            }
            return Ok(Expected::new(Class::NodeUnknown, 200, BodyShape::Json(Value::Null)).at(Index::NONE));
        };
        let services = self.server.services_of(node).filter_map(|service| {
            let (item, record) = (Item::Service(node, service), self.server.record(Item::Service(node, service))?);
            let id = self.written(&record)["ID"].as_str().unwrap_or("").to_owned();
            Some((id, self.item_shape(item, &record)))
        });
        let mut fields = vec![("Node", self.item_shape(Item::Node(node), &record))];
        if !self.agents.contains(&node) {
            fields.push(("Services", BodyShape::Map(services.collect())));
        }
        Ok(Expected::new(Class::NodeFound, 200, BodyShape::Some(fields)).at(self.server.catalog_index()))
    }

    fn is_elsewhere(&self, datacenter: &str) -> bool {
        !datacenter.is_empty() && datacenter != self.datacenter
    }
}

/// The id of a service; without one, its name.
pub(super) fn id_of(service: &Map<String, Value>) -> &str {
    let text = |name: &str| field(service, name).and_then(Value::as_str).filter(|text| !text.is_empty());
    text("ID").or(text("Service")).unwrap_or("")
}

fn service_name(service: &Map<String, Value>) -> &str {
    field(service, "Service").and_then(Value::as_str).unwrap_or("")
}

fn object_of(value: Value) -> Map<String, Value> {
    if let Value::Object(object) = value { object } else { Map::new() }
}

/// What follows the first object of a body is ignored; null is an empty one.
pub(super) fn object(body: &[u8]) -> Option<Map<String, Value>> {
    match serde_json::Deserializer::from_slice(body).into_iter::<Value>().next() {
        Some(Ok(Value::Object(object))) => Some(object),
        Some(Ok(Value::Null)) => Some(Map::new()),
        _ => None,
    }
}
