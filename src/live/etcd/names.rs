//! Leases and keys as the server has them, and as a program has them.

use std::collections::BTreeMap;

use fencepost_etcd::Key;
use fencepost_model::ids::{ClientId, SessionId};

use crate::LiveError;

/// The leases of a client, and the keys that it was shown.
#[derive(Debug)]
pub(super) struct LeaseNames {
    prefix: String,
    leases: BTreeMap<SessionId, i64>,
    shown: BTreeMap<String, SessionId>,
    keys: BTreeMap<SessionId, String>,
}

impl LeaseNames {
    pub(super) fn new(prefix: String) -> Self {
        LeaseNames { prefix, leases: BTreeMap::new(), shown: BTreeMap::new(), keys: BTreeMap::new() }
    }

    /// The server has chosen the id of a lease that this client has asked for.
    pub(super) fn granted(&mut self, lease: SessionId, id: i64) {
        self.leases.insert(lease, id);
        let key = format!("{}{id:x}", self.prefix);
        self.shown.insert(key.clone(), lease);
        self.keys.insert(lease, key);
    }

    /// The id of a lease; 0: it has not been granted.
    pub(super) fn id(&self, lease: SessionId) -> i64 {
        self.leases.get(&lease).copied().unwrap_or(0)
    }

    /// The name of a key. E-CC-10.
    pub(super) fn key(&self, key: Key) -> Result<String, LiveError> {
        let unknown = || LiveError::Unsupported(format!("{key}, which no answer has shown"));
        match key {
            Key::Of(lease) => self.keys.get(&lease).cloned().ok_or_else(unknown),
            Key::Below(lease) if self.leases.contains_key(&lease) => {
                Ok(format!("{}sub/{:x}", self.prefix, self.id(lease)))
            }
            Key::Below(_) | Key::Stranger => Err(unknown()),
        }
    }

    /// The key with this name, of any client or of none.
    pub(super) fn key_named(&mut self, name: &str) -> Key {
        if let Some(known) = self.shown.get(name) {
            return Key::Of(*known);
        }
        // Those of others have creators that no client of a scenario is.
        let met = u32::try_from(self.shown.len()).unwrap_or(u32::MAX);
        let creator = 0x8000 | u16::try_from(met >> 16).unwrap_or(0x7fff);
        let number = u16::try_from(met & 0xffff).expect("sixteen bits");
        let lease = SessionId::numbered(ClientId(creator), number);
        self.shown.insert(name.to_owned(), lease);
        self.keys.insert(lease, name.to_owned());
        Key::Of(lease)
    }
}
