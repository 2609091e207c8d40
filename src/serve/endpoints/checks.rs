//! Services and checks that a client gives to the agent. C-INV-10: what becomes of them reaches the catalogue by a sync, which is a
//! registration like any other; here it comes at once. A check is a TTL check: the stand-in probes nothing.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_conform::{HttpRequest, nanoseconds};
use serde_json::{Map, Value, json};

use super::directory::{get, text};
use super::parameter;
use crate::consul::beyond;
use crate::stand_in::{Answer, StandIn};

/// What the agent has been given.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgentChecks {
    services: BTreeSet<String>,
    checks: BTreeMap<String, AgentCheck>,
}

#[derive(Clone, Debug)]
struct AgentCheck {
    name: String,
    service: String,
    ttl: i64,
    /// When it turns critical, unless a report arrives before.
    due: Option<i64>,
}

impl AgentChecks {
    /// When each check turns critical by itself.
    pub(crate) fn deadlines(&self) -> impl Iterator<Item = (i64, &str)> {
        self.checks.iter().filter_map(|(id, check)| Some((check.due?, id.as_str())))
    }

    /// The ids of all checks.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.checks.keys().cloned().collect()
    }

    pub(super) fn count(&self) -> usize {
        self.checks.len()
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.checks.contains_key(id)
    }

    pub(super) fn has_service(&self, id: &str) -> bool {
        self.services.contains(id)
    }

    pub(super) fn forget(&mut self, id: &str) {
        self.checks.remove(id);
    }

    pub(super) fn forget_service(&mut self, id: &str) {
        self.services.remove(id);
        self.checks.retain(|_, check| check.service != id);
    }
}

impl StandIn {
    /// A write to the catalogue by the agent: judged and recorded as one.
    pub(super) fn catalog_write(&mut self, what: &str, body: &Value, client: &str) -> Answer {
        let url = format!("/v1/catalog/{what}");
        let question = HttpRequest { method: "PUT".to_owned(), url, body: body.to_string().into_bytes() };
        let answer = self.serve(&question, client);
        self.record.sync(&question, &answer, self.now);
        match answer.status {
            200 => Answer::new(200, "text/plain", ""),
            _ => answer,
        }
    }

    pub(super) fn register_service(&mut self, question: &HttpRequest, client: &str) -> Answer {
        let Ok(Value::Object(body)) = serde_json::from_slice(&question.body) else {
            return Answer::text(400, "Request decode failed");
        };
        let name = text(&body, "Name").to_owned();
        if name.is_empty() {
            return Answer::text(400, "Missing service name");
        }
        let id = if text(&body, "ID").is_empty() { name.clone() } else { text(&body, "ID").to_owned() };
        let listed = get(&body, "Checks").and_then(Value::as_array).into_iter().flatten();
        let wanted: Vec<&Map<String, Value>> =
            get(&body, "Check").into_iter().chain(listed).filter_map(Value::as_object).collect();
        let mut checks = Vec::new();
        for (place, check) in wanted.iter().enumerate() {
            let number = if wanted.len() > 1 { format!(":{}", place + 1) } else { String::new() };
            let default = (format!("service:{id}{number}"), format!("Service '{name}' check"));
            match self.given(check, default, &id) {
                Ok(check) => checks.push(check),
                Err(refusal) => return refusal,
            }
        }
        if parameter(&question.url, "replace-existing-checks").is_some_and(|value| value != "false") {
            self.drop_checks(&id, &checks, client);
        }
        let pick = |field: &str, default: Value| get(&body, field).cloned().unwrap_or(default);
        let mut service = json!({
            "ID": id, "Service": name, "Tags": pick("Tags", json!([])), "Port": pick("Port", json!(0)),
            "Address": text(&body, "Address"), "Meta": pick("Meta", json!({})),
            "EnableTagOverride": pick("EnableTagOverride", json!(false)),
        });
        for field in ["Kind", "Proxy", "Connect", "TaggedAddresses"] {
            get(&body, field).into_iter().for_each(|value| service[field] = value.clone());
        }
        let registration = json!({
            "Node": self.settings.node, "SkipNodeUpdate": true, "Service": service, "Checks": checks,
        });
        self.backend.agent_checks.services.insert(id);
        self.catalog_write("register", &registration, client)
    }

