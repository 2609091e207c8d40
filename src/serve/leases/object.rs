//! A lease as the server keeps and shows it.

use serde_json::{Map, Value, json};

use super::GROUP;
use super::draft::Draft;
use super::micro_time::whole;
use super::target::LeaseKey;
use crate::judge::{LeaseTerms, whole_seconds};

/// A lease, as it is kept beside the record of the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct KeptLease {
    pub(super) uid: String,
    /// When it was created, in nanoseconds since the start.
    created: i64,
    metadata: Map<String, Value>,
    pub(super) spec: Map<String, Value>,
}

/// Where the stand-in's time begins for `creationTimestamp`, which no client interprets: 2020.
const BEGINNING: i64 = 1_577_836_800;

impl KeptLease {
    pub(super) fn created(draft: Draft, uid: String, now: i64) -> Self {
        KeptLease { uid, created: now, metadata: draft.metadata, spec: draft.spec }
    }

    /// What a draft makes of it.
    pub(super) fn updated(&self, draft: Draft) -> Self {
        KeptLease { uid: self.uid.clone(), created: self.created, metadata: draft.metadata, spec: draft.spec }
    }

    /// Who holds it, and for how long. An empty holder is none.
    pub(super) fn terms(&self) -> LeaseTerms<'_> {
        let holder = self.spec.get("holderIdentity").and_then(Value::as_str).filter(|holder| !holder.is_empty());
        let duration = self.spec.get("leaseDurationSeconds").and_then(Value::as_i64).map(whole_seconds);
        LeaseTerms { holder, duration }
    }

    /// As it is shown.
    pub(super) fn shown(&self, key: &LeaseKey, version: u32) -> Value {
        let mut metadata = self.metadata.clone();
        for (field, text) in [
            ("name", key.name.clone()),
            ("namespace", key.namespace.clone()),
            ("uid", self.uid.clone()),
            ("resourceVersion", version.to_string()),
            ("creationTimestamp", whole(BEGINNING + self.created / 1_000_000_000)),
        ] {
            metadata.insert(field.to_owned(), Value::String(text));
        }
        json!({"kind": "Lease", "apiVersion": format!("{GROUP}/v1"), "metadata": metadata, "spec": self.spec})
    }
}
