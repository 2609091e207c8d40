//! `/v1/catalog/` and `/v1/health/`: nodes, services and checks, as far as sessions hang on them.

use serde_json::{Map, Value};

use super::names::Overflow;
use super::sessions::SERF_HEALTH;
use super::transactions::status;
use super::{Agent, Answered, Class, Expected, Parts, Shape};
use fencepost_consul::CheckKind;
use fencepost_consul::Status;
use fencepost_model::ids::ClientId;

/// What a registration says of a check.
struct Wanted {
    kind: CheckKind,
    status: Status,
    service: Option<u16>,
}

impl Agent {
    /// The agent's own node is there from the start, and well.
    pub(super) fn add_own_node(&mut self, name: &str) {
        let node = self.names.node(name).expect("the first one");
        let kind = self.names.check(SERF_HEALTH).expect("the first one");
        self.act(|server, context, out| server.apply_check(node, kind, Status::Passing, context, out));
    }

    pub(super) fn own_node(&self) -> &str {
        self.names.first_node()
    }

    /// C-INV-9: everything at one log position; C-INV-4: a node whose id is known under another name takes that away.
    pub(super) fn register(&mut self, parts: &Parts<'_>) -> Answered {
        let Some(body) = object(parts.body) else {
            return Ok(Expected::text(Class::RegisterBody, 400, "Request decode failed"));
        };
        let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or("");
        if text("Node").is_empty() || text("Address").is_empty() {
            return Ok(Expected::text(Class::RegisterBody, 500, "Must provide"));
        }
        let node = self.names.node(text("Node"))?;
        let service = body.get("Service").filter(|service| !service.is_null()).map(|service| {
            let id = service["ID"].as_str().or(service["Service"].as_str()).unwrap_or("");
            self.names.service(id)
        });
        let service = service.transpose()?;
        let listed = body.get("Checks").and_then(Value::as_array).into_iter().flatten();
        let checks: Vec<Wanted> = body
            .get("Check")
            .filter(|check| !check.is_null())
            .into_iter()
            .chain(listed)
            .map(|check| self.read_check_of(check))
            .collect::<Result<_, _>>()?;
        self.server.begin_entry();
        let known =
            |wanted: &Wanted| wanted.service.is_none_or(|of| Some(of) == service || self.server.has_service(node, of));
        if !checks.iter().all(known) {
            // The entry is in the log, and nothing of it is applied.
            return Ok(Expected::text(Class::CheckOfNoService, 500, "Missing service registration"));
        }
        let is_renamed = self.note_node_id(text("ID"), node);
        self.server.add_node(node);
        service.into_iter().for_each(|service| self.server.add_service(node, service));
        let mut class = if is_renamed { Class::NodeRenamed } else { Class::NodeRegistered };
        for Wanted { kind, status, service } in checks {
            self.server.attach(node, kind, service);
            self.act(|server, context, out| server.apply_check(node, kind, status, context, out));
            class = if status == Status::Critical { Class::CheckCritical } else { Class::CheckSet };
        }
        Ok(Expected::done(class, true))
    }

    fn read_check_of(&mut self, check: &Value) -> Result<Wanted, Overflow> {
        let text = |name: &str| check[name].as_str().unwrap_or("");
        let id = if text("CheckID").is_empty() { text("Name") } else { text("CheckID") };
        let service = (!text("ServiceID").is_empty()).then(|| self.names.service(text("ServiceID")));
        Ok(Wanted { kind: self.names.check(id)?, status: status(text("Status")), service: service.transpose()? })
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
        let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or("");
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
            let kind = self.names.check(text("CheckID"))?;
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

    /// C-GEN-8: the checks of a node, by id.
    pub(super) fn health_of_node(&mut self, parts: &Parts<'_>) -> Answered {
        let node = self.names.node(&parts.path)?;
        let mut checks: Vec<(&str, Status, &str)> = CheckKind::all()
            .filter_map(|kind| {
                let status = self.server.check(node, kind)?;
                let service = self.server.service_of(node, kind).map_or("", |service| self.names.service_name(service));
                Some((self.names.check_name(kind)?, status, service))
            })
            .collect();
        checks.sort_unstable();
        let shape = |(id, status, service): (&str, Status, &str)| {
            let id = if id.eq_ignore_ascii_case(SERF_HEALTH) { SERF_HEALTH } else { id };
            Shape::Some(vec![
                ("CheckID", Shape::text(id)),
                ("Status", Shape::text(status.to_string())),
                ("ServiceID", Shape::text(service)),
            ])
        };
        Ok(Expected::new(Class::Health, 200, Shape::List(checks.into_iter().map(shape).collect())))
    }
}

fn object(body: &[u8]) -> Option<Map<String, Value>> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    }
}
