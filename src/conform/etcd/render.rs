//! What the model answers, as the gateway writes it (E-GEN-3, E-GEN-4, E-GEN-7): zero, false and empty are left out.

use fencepost_etcd::mvcc::{EtcdAnswer, EtcdCall, EtcdRefusal, EtcdVersion, KeyValue, LeaderKey};
use serde_json::{Map, Value, json};

use super::streams;
use super::wire::{EtcdReply, bytes, number};

/// The answer of the gateway.
pub(super) fn reply(version: EtcdVersion, call: &EtcdCall, answer: &EtcdAnswer) -> EtcdReply {
    match answer {
        EtcdAnswer::Refused(refusal) => refused(version, *refusal),
        EtcdAnswer::Waits => EtcdReply::none(),
        // What streams is wrapped, and the header of a renewal is not compared.
        EtcdAnswer::Lease { id, ttl, .. } if matches!(call, EtcdCall::Renew(_)) => EtcdReply {
            status: 200,
            body: json!({ "result": filled(json!({ "ID": number(*id), "TTL": number(*ttl) })) }),
        },
        EtcdAnswer::Watched { revision, progress, watches, .. } => {
            let besides =
                if let EtcdCall::Watch(watch) = call { (watch.besides, watch.id) } else { Default::default() };
            EtcdReply { status: 200, body: streams::messages(*revision, watches, besides, *progress) }
        }
        answer => EtcdReply { status: 200, body: body(answer) },
    }
}

fn body(answer: &EtcdAnswer) -> Value {
    filled(match answer {
        EtcdAnswer::Range { revision, entries, count, more } => {
            let entries: Vec<Value> = entries.iter().map(entry).collect();
            json!({ "header": header(*revision), "kvs": entries, "more": more, "count": count.to_string() })
        }
        EtcdAnswer::Put { revision, previous } => {
            json!({ "header": header(*revision), "prev_kv": previous.as_ref().map(entry) })
        }
        EtcdAnswer::Deleted { revision, count, previous } => {
            let previous: Vec<Value> = previous.iter().map(entry).collect();
            json!({ "header": header(*revision), "deleted": count.to_string(), "prev_kvs": previous })
        }
        EtcdAnswer::Txn { revision, succeeded, answers } => {
            let responses: Vec<Value> = answers.iter().map(response).collect();
            json!({ "header": revision.map(header), "succeeded": succeeded, "responses": responses })
        }
        EtcdAnswer::Watched { .. } => Value::Null,
        EtcdAnswer::Lease { revision, id, ttl } => {
            json!({ "header": header(*revision), "ID": number(*id), "TTL": number(*ttl) })
        }
        EtcdAnswer::TimeToLive { revision, id, granted: Some(granted), keys } => {
            let keys: Vec<Value> = keys.iter().map(|key| bytes(key)).collect();
            let granted = number(*granted);
            json!({ "header": header(*revision), "ID": number(*id), "TTL": "some", "grantedTTL": granted, "keys": keys })
        }
        EtcdAnswer::TimeToLive { revision, id, granted: None, .. } => {
            json!({ "header": header(*revision), "ID": number(*id), "TTL": "-1" })
        }
        EtcdAnswer::Leases { revision, ids } => {
            let ids: Vec<Value> = ids.iter().map(|id| json!({ "ID": number(*id) })).collect();
            json!({ "header": header(*revision), "leases": ids })
        }
        EtcdAnswer::Locked { revision, key } => json!({ "header": header(*revision), "key": bytes(key) }),
        EtcdAnswer::Elected { revision, leader } => {
            json!({ "header": header(*revision), "leader": leader_key(leader) })
        }
        EtcdAnswer::Leads { revision, entry: first } => json!({ "header": header(*revision), "kv": entry(first) }),
        EtcdAnswer::Done { revision } => json!({ "header": header(*revision) }),
        EtcdAnswer::Waits | EtcdAnswer::Refused(_) => Value::Null,
    })
}

fn response(answer: &EtcdAnswer) -> Value {
    let name = match answer {
        EtcdAnswer::Range { .. } => "response_range",
        EtcdAnswer::Put { .. } => "response_put",
        EtcdAnswer::Deleted { .. } => "response_delete_range",
        _ => "response_txn",
    };
    Value::Object(Map::from_iter([(name.to_owned(), body(answer))]))
}

pub(super) fn header(revision: i64) -> Value {
    json!({ "revision": number(revision) })
}

pub(super) fn entry(entry: &KeyValue) -> Value {
    let KeyValue { key, created, modified, version, value, lease } = entry;
    filled(json!({
        "key": bytes(key),
        "create_revision": number(*created),
        "mod_revision": number(*modified),
        "version": number(*version),
        "value": bytes(value),
        "lease": number(*lease),
    }))
}

fn leader_key(leader: &LeaderKey) -> Value {
    let LeaderKey { name, key, created, lease } = leader;
    filled(json!({ "name": bytes(name), "key": bytes(key), "rev": number(*created), "lease": number(*lease) }))
}

/// Without what is zero, false, or empty.
pub(super) fn filled(value: Value) -> Value {
    let Value::Object(mut object) = value else { return value };
    object.retain(|_, value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty() && text != "0",
        Value::Array(items) => !items.is_empty(),
        _ => true,
    });
    Value::Object(object)
}

fn refused(version: EtcdVersion, refusal: EtcdRefusal) -> EtcdReply {
    let (message, code, status) = match refusal {
        EtcdRefusal::NoKey => ("etcdserver: key is not provided", 3, 400),
        EtcdRefusal::ValueGiven => ("etcdserver: value is provided", 3, 400),
        EtcdRefusal::LeaseGiven => ("etcdserver: lease is provided", 3, 400),
        EtcdRefusal::KeyNotFound => ("etcdserver: key not found", 3, 400),
        EtcdRefusal::DuplicateKey => ("etcdserver: duplicate key given in txn request", 3, 400),
        EtcdRefusal::LeaseNotFound => ("etcdserver: requested lease not found", 5, 404),
        EtcdRefusal::LeaseExists => {
            ("etcdserver: lease already exists", 9, if version.has_status_412() { 412 } else { 400 })
        }
        EtcdRefusal::TtlTooLarge => ("etcdserver: too large lease TTL", 11, 400),
        EtcdRefusal::Compacted => ("etcdserver: mvcc: required revision has been compacted", 11, 400),
        EtcdRefusal::Future => ("etcdserver: mvcc: required revision is a future revision", 11, 400),
        EtcdRefusal::RecipeCompacted => ("etcdserver: mvcc: required revision has been compacted", 2, 500),
        EtcdRefusal::RecipeLeaseNotFound => ("etcdserver: requested lease not found", 2, 500),
        EtcdRefusal::SessionExpired => ("mutex: session is expired", 2, 500),
        EtcdRefusal::NoLeader => ("election: no leader", 2, 500),
        EtcdRefusal::NotLeader => ("election: not leader", 2, 500),
    };
    EtcdReply { status, body: json!({ "error": message, "message": message, "code": code }) }
}
