//! Calls as requests to the gateway (E-GEN-4).

use fencepost_etcd::mvcc::{
    Compared, Comparison, DeleteRange, EtcdCall, LeaderKey, Put, RangeRead, Relation, SortBy, Sorted, Transaction,
    WatchBesides, WatchRange,
};
use serde_json::{Map, Value, json};

use super::wire::{bytes, number};

/// Where a call is sent to.
pub(super) fn path(call: &EtcdCall) -> &'static str {
    match call {
        EtcdCall::Range(_) => "/v3/kv/range",
        EtcdCall::Put(_) => "/v3/kv/put",
        EtcdCall::Delete(_) => "/v3/kv/deleterange",
        EtcdCall::Txn(_) => "/v3/kv/txn",
        EtcdCall::Compact(_) => "/v3/kv/compaction",
        EtcdCall::Watch(_) => "/v3/watch",
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

/// What is sent.
pub(super) fn body(call: &EtcdCall) -> Value {
    match call {
        EtcdCall::Range(range) => range_body(range),
        EtcdCall::Put(put) => put_body(put),
        EtcdCall::Delete(delete) => delete_body(delete),
        EtcdCall::Txn(txn) => txn_body(txn),
        EtcdCall::Compact(revision) => json!({ "revision": number(*revision) }),
        EtcdCall::Watch(watch) => create_body(watch),
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

/// All messages of a stream, one behind the other (E-GEN-6).
pub(super) fn stream_body(watch: &WatchRange) -> String {
    let mut text = create_body(watch).to_string();
    text += &match watch.besides {
        WatchBesides::Nothing => String::new(),
        WatchBesides::Again => create_body(watch).to_string(),
        WatchBesides::Cancel => json!({ "cancel_request": { "watch_id": number(watch.id) } }).to_string(),
        WatchBesides::Progress => json!({ "progress_request": {} }).to_string(),
    };
    text
}

fn create_body(watch: &WatchRange) -> Value {
    let filters = [("NOPUT", watch.no_put), ("NODELETE", watch.no_delete)];
    let filters: Vec<&str> = filters.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name).collect();
    json!({ "create_request": {
        "key": bytes(&watch.key),
        "range_end": bytes(&watch.end),
        "start_revision": number(watch.start),
        "prev_kv": watch.previous,
        "filters": filters,
        "watch_id": number(watch.id),
    } })
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
