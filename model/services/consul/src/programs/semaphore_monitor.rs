//! The goroutine of the Go client's Semaphore that watches its prefix (api/semaphore.go).

use serde::{Deserialize, Serialize};

use super::HttpApi;
use super::slots::{decode, pruned};
use crate::{Consul, Reads};
use fencepost_model::ids::{Index, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe};
use fencepost_model::time::Ticks;

/// `func (s *Semaphore) monitorLock`: it ends when the slot is lost. It checks neither flags nor limit. C-SEM-6.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct SemaphoreMonitor {
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
    /// `opts.RequireConsistent`, which the guide does not ask for.
    #[normal(skip = "a constant")]
    pub reads: Reads,
}

impl Recipe<Consul> for SemaphoreMonitor {
    const NAME: &'static str = "monitor-semaphore";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        let listed = match self.reads {
            Reads::Default => consul.watch_list(self.wait_index, None).await,
            Reads::Consistent => consul.watch_list_consistent(self.wait_index, None).await,
        };
        match listed {
            Ok(listing) => {
                let slots = decode(listing.slots, 0).map(|(slots, _)| pruned(slots, &listing));
                if slots.is_some_and(|slots| slots.holders.contains(&self.session)) {
                    (self.wait_index, self.left) = (listing.index, self.retries);
                    return Ok(Lap::Again);
                }
                Ok(Lap::Done)
            }
            Err(_) if self.left > 0 => {
                consul.sleep(self.retry_every).await;
                (self.wait_index, self.left) = (Index::NONE, self.left - 1);
                Ok(Lap::Again)
            }
            // `close(stopCh)`.
            Err(_) => Ok(Lap::Done),
        }
    }
}
