//! The versions of servers whose answers the models give. Another version may answer differently by right: a verdict about its log comes with a
//! warning.

use std::collections::BTreeSet;

use serde_json::Value;

use super::uncertain;

/// A server that has a model.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ModelledServer {
    /// Its name.
    pub name: &'static str,
    /// The version whose rules the model follows.
    pub version: &'static str,
    /// The field in the head of a log that states the version.
    field: &'static str,
}

impl ModelledServer {
    /// Consul.
    pub const CONSUL: ModelledServer = ModelledServer { name: "Consul", version: uncertain::VERSION, field: "consul" };

    /// RabbitMQ.
    pub const RABBITMQ: ModelledServer = ModelledServer { name: "RabbitMQ", version: "3.10.8", field: "rabbitmq" };

    /// etcd.
    pub const ETCD: ModelledServer = ModelledServer { name: "etcd", version: "3.4.23", field: "etcd" };

    /// Whether a stated version is the model's; builds of it (`1.8.7+ent`, `1.8.7-dev`) are. A log may state none.
    pub fn is_known(&self, stated: &str) -> bool {
        let plain = stated.trim_start_matches('v').split(['-', '+']).next();
        stated.is_empty() || plain == Some(self.version)
    }

    /// A warning, if the heads of a log state another version than the model's.
    pub fn warning(&self, log: &str) -> Option<String> {
        let heads = log.lines().filter(|line| line.contains(self.field));
        let heads = heads.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let stated: BTreeSet<String> =
            heads.filter_map(|head| Some(head.get(self.field)?.as_str()?.to_owned())).collect();
        let others: Vec<&str> = stated.iter().map(String::as_str).filter(|version| !self.is_known(version)).collect();
        if others.is_empty() {
            return None;
        }
        let ModelledServer { name, version, .. } = self;
        let others = others.join(", ");
        Some(format!(
            "the log is of {name} {others}, and the model is of {name} {version}: an answer that the versions give differently is judged as one of {version}"
        ))
    }
}
