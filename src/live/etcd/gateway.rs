//! Requests of a program as JSON for the gateway, and its answers as the program hears them. E-GEN-4, E-GEN-7.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fencepost_etcd::{Compare, EtcdValue, EventCursor, KeyEvent, KeyRange, Operation, Request, Response, Shown};
use fencepost_model::ids::{ClientId, Index, RawId};
use serde_json::{Value, json};

use super::names::LeaseNames;
use super::server::LiveEtcd;
use crate::LiveError;
use crate::consul::http::{HttpRequest, Reply};
use crate::consul::names::fit;

/// How long the server may take: it gives up by itself after 7 s. E-GEN-8.
const PATIENCE: Duration = Duration::from_secs(60);

/// Writes a request for the gateway.
pub(super) fn question(request: &Request, server: &LiveEtcd, names: &LeaseNames) -> Result<HttpRequest, LiveError> {
    let key = |key| names.key(key).map(|name| bytes(&name));
    let (path, body) = match *request {
        // The server chooses the id. E-LS-1.
        Request::Grant(lease, ttl) => {
            ("/v3/lease/grant", json!({"ID": names.id(lease).to_string(), "TTL": server.seconds(ttl)?.to_string()}))
        }
        Request::Renew(lease) => ("/v3/lease/keepalive", json!({"ID": names.id(lease).to_string()})),
        Request::Revoke(lease) => ("/v3/lease/revoke", json!({"ID": names.id(lease).to_string()})),
        Request::Txn(compare, operation) => ("/v3/kv/txn", transaction(compare, operation, server, names)?),
        Request::Newest(before) => {
            let mut range = by_creation(server, "DESCEND");
            range["max_create_revision"] = json!((i64::from(before.raw()) - 1).to_string());
            ("/v3/kv/range", range)
        }
        Request::Get(of) => ("/v3/kv/range", json!({"key": key(of)?})),
        Request::Delete(of) => ("/v3/kv/deleterange", json!({"key": key(of)?})),
        Request::Watch(of, from) => {
            ("/v3/watch", json!({"create_request": {"key": key(of)?, "start_revision": from.raw().to_string()}}))
        }
        Request::Put(of, lease, value) => {
            ("/v3/kv/put", put(key(of)?, lease.map_or(0, |lease| names.id(lease)), value)?)
        }
        Request::First { serializable } => {
            let mut range = by_creation(server, "ASCEND");
            range["serializable"] = json!(serializable);
            ("/v3/kv/range", range)
        }
        Request::Follow(range, cursor) => {
            ("/v3/watch", json!({"create_request": events(range, cursor, server, names)?}))
        }
        // Which client a lease belongs to is not known.
        Request::Holder => return Err(LiveError::Unsupported(request.to_string())),
    };
    Ok(HttpRequest { method: "POST", path: path.to_owned(), body: body.to_string().into_bytes(), timeout: PATIENCE })
}

/// `WithFirstCreate` or `WithLastCreate` of the prefix. E-KV-7.
fn by_creation(server: &LiveEtcd, order: &str) -> Value {
    let mut range = below(server);
    (range["limit"], range["sort_order"], range["sort_target"]) = (json!("1"), json!(order), json!("CREATE"));
    range
}

/// The range ends before the next byte after `/`. E-CC-25.
fn below(server: &LiveEtcd) -> Value {
    json!({"key": bytes(&server.prefix()), "range_end": bytes(&format!("{}0", server.name))})
}

/// A watch of events. Of a revision of which some were shown, those of the prefix are sent once more; a key has one. E-W-2, E-W-7.
fn events(range: KeyRange, cursor: EventCursor, server: &LiveEtcd, names: &LeaseNames) -> Result<Value, LiveError> {
    let (mut watch, from) = match range {
        KeyRange::One(key) => (json!({"key": bytes(&names.key(key)?)}), cursor.start()),
        KeyRange::Prefix => (below(server), cursor.shown().0),
    };
    watch["start_revision"] = json!(from.raw().to_string());
    Ok(watch)
}

fn put(key: String, lease: i64, value: EtcdValue) -> Result<Value, LiveError> {
    Ok(json!({"key": key, "value": bytes(&text_of(value)?), "lease": lease.to_string()}))
}

/// A value as it is at the server.
fn text_of(value: EtcdValue) -> Result<String, LiveError> {
    Ok(match value {
        EtcdValue::Empty => String::new(),
        EtcdValue::Name(client) => format!("client {}", client.0),
        EtcdValue::Number(number) => number.to_string(),
        EtcdValue::Other => return Err(LiveError::Unsupported("a put of a value without a name".to_owned())),
    })
}

/// The converse.
fn value_of(text: &str) -> EtcdValue {
    let name = text.strip_prefix("client ").and_then(|number| number.parse().ok()).map(ClientId);
    match (text, name) {
        ("", _) => EtcdValue::Empty,
        (_, Some(client)) => EtcdValue::Name(client),
        (text, None) => text.parse().map_or(EtcdValue::Other, EtcdValue::Number),
    }
}