    /// Deregisters the checks of a service that are not given again.
    fn drop_checks(&mut self, service: &str, given: &[Value], client: &str) {
        let is_given = |id: &str| given.iter().any(|check| check["CheckID"] == id);
        let checks = self.backend.agent_checks.checks.iter();
        let old: Vec<String> =
            checks.filter(|(id, check)| check.service == service && !is_given(id)).map(|(id, _)| id.clone()).collect();
        for id in old {
            self.backend.agent_checks.forget(&id);
            self.catalog_write("deregister", &json!({"Node": self.settings.node, "CheckID": id}), client);
        }
    }

    pub(super) fn register_check(&mut self, body: &[u8], client: &str) -> Answer {
        let Ok(Value::Object(body)) = serde_json::from_slice(body) else {
            return Answer::text(400, "Request decode failed");
        };
        let name = text(&body, "Name").to_owned();
        if name.is_empty() {
            return Answer::text(400, "Missing check name");
        }
        let of = text(&body, "ServiceID").to_owned();
        if !of.is_empty() && !self.backend.agent_checks.has_service(&of) {
            return Answer::text(500, format!("ServiceID {of:?} does not exist"));
        }
        let check = match self.given(&body, (name.clone(), name), &of) {
            Ok(check) => check,
            Err(refusal) => return refusal,
        };
        let registration = json!({"Node": self.settings.node, "SkipNodeUpdate": true, "Check": check});
        self.catalog_write("register", &registration, client)
    }

    /// A check as it is registered. C-INV-10: critical at first, unless it says something else.
    fn given(&mut self, body: &Map<String, Value>, default: (String, String), service: &str) -> Result<Value, Answer> {
        let ttl = match nanoseconds(text(body, "TTL")) {
            Ok(ttl) if ttl > 0 => ttl,
            _ => return Err(beyond("a check that is no TTL check: it probes nothing")),
        };
        if !text(body, "DeregisterCriticalServiceAfter").is_empty() {
            self.notice(
                "DeregisterCriticalServiceAfter is ignored: a service stays however long its check is critical",
            );
        }
        let or = |text: &str, default: String| if text.is_empty() { default } else { text.to_owned() };
        let id = or(or(text(body, "CheckID"), text(body, "ID").to_owned()).as_str(), default.0);
        let name = or(text(body, "Name"), default.1);
        let status = or(text(body, "Status"), "critical".to_owned());
        if !["passing", "warning", "critical"].contains(&status.as_str()) {
            return Err(Answer::text(400, "Status for checks must 'passing', 'warning', 'critical'"));
        }
        let due = Some(self.now.saturating_add(ttl));
        let check = AgentCheck { name: name.clone(), service: service.to_owned(), ttl, due };
        self.backend.agent_checks.checks.insert(id.clone(), check);
        Ok(json!({
            "CheckID": id, "Name": name, "Status": status, "ServiceID": service, "Notes": text(body, "Notes"), "Type": "ttl",
        }))
    }

    /// A client reports how a check is.
    pub(super) fn set_check(&mut self, id: &str, status: &str, output: &str, client: &str) -> Answer {
        let now = self.now;
        let Some(check) = self.backend.agent_checks.checks.get_mut(id) else {
            return Answer::text(500, format!("CheckID {id:?} does not have associated TTL"));
        };
        check.due = Some(now.saturating_add(check.ttl));
        self.sync_check(id, status, output, client)
    }

    fn sync_check(&mut self, id: &str, status: &str, output: &str, client: &str) -> Answer {
        let Some(AgentCheck { name, service, .. }) = self.backend.agent_checks.checks.get(id).cloned() else {
            return Answer::text(404, "");
        };
        // C-INV-10: an agent tells the catalogue nothing that it knows already.
        let node = self.settings.node.clone();
        let is_known = self.backend.agent.check_status(&node, id).is_some_and(|known| known.to_string() == status);
        if is_known && self.backend.directory.check(&node, id).is_some_and(|known| text(known, "Output") == output) {
            return Answer::new(200, "text/plain", "");
        }
        let check = json!({
            "CheckID": id, "Name": name, "Status": status, "ServiceID": service, "Output": output, "Type": "ttl",
        });
        let registration = json!({"Node": self.settings.node, "SkipNodeUpdate": true, "Check": check});
        self.catalog_write("register", &registration, client)
    }

    /// No report has arrived in time.
    pub(crate) fn check_runs_out(&mut self, id: &str) {
        if let Some(check) = self.backend.agent_checks.checks.get_mut(id) {
            check.due = None;
            self.sync_check(id, "critical", "TTL expired", "the agent");
            self.wake();
        }
    }
}
