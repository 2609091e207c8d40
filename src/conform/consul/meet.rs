//! What requests name, before they are carried out: so that the numbers of things do not depend on the order in which this
//! happens, and states that are the same look the same.

use std::collections::BTreeSet;

use base64::Engine;
use serde_json::Value;

use super::exchange::unsigned;
use super::operations::key_of;
use super::{Agent, HttpRequest, field};

impl Agent {
    /// Gives everything that these requests name its number. What there is too much of is left for later.
    pub fn meet<'a>(&mut self, questions: impl Iterator<Item = &'a HttpRequest>) {
        let mut keys = BTreeSet::new();
        for question in questions {
            let (path, query) = question.url.split_once('?').unwrap_or((&question.url, ""));
            let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned();
            if let Some(key) = path.strip_prefix("/v1/kv/") {
                keys.insert(key.to_owned());
                self.names.value(if question.method == "PUT" { &question.body } else { &[] });
                let flags = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "flags");
                flags
                    .and_then(|(_, flags)| unsigned(&flags))
                    .into_iter()
                    .for_each(|flags| drop(self.names.flags(flags)));
            } else if path == "/v1/txn" {
                self.meet_operations(&question.body, &mut keys);
            } else if path == "/v1/session/create" || path.starts_with("/v1/catalog/") && question.method != "GET" {
                let body: Value = serde_json::from_slice(&question.body).unwrap_or_default();
                let node = body.as_object().and_then(|body| field(body, "Node")).and_then(Value::as_str);
                node.into_iter().for_each(|node| drop(self.names.node(node)));
            } else if let Some(node) = ["/v1/session/node/", "/v1/health/node/", "/v1/catalog/node/"]
                .iter()
                .find_map(|start| path.strip_prefix(start))
            {
                drop(self.names.node(node));
            }
        }
        keys.remove("");
        if keys.len() < 60_000 {
            self.names.meet_keys(keys);
        }
    }

    fn meet_operations(&mut self, body: &[u8], keys: &mut BTreeSet<String>) {
        let Ok(Value::Array(items)) = serde_json::from_slice(body) else { return };
        keys.extend(items.iter().filter_map(key_of).map(str::to_owned));
        for kv in items.iter().filter_map(|item| field(item.as_object()?, "KV")?.as_object()) {
            let value = field(kv, "Value").and_then(Value::as_str).unwrap_or_default();
            let bytes = base64::engine::general_purpose::STANDARD.decode(value);
            if let Ok(bytes) = bytes {
                self.names.value(&bytes);
            }
            let flags = field(kv, "Flags").and_then(Value::as_u64);
            flags.into_iter().for_each(|flags| drop(self.names.flags(flags)));
        }
    }
}