/// E-CC-10, E-CC-20, E-CC-22, E-CC-24.
fn transaction(
    compare: Compare,
    operation: Operation,
    server: &LiveEtcd,
    names: &LeaseNames,
) -> Result<Value, LiveError> {
    let Compare { key, created } = compare;
    let key = bytes(&names.key(key)?);
    let then = match operation {
        Operation::Put(lease) | Operation::PutValue(lease, _) => {
            json!({"request_put": put(key.clone(), names.id(lease), operation.value())?})
        }
        Operation::Delete => json!({"request_delete_range": {"key": key}}),
        Operation::Write(_) => {
            let (value, token) = (bytes(&format!("{}.value", server.name)), bytes(&created.raw().to_string()));
            json!({"request_put": {"key": value, "value": token}})
        }
    };
    let compare =
        json!({"key": key, "target": "CREATE", "result": "EQUAL", "create_revision": created.raw().to_string()});
    let otherwise = json!({"request_range": {"key": key}});
    if matches!(operation, Operation::PutValue(..)) {
        return Ok(json!({"compare": [compare], "success": [then], "failure": [otherwise]}));
    }
    let oldest = json!({"request_range": by_creation(server, "ASCEND")});
    Ok(json!({"compare": [compare], "success": [then, oldest], "failure": [otherwise, oldest]}))
}

/// What a program hears of a reply; none: nothing, as of a message that is lost.
pub(super) fn answer(request: &Request, reply: &Reply, names: &mut LeaseNames) -> Result<Option<Response>, LiveError> {
    let (status, body) = match reply {
        Reply::Answered { status, body, .. } => (*status, body.as_slice()),
        // Nothing was carried out, and the client knows it.
        Reply::Refused(_) => return Ok(Some(Response::Failed)),
        Reply::Closed(_) | Reply::Lost => return Ok(None),
    };
    let said: Value = serde_json::from_slice(body).unwrap_or_default();
    let plain = String::from_utf8_lossy(body);
    let unknown =
        || LiveError::Answer { request: request.to_string(), status, body: plain.trim().chars().take(200).collect() };
    if status == 500 || status == 503 {
        return Ok(failed(request, &plain));
    }
    Ok(Some(match (request, status) {
        (Request::Grant(lease, _), 200) => {
            names.granted(*lease, number(&said["ID"]).ok_or_else(unknown)?);
            Response::Granted
        }
        (Request::Renew(_), 200) if !said["error"].is_null() => Response::Failed,
        // E-LS-3: TTL 0 is left out.
        (Request::Renew(_), 200) => match number(&said["result"]["TTL"]) {
            Some(1..) => Response::Renewed,
            _ => Response::NoLease,
        },
        (Request::Revoke(_) | Request::Delete(_) | Request::Put(..), 200) => Response::Done,
        (Request::Revoke(_) | Request::Put(..), 404) => Response::NoLease,
        (Request::Txn(_, Operation::Put(_) | Operation::PutValue(..)), 404) => Response::NoLease,
        (Request::Newest(_) | Request::Get(_) | Request::First { .. }, 200) => {
            Response::Found(shown(&said["kvs"][0], names)?, revision(&said["header"]["revision"])?)
        }
        (Request::Txn(Compare { key, created }, Operation::PutValue(_, value)), 200) => {
            Response::Key(match created_by(&said, *created)? {
                Some(created) => Some(Shown { key: *key, created, value: *value }),
                None => shown(&said["responses"][0]["response_range"]["kvs"][0], names)?,
            })
        }
        (Request::Txn(compare, operation), 200) => {
            let part = |place: usize| said["responses"][place]["response_range"]["kvs"][0].clone();
            let created = match (created_by(&said, compare.created)?, operation) {
                (None, _) => shown(&part(0), names)?.map(|shown| shown.created),
                (Some(_), Operation::Delete) => None,
                (created, _) => created,
            };
            Response::Txn { created, oldest: shown(&part(1), names)? }
        }
        _ => return Err(unknown()),
    }))
}

/// The create revision of a key after a transaction that has put it; none: its compare has failed.
fn created_by(said: &Value, compared: Index) -> Result<Option<Index>, LiveError> {
    Ok(match said["succeeded"] == true {
        false => None,
        true if compared == Index::NONE => Some(revision(&said["header"]["revision"])?),
        true => Some(compared),
    })
}

/// A request that the server gave up. `request timed out` and `leader changed` leave open what came of it: nothing is heard of a request that
/// changes something. E-GEN-8.
fn failed(request: &Request, text: &str) -> Option<Response> {
    let is_open = text.contains("request timed out") || text.contains("leader changed");
    (!is_open || !changes(request)).then_some(Response::Failed)
}

/// Whether the request changes something that is logged. E-GEN-2.
pub(super) fn changes(request: &Request) -> bool {
    match request {
        Request::Grant(..) | Request::Revoke(_) | Request::Txn(..) | Request::Delete(_) | Request::Put(..) => true,
        Request::Renew(_)
        | Request::Newest(_)
        | Request::Get(_)
        | Request::Watch(..)
        | Request::Holder
        | Request::First { .. }
        | Request::Follow(..) => false,
    }
}

