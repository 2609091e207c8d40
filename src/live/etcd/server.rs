//! Where the server is, the name of the lock there, and how long a tick is.

use std::time::Duration;

use fencepost_model::ids::ClientId;
use fencepost_model::time::Ticks;

use crate::LiveError;

/// An etcd server, and a lock or an election there.
#[derive(Clone, Debug)]
pub struct LiveEtcd {
    pub(super) base: String,
    pub(super) name: String,
    pub(super) tick: Duration,
    pub(super) client: ClientId,
}

impl LiveEtcd {
    /// The server at an address like `http://127.0.0.1:2379`, and the name of the lock or of the election: its keys are below `name/`, and what is
    /// written under a guard is at `name.value`.
    pub fn new(address: &str, name: &str) -> Self {
        let base = address.trim_end_matches('/');
        let base = if base.contains("://") { base.to_owned() } else { format!("http://{base}") };
        LiveEtcd { base, name: name.to_owned(), tick: Duration::from_millis(10), client: ClientId(1) }
    }

    /// Sets the length of a tick; otherwise it is 10 ms.
    ///
    /// # Panics
    /// It is zero.
    #[must_use]
    pub fn tick(self, tick: Duration) -> Self {
        assert!(!tick.is_zero(), "a tick must last");
        LiveEtcd { tick, ..self }
    }

    /// Sets which client this is, as [`Handle::me`](fencepost_model::program::Handle::me) tells it; otherwise it is client 1.
    #[must_use]
    pub fn client(self, client: u16) -> Self {
        LiveEtcd { client: ClientId(client), ..self }
    }

    /// What the keys of the lock begin with. E-CC-10.
    pub(super) fn prefix(&self) -> String {
        format!("{}/", self.name)
    }

    /// A TTL, which etcd counts in whole seconds. E-LS-1.
    pub(super) fn seconds(&self, ticks: Ticks) -> Result<u64, LiveError> {
        let length = self.tick * u32::try_from(ticks.count()).unwrap_or(0);
        match length.subsec_nanos() {
            0 => Ok(length.as_secs()),
            _ => Err(LiveError::Unsupported(format!("a lease of {length:?}, for TTLs of etcd are whole seconds"))),
        }
    }
}
