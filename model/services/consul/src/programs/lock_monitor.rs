//! The goroutine of the Go client's Lock that watches its key (api/lock.go).

use serde::{Deserialize, Serialize};

use super::HttpApi;
use crate::{Consul, Entry, LOCK};
use fencepost_model::ids::{Index, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe};
use fencepost_model::time::Ticks;

/// `func (l *Lock) monitorLock`: it ends when the lock is lost. C-LCK-6.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct Monitor {
    /// `session`.
    pub session: SessionId,
    /// `opts.WaitIndex`.
    pub wait_index: Index,
    /// How many more errors in a row are no loss.
    pub left: u8,
    /// `MonitorRetries`.
    pub retries: u8,
    /// `MonitorRetryTime`.
    pub retry_every: Ticks,
}

impl Recipe<Consul> for Monitor {
    const NAME: &'static str = "monitor-lock";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        match consul.watch_consistent(LOCK, self.wait_index, None).await {
            Ok(Some(Entry { session: Some(holder), modify, .. })) if holder == self.session => {
                (self.wait_index, self.left) = (modify, self.retries);
                Ok(Lap::Again)
            }
            Err(_) if self.left > 0 => {
                consul.sleep(self.retry_every).await;
                (self.wait_index, self.left) = (Index::NONE, self.left - 1);
                Ok(Lap::Again)
            }
            // Free, another client's, deleted, or an error: `close(stopCh)`.
            _ => Ok(Lap::Done),
        }
    }
}
