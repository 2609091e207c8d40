//! A lock or semaphore as a queue of sequence nodes (B-47): the lowest numbers are holders. A client whose answer was lost asks
//! again, and must find its own node instead of adding a second one.

use serde::{Deserialize, Serialize};

use super::Patience;
use crate::{Nodes, Request, Stores};
use fencepost_model::fact::Leaving;
use fencepost_model::ids::Index;
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe, Wanted};
use fencepost_model::time::Ticks;

/// The client of a queue of sequence nodes.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct SequenceQueue {
    /// The number of slots.
    pub limit: u8,
    /// How long it waits before it looks again, in ticks.
    pub retry_every: Ticks,
    /// How long it waits for an answer.
    pub patience: Patience,
    /// Whether it finds its own node again.
    pub nodes: Nodes,
    /// Its node, while it waits.
    pub node: Option<Index>,
}

impl Recipe<Stores> for SequenceQueue {
    const NAME: &'static str = "sequence-queue";

    async fn lap(&mut self, store: &Handle<Stores>) -> Result<Lap, Gone> {
        let node = match self.node {
            Some(node) => node,
            None => {
                let request = Request::Enqueue { named: self.nodes == Nodes::Named };
                self.patience.ask(store, request).await.number().ok_or(Gone)?
            }
        };
        let place = self.patience.ask(store, Request::Place(node)).await.placed();
        if place.is_none_or(|(_, before)| before >= self.limit) {
            // A node that is gone is made anew.
            self.node = place.map(|_| node);
            store.sleep(self.retry_every).await;
            return Ok(Lap::Again);
        }
        self.node = None;
        store.enter_slot(node.token(), self.limit.into());
        while store.user().await != Wanted::Release {}
        store.leave(Leaving::Done);
        self.patience.ask(store, Request::Remove(node)).await;
        Ok(Lap::Done)
    }
}
