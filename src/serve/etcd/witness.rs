//! Requests of etcd's clients, as stories tell them. What clients do with leases is up to them: no misuse is seen in single requests.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fencepost_conform::HttpRequest;
use fencepost_etcd::mvcc::{Compared, Comparison, EtcdCall, Relation, Transaction};
use serde_json::{Map, Value};

use super::decode::{Decoded, decode};
use super::watch_body::WatchMessage;
use crate::judge::{LeaseRun, Misuse, Violated};
use crate::stand_in::{Answer, Journey, Witness};

/// Nothing is remembered.
#[derive(Copy, Clone, Debug, Default)]
pub struct EtcdWitness;

impl Witness for EtcdWitness {
    fn request(&self, question: &HttpRequest) -> String {
        let path = question.url.split('?').next().unwrap_or_default();
        match decode(&question.url, &question.body) {
            Ok(Decoded::Call(call)) => format!("{path}{}", about(&call)),
            Ok(Decoded::Watches(messages)) => messages.iter().fold(path.to_owned(), |text, message| match message {
                WatchMessage::Create { range, .. } => format!("{text} {:?}", range.key),
                _ => text,
            }),
            Ok(Decoded::Observer(name)) => format!("{path} {name:?}"),
            _ => path.to_owned(),
        }
    }

    fn told(&self, answer: &Answer) -> String {
        let body = answer.value();
        match (body["error"].as_str(), &body["result"]) {
            (Some(error), _) => format!("{} {error}", answer.status),
            (None, Value::Object(message)) if message.contains_key("kv") => {
                let [key, value] = ["key", "value"].map(|field| text(&message["kv"][field]));
                format!("{} {key:?} leads with {value:?}", answer.status)
            }
            (None, Value::Object(message)) => format!("{}{}", answer.status, of_watch(message)),
            _ if answer.body.is_empty() => format!("{}, the end", answer.status),
            _ => answer.status.to_string(),
        }
    }

    fn acquired_key(question: &HttpRequest) -> Option<String> {
        match decode(&question.url, &question.body) {
            Ok(Decoded::Call(EtcdCall::Lock { name, .. } | EtcdCall::Campaign { name, .. })) => Some(name),
            Ok(Decoded::Call(EtcdCall::Txn(txn))) => taken_by(&txn),
            _ => None,
        }
    }

    fn answered(&mut self, _: i64, _: &Journey, _: &Answer, _: &mut Vec<Misuse>) {}

    fn delivered(&mut self, _: i64, _: &Journey) -> Vec<(String, Violated)> {
        Vec::new()
    }

    fn has_lost(&self, _: &str, _: &str) -> bool {
        false
    }

    fn leases(&self) -> Option<LeaseRun> {
        None
    }
}

/// What a call is about.
fn about(call: &EtcdCall) -> String {
    match call {
        EtcdCall::Range(range) => format!(" {:?}", range.key),
        EtcdCall::Put(put) => format!(" {:?}, lease {:x}", put.key, put.lease),
        EtcdCall::Delete(delete) => format!(" {:?}", delete.key),
        EtcdCall::Txn(txn) => txn.compare.first().map(|compare| format!(" {:?}", compare.key)).unwrap_or_default(),
        EtcdCall::Grant { id, ttl } => format!(" {id:x}, {ttl} s"),
        EtcdCall::Renew(id) | EtcdCall::Revoke(id) | EtcdCall::TimeToLive { id, .. } => format!(" {id:x}"),
        EtcdCall::Lock { name, lease } | EtcdCall::Campaign { name, lease, .. } => {
            format!(" {name:?}, lease {lease:x}")
        }
        EtcdCall::Unlock { key } => format!(" {key:?}"),
        EtcdCall::Proclaim { leader, .. } | EtcdCall::Resign(leader) => format!(" {:?}", leader.key),
        EtcdCall::Leader { name } => format!(" {name:?}"),
        EtcdCall::Compact(revision) => format!(" {revision}"),
        EtcdCall::Watch(watch) => format!(" {:?}", watch.key),
        EtcdCall::Leases => String::new(),
    }
}

/// The key of a lock of one transaction: it is put with a lease if it is absent.
fn taken_by(txn: &Transaction) -> Option<String> {
    let is_absent = |key: &str| {
        let absent = [Compared::Created(0), Compared::Version(0)];
        let tells = |compare: &Comparison| compare.relation == Relation::Equal && absent.contains(&compare.compared);
        txn.compare.iter().any(|compare| compare.key == key && compare.end.is_empty() && tells(compare))
    };
    txn.success.iter().find_map(|call| match call {
        EtcdCall::Put(put) if put.lease != 0 && is_absent(&put.key) => Some(put.key.clone()),
        _ => None,
    })
}

/// What a message on a stream says.
fn of_watch(message: &Map<String, Value>) -> String {
    let words = ["created", "canceled"].into_iter().filter(|word| message.get(*word) == Some(&Value::Bool(true)));
    let events = message
        .get("events")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|event| format!("{} {:?}", event["type"].as_str().unwrap_or("PUT"), text(&event["kv"]["key"])));
    words.map(str::to_owned).chain(events).map(|word| format!(" {word}")).collect()
}

/// Bytes of a message as text.
fn text(bytes: &Value) -> String {
    let bytes = STANDARD.decode(bytes.as_str().unwrap_or_default()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
