//! A semaphore as a list of tokens (B-33): a client that pops one has a slot. A token that was taken too long ago is put back by the
//! next client that finds none, and its holder must not put it back once more.

use serde::{Deserialize, Serialize};

use super::Patience;
use crate::{Answer, GiveBack, Request, Stores};
use fencepost_model::fact::Leaving;
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe, Wanted};
use fencepost_model::time::Ticks;

/// The client of a token pool.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct TokenPool {
    /// The number of slots: what the client believes.
    pub limit: u16,
    /// How long it waits after a refusal, in ticks.
    pub retry_every: Ticks,
    /// How long it waits for an answer.
    pub patience: Patience,
    /// Whether it frees old tokens before it tries again.
    pub reaps: bool,
    /// How it releases its token.
    pub give_back: GiveBack,
    /// Whether it was refused in this round.
    pub is_refused: bool,
}

impl Recipe<Stores> for TokenPool {
    const NAME: &'static str = "token-pool";

    async fn lap(&mut self, store: &Handle<Stores>) -> Result<Lap, Gone> {
        if std::mem::take(&mut self.is_refused) && self.reaps {
            self.patience.ask(store, Request::Reap).await;
        }
        let Some(token) = self.patience.ask(store, Request::Take).await.number() else {
            store.sleep(self.retry_every).await;
            self.is_refused = true;
            return Ok(Lap::Again);
        };
        store.enter_slot(token.token(), self.limit);
        while store.user().await != Wanted::Release {}
        store.leave(Leaving::Done);
        match self.give_back {
            GiveBack::Unconditional => {
                self.patience.ask(store, Request::Push(token)).await;
            }
            GiveBack::CheckThenPush => {
                // Between the answer and the next request the token may be taken by another client.
                if self.patience.ask(store, Request::Check(token)).await == Answer::Yes {
                    self.patience.ask(store, Request::Push(token)).await;
                }
            }
            GiveBack::Conditional => {
                self.patience.ask(store, Request::GiveBack(token)).await;
            }
        }
        Ok(Lap::Done)
    }
}
