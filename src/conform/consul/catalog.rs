//! `/v1/catalog/` and `/v1/health/`: nodes, services and checks, as far as sessions hang on them.

use fencepost_consul::CheckKind;
use fencepost_consul::Status;
use fencepost_model::ids::ClientId;
use serde_json::{Map, Value};

use super::names::NameLimitError;
use super::sessions::SERF_HEALTH;
use super::transactions::status;
use super::{Agent, Answered, BodyShape, Class, Expected, Parts, field};

/// What a registration says of a check.
pub(super) struct Wanted {
    pub(super) kind: CheckKind,
    pub(super) service: Option<u16>,
    /// The node that it names, if any.
    node: String,
    id: String,
    status: String,
    service_text: String,
}

impl Wanted {
    pub(super) fn status(&self) -> Status {
        status(&self.status)
    }
}

impl Agent {
    /// The node of an agent is there from the start, and well.
    pub(super) fn add_own_node(&mut self, name: &str) {
        let node = self.names.node(name).expect("one of few");
        let kind = self.names.check(node, SERF_HEALTH).expect("its first one");
        self.names.note_check(node, kind, [SERF_HEALTH, "passing", ""]);
        self.act(|server, context, out| server.apply_check(node, kind, Status::Passing, context, out));
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
        if text("Address").is_empty() && !skips_node {
            let why = "Must provide address if SkipNodeUpdate is not set";
            return Ok(Expected::text(Class::RegisterBody, 500, why));
        }
        let node = self.names.node(text("Node"))?;
        let service =
            field(&body, "Service").and_then(Value::as_object).map(|service| self.names.service(id_of(service)));
        let service = service.transpose()?;
        let listed = field(&body, "Checks").and_then(Value::as_array).into_iter().flatten();
        let checks: Vec<Wanted> = field(&body, "Check")
            .into_iter()
            .chain(listed)
            .filter_map(Value::as_object)
            .map(|check| self.wanted(node, check))
            .collect::<Result<_, _>>()?;
        self.server.begin_entry();
        if let Some(other) =
            checks.iter().map(|check| &check.node).find(|other| !other.is_empty() && **other != text("Node"))
        {
            // C-INV-15: the entry is in the log, and nothing of it is applied.
            let why = format!("check node {other:?} does not match node {:?}", text("Node"));
            return Ok(Expected::text(Class::CheckElsewhere, 500, why));
        }
        if checks.iter().any(|check| check.id.is_empty()) {
            return Ok(Expected::text(Class::CheckNoId, 500, "object missing primary index"));
        }
        let known =
            |wanted: &Wanted| wanted.service.is_none_or(|of| Some(of) == service || self.server.has_service(node, of));
        if !checks.iter().all(known) {
            // The entry is in the log, and nothing of it is applied.
            return Ok(Expected::text(Class::CheckOfNoService, 500, "Missing service registration"));
        }
        let is_kept = skips_node && self.server.is_listed(node);
        let is_renamed = !is_kept && self.note_node_id(text("ID"), node);
        self.server.add_node(node);
        service.into_iter().for_each(|service| self.server.add_service(node, service));
        let mut class = if is_renamed { Class::NodeRenamed } else { Class::NodeRegistered };
        for wanted in checks {
            let (kind, status) = (wanted.kind, wanted.status());
            self.server.attach(node, kind, wanted.service);
            self.note(node, &wanted);
            self.act(|server, context, out| server.apply_check(node, kind, status, context, out));
            class = if status == Status::Critical { Class::CheckCritical } else { Class::CheckSet };
        }
        Ok(Expected::done(class, true))
    }

    /// Reads a check of a node; without a node it is one of this.
    pub(super) fn wanted(&mut self, node: ClientId, check: &Map<String, Value>) -> Result<Wanted, NameLimitError> {
        let text = |name: &str| field(check, name).and_then(Value::as_str).unwrap_or("").to_owned();
        let id = if text("CheckID").is_empty() { text("Name") } else { text("CheckID") };
        let service_text = text("ServiceID");
        let service = (!service_text.is_empty()).then(|| self.names.service(&service_text)).transpose()?;
        let kind = self.names.check(node, &id)?;
        Ok(Wanted { kind, service, node: text("Node"), id, status: text("Status"), service_text })
    }

    /// Writes down how a check was registered.
    pub(super) fn note(&mut self, node: ClientId, wanted: &Wanted) {
        // C-SES-11: without a status it is critical.
        let status = if wanted.status.is_empty() { "critical" } else { &wanted.status };
        self.names.note_check(node, wanted.kind, [&wanted.id, status, &wanted.service_text]);
    }

    /// C-INV-4: a node's id says that it is the same node, whatever its name.
    fn note_node_id(&mut self, id: &str, node: ClientId) -> bool {
        if id.is_empty() {
            // A registration without an id takes it away.
            self.node_ids.retain(|(_, other)| *other != node);
            return false;
        }
        let old = self.node_ids.iter().find(|(known, _)| known == id).map(|(_, node)| *node);
        self.node_ids.retain(|(known, other)| known != id && *other != node);
        self.node_ids.push((id.to_owned(), node));
        let Some(old) = old.filter(|old| *old != node) else { return false };
        let was_listed = self.server.is_listed(old);
        self.act(|server, context, out| server.drop_node(old, context, out));
        was_listed
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
        let mut checks: Vec<(String, BodyShape)> = CheckKind::all()
            .filter_map(|kind| {
                let said = self.server.check(node, kind)?;
                let check = self.names.check_name(node, kind)?;
                // C-INV-14: the text that was written; a model with a fault may say another.
                let text = if status(&check.status) == said { check.status.clone() } else { said.to_string() };
                let shape = BodyShape::Some(vec![
                    ("CheckID", BodyShape::text(&check.id)),
                    ("Status", BodyShape::text(text)),
                    ("ServiceID", BodyShape::text(&check.service)),
                ]);
                Some((check.id.to_lowercase(), shape))
            })
            .collect();
        checks.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let shapes = checks.into_iter().map(|(_, shape)| shape).collect();
        Ok(Expected::new(Class::Health, 200, BodyShape::List(shapes)).at(self.server.checks_index()))
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

/// What follows the first object of a body is ignored; null is an empty one.
pub(super) fn object(body: &[u8]) -> Option<Map<String, Value>> {
    match serde_json::Deserializer::from_slice(body).into_iter::<Value>().next() {
        Some(Ok(Value::Object(object))) => Some(object),
        Some(Ok(Value::Null)) => Some(Map::new()),
        _ => None,
    }
}
