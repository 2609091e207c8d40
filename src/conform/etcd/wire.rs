//! Calls as requests to the gateway (E-GEN-4), and its answers without what is fresh in each.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fencepost_etcd::mvcc::{
    Compared, Comparison, DeleteRange, EtcdCall, LeaderKey, Put, RangeRead, Relation, SortBy, Sorted, Transaction,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use ureq::http::Request;

use crate::error::ConformError;

/// How long a caller waits that is going to leave a queue (E-CC-31).
pub(super) const PATIENCE: Duration = Duration::from_millis(300);

/// A running etcd server.
#[derive(Clone, Debug)]
pub struct EtcdServer {
    base: String,
    http: ureq::Agent,
    hasty: ureq::Agent,
    /// Its version.
    pub version: String,
}

/// An answer of the gateway.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EtcdReply {
    /// The HTTP status; 0: there was no answer, for the caller waited and went away.
    pub status: u16,
    /// The body.
    pub body: Value,
}

impl EtcdReply {
    /// No answer.
    pub(super) fn none() -> Self {
        EtcdReply { status: 0, body: Value::Null }
    }

    /// The revision in its header.
    pub(super) fn revision(&self) -> Option<i64> {
        self.body["header"]["revision"].as_str()?.parse().ok()
    }

    pub(super) fn drop_header(&mut self) {
        if let Value::Object(body) = &mut self.body {
            body.remove("header");
        }
    }

    /// The time that remains of a lease which is there is left out if it is below 0.
    pub(super) fn drop_time_overdue(&mut self) {
        let Value::Object(body) = &mut self.body else { return };
        let is_below_zero = body.get("TTL").and_then(Value::as_str).is_some_and(|ttl| ttl.starts_with('-'));
        if is_below_zero && body.contains_key("grantedTTL") {
            body.remove("TTL");
        }
    }

    /// Without what is fresh in each answer: ids of cluster and member, the term, the revision in the header of a renewal, the remaining
    /// time of a lease if it is at most the granted one.
    pub(super) fn comparable(mut self, call: &EtcdCall) -> Self {
        strip(&mut self.body);
        match call {
            EtcdCall::Renew(_) => {
                if let Some(result) = self.body.get_mut("result").and_then(Value::as_object_mut) {
                    result.remove("header");
                }
            }
            EtcdCall::TimeToLive { .. } => {
                let number = |name: &str| self.body.get(name)?.as_str()?.parse::<i64>().ok();
                if let Some(granted) = number("grantedTTL")
                    && (0..=granted).contains(&number("TTL").unwrap_or(0))
                {
                    self.body["TTL"] = json!("some");
                }
                sort(self.body.get_mut("keys"));
            }
            EtcdCall::Leases => sort(self.body.get_mut("leases")),
            _ => {}
        }
        self
    }
}

