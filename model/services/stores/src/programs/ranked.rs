//! A semaphore by rank (B-34): each client has a ticket, and those with the lowest tickets are holders.

use serde::{Deserialize, Serialize};

use super::Patience;
use crate::{Joins, Request, Stores};
use fencepost_model::fact::Leaving;
use fencepost_model::ids::Index;
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe, Wanted};
use fencepost_model::time::Ticks;

/// The client of a semaphore by rank, with tickets.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct RankedSemaphore {
    /// The number of slots.
    pub limit: u8,
    /// How long it waits after a refusal, in ticks.
    pub retry_every: Ticks,
    /// How long it waits for an answer.
    pub patience: Patience,
    /// How it gets its rank.
    pub joins: Joins,
}

impl RankedSemaphore {
    /// The number of its entry, and the number of entries before it; none: it is not in the list.
    async fn rank(&mut self, store: &Handle<Stores>) -> Option<(Index, u8)> {
        match self.joins {
            Joins::Atomic => self.patience.ask(store, Request::Join(None)).await.placed(),
            Joins::StepByStep => {
                let ticket = self.patience.ask(store, Request::Draw).await.number()?;
                // A client that drew a lower ticket may come after it, and is before it then.
                self.patience.ask(store, Request::Insert(ticket)).await;
                self.patience.ask(store, Request::Place(ticket)).await.placed()
            }
        }
    }
}

impl Recipe<Stores> for RankedSemaphore {
    const NAME: &'static str = "ranked-semaphore";

    async fn lap(&mut self, store: &Handle<Stores>) -> Result<Lap, Gone> {
        let number = match self.rank(store).await {
            Some((number, before)) if before < self.limit => number,
            refused => {
                if let Some((number, _)) = refused {
                    self.patience.ask(store, Request::Remove(number)).await;
                }
                store.sleep(self.retry_every).await;
                return Ok(Lap::Again);
            }
        };
        store.enter_slot(number.token(), self.limit.into());
        while store.user().await != Wanted::Release {}
        store.leave(Leaving::Done);
        self.patience.ask(store, Request::Remove(number)).await;
        Ok(Lap::Done)
    }
}
