//! A semaphore as a document with a record for each holder (B-35): a record that expires frees the slot of a holder that
//! is gone, and its holder must stop before.

use serde::{Deserialize, Serialize};

use super::Storing;
use crate::Stores;
use fencepost_model::fact::Leaving;
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Handle, Lap, Recipe, Wanted};
use fencepost_model::time::Ticks;

/// The client of a document with holders.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct HolderRecords {
    /// The number of slots: what the client believes.
    pub limit: u16,
    /// How long it waits after a refusal, in ticks.
    pub retry_every: Ticks,
    /// How long its record is valid, in ticks; none: without limit.
    pub ttl: Option<Ticks>,
}

impl Recipe<Stores> for HolderRecords {
    const NAME: &'static str = "holder-records";

    async fn lap(&mut self, store: &Handle<Stores>) -> Result<Lap, Gone> {
        // The lease counts from the request: the store writes the record later, or at once.
        let lease = self.ttl.map(|ttl| store.deadline(ttl));
        let Some(number) = store.take().await else {
            drop(lease);
            store.sleep(self.retry_every).await;
            return Ok(Lap::Again);
        };
        if let Some(lease) = &lease {
            if lease.is_over().await {
                store.sleep(self.retry_every).await;
                return Ok(Lap::Again);
            }
            store.lease_until(lease);
        }
        store.enter_slot(number.token(), self.limit);
        let why = loop {
            match store.select(store.lease_ended(), store.user()).await {
                First::One(()) => break Leaving::Lapsed,
                First::Other(Wanted::Release) => break Leaving::Done,
                First::Other(Wanted::Write) => {}
            }
        };
        store.leave(why);
        store.no_lease();
        if why == Leaving::Done {
            store.remove(number).await;
        }
        Ok(Lap::Done)
    }
}