fn sort(list: Option<&mut Value>) {
    if let Some(Value::Array(items)) = list {
        items.sort_by_key(Value::to_string);
    }
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some(Value::Object(header)) = object.get_mut("header") {
                header.retain(|name, _| name == "revision");
                if header.is_empty() {
                    object.remove("header");
                }
            }
            object.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

impl EtcdServer {
    /// Connects to the server at an address like `http://127.0.0.1:2379`.
    ///
    /// # Errors
    /// There is no etcd at the address.
    pub fn connect(address: &str) -> Result<Self, ConformError> {
        let agent = |timeout: Duration| {
            let config = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0);
            config.timeout_global(Some(timeout)).build().new_agent()
        };
        let base = match address.trim_end_matches('/') {
            plain if plain.contains("://") => plain.to_owned(),
            plain => format!("http://{plain}"),
        };
        let (http, hasty) = (agent(Duration::from_secs(60)), agent(PATIENCE));
        let mut server = EtcdServer { base, http, hasty, version: String::new() };
        let about = server.request("GET", "/version", &Value::Null)?;
        let version = about.body["etcdserver"].as_str();
        let version = version.ok_or_else(|| ConformError(format!("{address} answers, but not as etcd does")))?;
        version.clone_into(&mut server.version);
        Ok(server)
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> Result<EtcdReply, ConformError> {
        Self::send(&self.http, method, &format!("{}{path}", self.base), body)
            .map_err(|error| ConformError(format!("{method} {}{path}: {error}", self.base)))
    }

    fn send(agent: &ureq::Agent, method: &str, url: &str, body: &Value) -> Result<EtcdReply, ureq::Error> {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let mut response = agent.run(Request::builder().method(method).uri(url).body(text)?)?;
        let status = response.status().as_u16();
        let text = response.body_mut().with_config().limit(64 << 20).read_to_string()?;
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Ok(EtcdReply { status, body })
    }

    /// Makes a call, and waits for the answer.
    ///
    /// # Errors
    /// The server cannot be reached, or its answer cannot be read.
    pub fn ask(&self, call: &EtcdCall) -> Result<EtcdReply, ConformError> {
        self.request("POST", path(call), &body(call))
    }

    /// Makes a call that has to wait, and goes away; an answer that comes nevertheless is returned.
    ///
    /// # Errors
    /// The server cannot be reached, or its answer cannot be read.
    pub fn ask_and_leave(&self, call: &EtcdCall) -> Result<EtcdReply, ConformError> {
        match Self::send(&self.hasty, "POST", &format!("{}{}", self.base, path(call)), &body(call)) {
            Err(ureq::Error::Timeout(_)) => Ok(EtcdReply::none()),
            other => other.map_err(|error| ConformError(format!("{}: {error}", path(call)))),
        }
    }
}

/// Bytes as the gateway writes them.
pub(super) fn bytes(text: &str) -> Value {
    Value::String(STANDARD.encode(text))
}

/// The text that bytes stand for, as far as it is one.
pub(super) fn text(bytes: &str) -> String {
    String::from_utf8_lossy(&STANDARD.decode(bytes).unwrap_or_default()).into_owned()
}

/// A number as the gateway writes it.
pub(super) fn number(number: i64) -> Value {
    Value::String(number.to_string())
}

fn path(call: &EtcdCall) -> &'static str {
    match call {
        EtcdCall::Range(_) => "/v3/kv/range",
        EtcdCall::Put(_) => "/v3/kv/put",
        EtcdCall::Delete(_) => "/v3/kv/deleterange",
        EtcdCall::Txn(_) => "/v3/kv/txn",
        EtcdCall::Compact(_) => "/v3/kv/compaction",
        EtcdCall::Grant { .. } => "/v3/lease/grant",
        EtcdCall::Renew(_) => "/v3/lease/keepalive",
        EtcdCall::Revoke(_) => "/v3/lease/revoke",
        EtcdCall::TimeToLive { .. } => "/v3/lease/timetolive",
        EtcdCall::Leases => "/v3/lease/leases",
        EtcdCall::Lock { .. } => "/v3/lock/lock",
        EtcdCall::Unlock { .. } => "/v3/lock/unlock",
        EtcdCall::Campaign { .. } => "/v3/election/campaign",
        EtcdCall::Proclaim { .. } => "/v3/election/proclaim",
        EtcdCall::Resign(_) => "/v3/election/resign",
        EtcdCall::Leader { .. } => "/v3/election/leader",
    }
}

