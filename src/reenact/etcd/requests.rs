//! A request of the model as one of the gateway (E-GEN-4), as the Go client makes it (E-CC-10 to E-CC-22). A transaction reads its own key and
//! the oldest one in both branches, so that all of the model's answer can be compared.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fencepost_etcd::{Compare, Key, Operation, Reads, Request};
use serde_json::{Value, json};

use super::revisions::Revisions;
use super::stage::Stage;

/// Where a request goes, and what it says.
pub(super) struct Question {
    pub(super) path: &'static str,
    pub(super) body: Value,
}

/// Bytes as the gateway writes them.
pub(super) fn bytes(text: &str) -> Value {
    Value::String(STANDARD.encode(text))
}

/// The question of a request. `tick` is the length of a tick in milliseconds.
///
/// # Errors
/// It names a revision that no answer has told.
pub(super) fn question(
    request: &Request,
    stage: &Stage<'_>,
    revisions: &Revisions,
    tick: i64,
) -> Result<Question, String> {
    let unknown = || format!("`{request}` names a revision that no answer has told");
    let (path, body) = match request {
        Request::Grant(lease, ttl) => {
            ("/v3/lease/grant", json!({"ID": stage.lease(*lease), "TTL": ttl.count() * tick / 1_000}))
        }
        Request::Renew(lease) => ("/v3/lease/keepalive", json!({"ID": stage.lease(*lease)})),
        Request::Revoke(lease) => ("/v3/lease/revoke", json!({"ID": stage.lease(*lease)})),
        Request::Txn(compare, operation) => {
            let created = revisions.created(compare.created).ok_or_else(unknown)?;
            ("/v3/kv/txn", transaction(compare, created, operation, stage))
        }
        Request::Newest(before) => {
            let created = revisions.created(*before).ok_or_else(unknown)?;
            let mut read = stage.below_lock("DESCEND");
            read["max_create_revision"] = json!(created - 1);
            ("/v3/kv/range", read)
        }
        Request::Get(key) => ("/v3/kv/range", of_key(*key, stage)),
        Request::Watch(key, from) => {
            let from = revisions.at_server(*from).ok_or_else(unknown)?;
            let watch = json!({"key": bytes(&stage.key(*key)), "start_revision": from});
            ("/v3/watch", json!({"create_request": watch}))
        }
        Request::Delete(key) => ("/v3/kv/deleterange", of_key(*key, stage)),
        Request::Holder => {
            let mut read = stage.below_lock("ASCEND");
            read["serializable"] = json!(stage.reads == Reads::Local);
            ("/v3/kv/range", read)
        }
        Request::First { serializable } => {
            let mut read = stage.below_lock("ASCEND");
            read["serializable"] = json!(serializable);
            ("/v3/kv/range", read)
        }
        Request::Put(..) | Request::Follow(..) => {
            return Err(format!("`{request}` is asked by programs only, and is not driven"));
        }
    };
    Ok(Question { path, body })
}

fn of_key(key: Key, stage: &Stage<'_>) -> Value {
    json!({"key": bytes(&stage.key(key))})
}

fn transaction(compare: &Compare, created: i64, operation: &Operation, stage: &Stage<'_>) -> Value {
    let key = bytes(&stage.key(compare.key));
    let reads =
        [json!({"request_range": of_key(compare.key, stage)}), json!({"request_range": stage.below_lock("ASCEND")})];
    let first = match operation {
        Operation::Put(lease) | Operation::PutValue(lease, _) => {
            json!({"request_put": {"key": key, "lease": stage.lease(*lease)}})
        }
        Operation::Delete => json!({"request_delete_range": {"key": key}}),
        Operation::Write(_) => json!({"request_put": {"key": bytes(&stage.value()), "value": bytes("written")}}),
    };
    let mut success = vec![first];
    success.extend(reads.iter().cloned());
    json!({
        "compare": [{"key": key, "target": "CREATE", "result": "EQUAL", "create_revision": created}],
        "success": success,
        "failure": reads,
    })
}
