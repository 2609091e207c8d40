//! The keys and leases of one execution. No other execution sees them.

use fencepost_etcd::{Etcd, Key, Reads};
use fencepost_model::ids::{ClientId, RawId, SessionId};
use fencepost_model::scenario::Scenario;
use serde_json::{Value, json};

use super::requests::bytes;
use super::server::DrivenEtcd;
use crate::error::ServerError;

/// How many leases an execution may name of each client.
const LEASES: i64 = 1 << 12;

/// How many clients an execution may have.
const CLIENTS: i64 = 1 << 8;

/// What an execution has at the server.
pub(super) struct Stage<'a> {
    pub(super) server: &'a DrivenEtcd,
    /// How clients read the holder.
    pub(super) reads: Reads,
    /// What every key begins with.
    root: String,
    /// What every lease id begins at.
    leases: i64,
}

impl<'a> Stage<'a> {
    /// An execution with ids of its own.
    pub(super) fn set(server: &'a DrivenEtcd, scenario: &Scenario<Etcd>) -> Result<Self, ServerError> {
        let random = getrandom::u64().map_err(|error| ServerError(format!("no random number: {error}")))?;
        // E-LS-1: a lease id is positive; the low digits tell the client and the number of its session.
        let leases = i64::try_from(random >> 2).unwrap_or(1) / (CLIENTS * LEASES) * (CLIENTS * LEASES);
        Ok(Stage { server, reads: scenario.service.reads, root: format!("fencepost-reenact/{leases:x}"), leases })
    }

    /// The id of a lease.
    pub(super) fn lease(&self, lease: SessionId) -> i64 {
        self.leases + i64::from(lease.raw().creator.0) * LEASES + i64::from(lease.raw().number)
    }

    /// The lease that has an id.
    fn session(&self, id: i64) -> Option<SessionId> {
        let rest = id - self.leases;
        let creator =
            u16::try_from(rest / LEASES).ok().filter(|creator| (1..CLIENTS).contains(&i64::from(*creator)))?;
        Some(SessionId::numbered(ClientId(creator), u16::try_from(rest % LEASES).ok()?))
    }

    /// A key as the server has it (E-CC-10): a lease is written in hexadecimal digits.
    pub(super) fn key(&self, key: Key) -> String {
        match key {
            Key::Of(lease) => format!("{}/lock/{:x}", self.root, self.lease(lease)),
            Key::Below(lease) => format!("{}/lock/sub/{:x}", self.root, self.lease(lease)),
            Key::Stranger => format!("{}/lock/stranger", self.root),
        }
    }

    /// A key of the server as the model has it.
    pub(super) fn known(&self, key: &str) -> Option<Key> {
        let rest = key.strip_prefix(&self.root)?.strip_prefix("/lock/")?;
        if rest == "stranger" {
            return Some(Key::Stranger);
        }
        let (below, digits) = rest.strip_prefix("sub/").map_or((false, rest), |digits| (true, digits));
        let lease = self.session(i64::from_str_radix(digits, 16).ok()?)?;
        Some(if below { Key::Below(lease) } else { Key::Of(lease) })
    }

    /// The protected value (E-CC-24).
    pub(super) fn value(&self) -> String {
        format!("{}/value", self.root)
    }

    /// A read of the first key of the lock's prefix, in an order of their create revisions.
    pub(super) fn below_lock(&self, order: &str) -> Value {
        let (key, end) = (format!("{}/lock/", self.root), format!("{}/lock0", self.root));
        json!({"key": bytes(&key), "range_end": bytes(&end), "sort_target": "CREATE", "sort_order": order, "limit": 1})
    }

    /// Removes everything.
    pub(super) fn strike(&self) -> Result<(), ServerError> {
        for id in self.server.leases()?.into_iter().filter(|id| self.session(*id).is_some()) {
            // It may end by itself meanwhile.
            self.server.reply("/v3/lease/revoke", &json!({"ID": id}))?;
        }
        let (key, end) = (bytes(&format!("{}/", self.root)), bytes(&format!("{}0", self.root)));
        self.server.json("/v3/kv/deleterange", &json!({"key": key, "range_end": end})).map(drop)
    }
}