/// What a stream says of a key. E-W-4.
pub(super) fn event(event: &Value, place: u8, names: &mut LeaseNames) -> Result<KeyEvent, LiveError> {
    let is_delete = event["type"] == "DELETE";
    let entry = &event["kv"];
    let unknown = || LiveError::Unsupported(format!("an event without a key: {event}"));
    let shown = shown(entry, names)?.ok_or_else(unknown)?;
    Ok(KeyEvent { shown, revision: revision(&entry["mod_revision"])?, place, is_delete })
}

/// E-KV-1.
fn shown(entry: &Value, names: &mut LeaseNames) -> Result<Option<Shown>, LiveError> {
    let Some(name) = text(&entry["key"]) else { return Ok(None) };
    let value = text(&entry["value"]).map_or(EtcdValue::Empty, |value| value_of(&value));
    Ok(Some(Shown { key: names.key_named(&name), created: revision(&entry["create_revision"])?, value }))
}

/// Bytes, as the gateway writes them.
fn text(value: &Value) -> Option<String> {
    let bytes = STANDARD.decode(value.as_str()?).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn revision(value: &Value) -> Result<Index, LiveError> {
    let revision = number(value).and_then(|revision| u64::try_from(revision).ok()).unwrap_or(0);
    fit("a revision", revision, u64::from(u32::MAX)).map(Index::numbered)
}

/// A number, which the gateway writes as a string.
fn number(value: &Value) -> Option<i64> {
    value.as_str()?.parse().ok()
}

fn bytes(text: &str) -> String {
    STANDARD.encode(text)
}

#[cfg(test)]
mod tests {
    use fencepost_etcd::Key;
    use fencepost_model::ids::SessionId;
    use fencepost_model::time::Ticks;

    use super::*;

    const LEASE: SessionId = SessionId::numbered(ClientId(1), 1);

    fn says(request: Request, status: u16, body: &Value) -> Option<Response> {
        let mut names = LeaseNames::new("n/".to_owned());
        names.granted(LEASE, 0x1f);
        let reply = Reply::Answered { status, index: None, body: body.to_string().into_bytes() };
        answer(&request, &reply, &mut names).expect("it has a name")
    }

    #[test]
    fn a_renewal_of_a_lease_that_is_gone_is_answered_without_a_ttl() {
        assert_eq!(
            says(Request::Renew(LEASE), 200, &json!({"result": {"ID": "31", "TTL": "2"}})),
            Some(Response::Renewed)
        );
        assert_eq!(says(Request::Renew(LEASE), 200, &json!({"result": {"ID": "31"}})), Some(Response::NoLease));
        assert_eq!(
            says(Request::Renew(LEASE), 200, &json!({"error": {"message": "no leader"}})),
            Some(Response::Failed)
        );
    }

    #[test]
    fn the_create_revision_is_that_of_the_header_or_of_the_key_that_existed() {
        let own = json!({"response_range": {"kvs": [{"key": bytes("n/1f"), "create_revision": "7"}]}});
        let put = Request::Txn(Compare { key: Key::Of(LEASE), created: Index::NONE }, Operation::Put(LEASE));
        let oldest = Some(Shown { key: Key::Of(LEASE), created: Index::numbered(7), value: EtcdValue::Empty });
        let fresh = json!({"header": {"revision": "9"}, "succeeded": true, "responses": [{"response_put": {}}, own]});
        assert_eq!(says(put, 200, &fresh), Some(Response::Txn { created: Some(Index::numbered(9)), oldest }));
        let known = json!({"header": {"revision": "9"}, "responses": [own, own]});
        assert_eq!(says(put, 200, &known), Some(Response::Txn { created: Some(Index::numbered(7)), oldest }));
        assert_eq!(says(put, 404, &json!({"code": 5})), Some(Response::NoLease));
    }

    #[test]
    fn what_the_server_leaves_open_is_not_told_of_a_request_that_changes_something() {
        let (timed_out, no_leader) =
            (json!({"error": "etcdserver: request timed out"}), json!({"error": "etcdserver: no leader"}));
        for (request, told) in
            [(Request::Delete(Key::Of(LEASE)), None), (Request::Newest(Index::numbered(3)), Some(Response::Failed))]
        {
            assert_eq!(says(request, 503, &timed_out), told, "{request}");
            assert_eq!(says(request, 503, &no_leader), Some(Response::Failed), "{request}");
        }
    }

    #[test]
    fn a_ttl_is_whole_seconds() {
        let (server, names) = (LiveEtcd::new("127.0.0.1:1", "n"), LeaseNames::new("n/".to_owned()));
        let asked = |ticks| question(&Request::Grant(LEASE, Ticks::new(ticks)), &server, &names);
        let body: Value = serde_json::from_slice(&asked(200).expect("2 s").body).expect("JSON");
        assert_eq!(body, json!({"ID": "0", "TTL": "2"}));
        assert!(asked(250).expect_err("2.5 s").to_string().contains("whole seconds"));
    }
}
