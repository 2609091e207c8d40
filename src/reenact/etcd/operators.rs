//! What operators do. They look at the store as people do: which key is the oldest one, and which lease it belongs to.

use fencepost_etcd::{Key, OperatorAction, OperatorKind};
use serde_json::{Value, json};

use super::answers::number;
use super::requests::bytes;
use super::stage::Stage;
use crate::error::ServerError;

impl Stage<'_> {
    /// Carries out what an operator does.
    pub(super) fn operate(&self, OperatorAction(kind): OperatorAction) -> Result<(), ServerError> {
        let server = self.server;
        match kind {
            OperatorKind::DeleteHeld => server.json("/v3/kv/deleterange", &json!({"key": self.entry(0)?["key"]})),
            OperatorKind::DeleteWaiting => server.json("/v3/kv/deleterange", &json!({"key": self.entry(1)?["key"]})),
            OperatorKind::RevokeHeld => server.json("/v3/lease/revoke", &json!({"ID": self.entry(0)?["lease"]})),
            OperatorKind::RevokeWaiting => server.json("/v3/lease/revoke", &json!({"ID": self.entry(1)?["lease"]})),
            OperatorKind::PutStranger => server.json("/v3/kv/put", &json!({"key": bytes(&self.key(Key::Stranger))})),
            // E-LS-9: a put without a lease detaches the key.
            OperatorKind::Detach => server.json("/v3/kv/put", &json!({"key": self.entry(0)?["key"]})),
            OperatorKind::Compact => {
                let revision = &server.json("/v3/kv/range", &self.below_lock("ASCEND"))?["header"]["revision"];
                let revision = number(revision).ok_or_else(|| ServerError("a read without a revision".to_owned()))?;
                server.json("/v3/kv/compaction", &json!({"revision": revision}))
            }
        }
        .map(drop)
    }

    /// The keys of the lock, the oldest first.
    fn entry(&self, place: usize) -> Result<Value, ServerError> {
        let mut read = self.below_lock("ASCEND");
        read["limit"] = json!(0);
        let found = self.server.json("/v3/kv/range", &read)?;
        found["kvs"]
            .get(place)
            .cloned()
            .ok_or_else(|| ServerError(format!("the lock has fewer than {} keys", place + 1)))
    }
}
