//! Where the agent is, under which key the lock stands, and how long a tick is.

use std::time::Duration;

use fencepost_model::ids::ClientId;
use fencepost_model::time::Ticks;

/// A Consul agent, and a lock there.
#[derive(Clone, Debug)]
pub struct Agent {
    pub(crate) base: String,
    pub(crate) key: String,
    pub(crate) tick: Duration,
    pub(crate) client: ClientId,
    pub(crate) session_name: String,
}

impl Agent {
    /// The agent at an address like `http://127.0.0.1:8500`, and the key of the lock, or the prefix of the semaphore.
    pub fn new(address: &str, key: &str) -> Self {
        let base = address.trim_end_matches('/');
        let base = if base.contains("://") { base.to_owned() } else { format!("http://{base}") };
        let tick = Duration::from_millis(10);
        Agent { base, key: key.to_owned(), tick, client: ClientId(1), session_name: "fencepost".to_owned() }
    }

    /// Sets the length of a tick; otherwise it is 10 ms.
    ///
    /// # Panics
    /// It is zero.
    #[must_use]
    pub fn tick(self, tick: Duration) -> Self {
        assert!(!tick.is_zero(), "a tick must last");
        Agent { tick, ..self }
    }

    /// Sets which client this is, as [`Handle::me`](fencepost_model::program::Handle::me) tells it; otherwise it is client 1.
    #[must_use]
    pub fn client(self, client: u16) -> Self {
        Agent { client: ClientId(client), ..self }
    }

    /// Sets the name of its sessions, by which a recipe may look for them; otherwise it is `fencepost`.
    #[must_use]
    pub fn session_name(self, name: &str) -> Self {
        Agent { session_name: name.to_owned(), ..self }
    }

    /// A number of ticks as Go writes a duration.
    pub(crate) fn duration(&self, ticks: Ticks) -> String {
        let nanoseconds = self.tick.as_nanos() * u128::try_from(ticks.count()).unwrap_or(0);
        match nanoseconds % 1_000_000 {
            0 => format!("{}ms", nanoseconds / 1_000_000),
            _ => format!("{nanoseconds}ns"),
        }
    }
}