fn body(call: &EtcdCall) -> Value {
    match call {
        EtcdCall::Range(range) => range_body(range),
        EtcdCall::Put(put) => put_body(put),
        EtcdCall::Delete(delete) => delete_body(delete),
        EtcdCall::Txn(txn) => txn_body(txn),
        EtcdCall::Compact(revision) => json!({ "revision": number(*revision) }),
        EtcdCall::Grant { id, ttl } => json!({ "ID": number(*id), "TTL": number(*ttl) }),
        EtcdCall::Renew(id) | EtcdCall::Revoke(id) => json!({ "ID": number(*id) }),
        EtcdCall::TimeToLive { id, keys } => json!({ "ID": number(*id), "keys": keys }),
        EtcdCall::Leases => json!({}),
        EtcdCall::Lock { name, lease } => json!({ "name": bytes(name), "lease": number(*lease) }),
        EtcdCall::Unlock { key } => json!({ "key": bytes(key) }),
        EtcdCall::Campaign { name, lease, value } => {
            json!({ "name": bytes(name), "lease": number(*lease), "value": bytes(value) })
        }
        EtcdCall::Proclaim { leader, value } => json!({ "leader": leader_body(leader), "value": bytes(value) }),
        EtcdCall::Resign(leader) => json!({ "leader": leader_body(leader) }),
        EtcdCall::Leader { name } => json!({ "name": bytes(name) }),
    }
}

fn leader_body(leader: &LeaderKey) -> Value {
    let LeaderKey { name, key, created, lease } = leader;
    json!({ "name": bytes(name), "key": bytes(key), "rev": number(*created), "lease": number(*lease) })
}

fn range_body(range: &RangeRead) -> Value {
    let order = match range.sorted {
        Sorted::Unsaid => "NONE",
        Sorted::Ascending => "ASCEND",
        Sorted::Descending => "DESCEND",
    };
    let target = match range.by {
        SortBy::Key => "KEY",
        SortBy::Version => "VERSION",
        SortBy::Created => "CREATE",
        SortBy::Modified => "MOD",
        SortBy::Value => "VALUE",
    };
    json!({
        "key": bytes(&range.key),
        "range_end": bytes(&range.end),
        "limit": number(range.limit),
        "revision": number(range.revision),
        "sort_order": order,
        "sort_target": target,
        "keys_only": range.keys_only,
        "count_only": range.count_only,
        "min_mod_revision": number(range.min_modified),
        "max_mod_revision": number(range.max_modified),
        "min_create_revision": number(range.min_created),
        "max_create_revision": number(range.max_created),
    })
}

fn put_body(put: &Put) -> Value {
    json!({
        "key": bytes(&put.key),
        "value": bytes(&put.value),
        "lease": number(put.lease),
        "prev_kv": put.previous,
        "ignore_value": put.ignore_value,
        "ignore_lease": put.ignore_lease,
    })
}

fn delete_body(delete: &DeleteRange) -> Value {
    json!({ "key": bytes(&delete.key), "range_end": bytes(&delete.end), "prev_kv": delete.previous })
}

fn txn_body(txn: &Transaction) -> Value {
    let compare: Vec<Value> = txn.compare.iter().map(compare_body).collect();
    let operations = |calls: &[EtcdCall]| calls.iter().map(operation).collect::<Vec<Value>>();
    json!({ "compare": compare, "success": operations(&txn.success), "failure": operations(&txn.failure) })
}

fn operation(call: &EtcdCall) -> Value {
    let name = match call {
        EtcdCall::Range(_) => "request_range",
        EtcdCall::Put(_) => "request_put",
        EtcdCall::Delete(_) => "request_delete_range",
        _ => "request_txn",
    };
    Value::Object(Map::from_iter([(name.to_owned(), body(call))]))
}

fn compare_body(compare: &Comparison) -> Value {
    let result = match compare.relation {
        Relation::Equal => "EQUAL",
        Relation::Greater => "GREATER",
        Relation::Less => "LESS",
        Relation::NotEqual => "NOT_EQUAL",
    };
    let (target, field, operand) = match &compare.compared {
        Compared::Version(operand) => ("VERSION", "version", number(*operand)),
        Compared::Created(operand) => ("CREATE", "create_revision", number(*operand)),
        Compared::Modified(operand) => ("MOD", "mod_revision", number(*operand)),
        Compared::Value(operand) => ("VALUE", "value", bytes(operand)),
        Compared::Lease(operand) => ("LEASE", "lease", number(*operand)),
    };
    let (key, end) = (bytes(&compare.key), bytes(&compare.end));
    json!({ "key": key, "range_end": end, "result": result, "target": target, field: operand })
}
