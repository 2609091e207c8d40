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
    /// The versions whose answers the model gives.
    pub versions: &'static [&'static str],
    /// The field in the head of a log that states the version.
    field: &'static str,
}

impl ModelledServer {
    /// Consul.
    pub const CONSUL: ModelledServer =
        ModelledServer { name: "Consul", versions: &[uncertain::VERSION], field: "consul" };

    /// RabbitMQ.
    pub const RABBITMQ: ModelledServer = ModelledServer { name: "RabbitMQ", versions: &["3.10.8"], field: "rabbitmq" };

    /// etcd.
    pub const ETCD: ModelledServer =
        ModelledServer { name: "etcd", versions: &["3.4.23", "3.5.1", "3.5.16", "3.5.30"], field: "etcd" };

    /// Whether a stated version is one of the model's; builds of it (`1.8.7+ent`, `1.8.7-dev`) are. A log may state none.
    pub fn is_known(&self, stated: &str) -> bool {
        let plain = stated.trim_start_matches('v').split(['-', '+']).next();
        stated.is_empty() || plain.is_some_and(|plain| self.versions.contains(&plain))
    }

    /// A warning, if a server states another version than those of the model.
    pub fn warning_at(&self, stated: &str) -> Option<String> {
        let (name, versions) = (self.name, self.versions.join(", "));
        let why =
            || format!("the server is {name} {stated}, and the model is of {versions}: others may differ by right");
        (!self.is_known(stated)).then(why)
    }

    /// A warning, if the heads of a log state another version than those of the model.
    pub fn warning(&self, log: &str) -> Option<String> {
        let heads = log.lines().filter(|line| line.contains(self.field));
        let heads = heads.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let stated: BTreeSet<String> =
            heads.filter_map(|head| Some(head.get(self.field)?.as_str()?.to_owned())).collect();
        let others: Vec<&str> = stated.iter().map(String::as_str).filter(|version| !self.is_known(version)).collect();
        if others.is_empty() {
            return None;
        }
        let (others, name, versions) = (others.join(", "), self.name, self.versions.join(", "));
        let as_what = match self.versions {
            [version] => format!("one of {version}"),
            _ => "one of the nearest of these".to_owned(),
        };
        Some(format!(
            "the log is of {name} {others}, and the model is of {name} {versions}: an answer that the versions give differently is judged as {as_what}"
        ))
    }
}
