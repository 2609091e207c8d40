//! Answers of the model, with what is shown besides and has no other effect.

use fencepost_conform::{Class, HttpRequest};
use serde_json::{Map, Value, json};

use super::directory::{get, object, text};
use crate::stand_in::{Answer, StandIn};

impl StandIn {
    pub(crate) fn decorate(&mut self, question: &HttpRequest, class: Class, answer: &mut Answer) {
        let mut value = answer.value();
        match class {
            Class::Health => {
                let node = path_end(&question.url);
                for check in value.as_array_mut().into_iter().flatten() {
                    let id = check["CheckID"].as_str().unwrap_or_default().to_owned();
                    fill(check, self.backend.directory.check(&node, &id));
                }
            }
            Class::NodeFound => {
                let whole = self.node_with_services(&path_end(&question.url));
                fill(&mut value["Node"], whole["Node"].as_object());
                let services = whole["Services"].as_object();
                for (id, service) in value["Services"].as_object_mut().into_iter().flatten() {
                    fill(service, services.and_then(|services| services.get(id)?.as_object()));
                }
            }
            Class::QueryCreated => {
                if let Some(id) = value["ID"].as_str() {
                    self.backend.directory.note_query(id, &question.body);
                }
                return;
            }
            Class::QueryUpdated => return self.backend.directory.note_query(&path_end(&question.url), &question.body),
            Class::QueryFound | Class::QueryList => {
                for query in value.as_array_mut().into_iter().flatten() {
                    let id = query["ID"].as_str().unwrap_or_default().to_owned();
                    fill(query, self.backend.directory.query(&id));
                }
            }
            Class::QueryExecuted => value = self.run_query(&question.url),
            Class::TxnRead | Class::TxnReadFailed => {
                self.show_registrations(&question.body, &mut value);
                let meta = json!({"Index": 0, "LastContact": 0, "KnownLeader": true});
                fill(&mut value, meta.as_object());
            }
            Class::TxnDone | Class::TxnFreesAndLocks | Class::TxnItemAtIndex | Class::TxnCheckUntold => {
                self.show_registrations(&question.body, &mut value);
            }
            _ => return,
        }
        let body = value.to_string().into_bytes();
        *answer = match class {
            Class::QueryExecuted => Answer::new(200, "application/json", body).of_leader(),
            _ => Answer { body, ..answer.clone() },
        };
    }

    /// `/v1/query/ID/execute` and `/v1/query/ID/explain`. C-PQ-9: by name or id.
    fn run_query(&mut self, url: &str) -> Value {
        let path = url.split('?').next().unwrap_or_default();
        let is_explained = path.ends_with("/explain");
        let name = path.trim_end_matches("/explain").trim_end_matches("/execute");
        let query = self.backend.directory.query_by(&path_end(name)).cloned().unwrap_or_default();
        if is_explained {
            return json!({"Query": query});
        }
        let service = get(&query, "Service").map(object).unwrap_or_default();
        self.executed(&service)
    }

    /// Nodes, services and checks among the results of a transaction: the model says what makes a difference to it.
    fn show_registrations(&self, body: &[u8], value: &mut Value) {
        let Ok(Value::Array(items)) = serde_json::from_slice(body) else { return };
        // A service does not say of which node it is; each operation on one that is not a deletion has a result.
        let parts = items.iter().filter_map(|item| get(item.as_object()?, "Service")?.as_object());
        let mut nodes = parts
            .filter(|part| matches!(text(part, "Verb"), "set" | "cas" | "get"))
            .map(|part| text(part, "Node").to_lowercase());
        for result in value["Results"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
            for (kind, shown) in result.iter_mut() {
                let written = |name: &str| shown[name].as_str().unwrap_or_default().to_owned();
                let known = match kind.as_str() {
                    "Node" => self.backend.directory.node(&written("Node")),
                    "Service" => self.backend.directory.service(&nodes.next().unwrap_or_default(), &written("ID")),
                    "Check" => self.backend.directory.check(&written("Node"), &written("CheckID")),
                    _ => continue,
                };
                fill(shown, known);
                // Lists of checks have no tags there, and transactions null.
                if shown["ServiceTags"].as_array().is_some_and(Vec::is_empty) {
                    shown["ServiceTags"] = Value::Null;
                }
            }
        }
    }
}

/// Adds the fields that are not there.
fn fill(value: &mut Value, more: Option<&Map<String, Value>>) {
    let (Some(fields), Some(more)) = (value.as_object_mut(), more) else { return };
    for (name, value) in more {
        fields.entry(name.clone()).or_insert_with(|| value.clone());
    }
}

/// The last part of a path, decoded.
fn path_end(url: &str) -> String {
    let path = url.split('?').next().unwrap_or_default();
    let end = path.rsplit('/').next().unwrap_or_default();
    percent_encoding::percent_decode_str(end).decode_utf8_lossy().into_owned()
}
