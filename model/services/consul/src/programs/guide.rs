//! Consul's guide "Semaphore", step by step (website/source/docs/guides/semaphore.html.md). Unlike the Go client's, its sessions
//! release their keys instead of deleting them, and it sets no flags. C-GDE-1.

use serde::{Deserialize, Serialize};

use super::slots::{decode, pruned};
use super::{ApiError, HttpApi, Renew, SemaphoreMonitor};
use crate::{Consul, Key, Opaque, Reads, Slots, Terms};
use fencepost_model::fact::Leaving;
use fencepost_model::ids::{Index, SessionId, Token};
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Handle, Lap, Recipe, Wanted};
use fencepost_model::time::Ticks;

/// A contender for a slot, and a holder.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct SemaphoreGuide {
    /// What its sessions are created with: nothing but a name in the guide's first step, so no TTL.
    pub terms: Terms,
    /// `Limit`, on which all must agree.
    pub limit: u8,
    /// How long it waits after an error.
    pub retry_every: Ticks,
    /// Its session.
    session: Option<SessionId>,
    /// The index of its blocking query on the prefix.
    wait_index: Index,
}

impl SemaphoreGuide {
    /// With sessions of these terms, and this limit.
    pub fn with(terms: Terms, limit: u8, retry_every: Ticks) -> Self {
        SemaphoreGuide { terms, limit, retry_every, session: None, wait_index: Index::NONE }
    }

    /// A session, and its contender key. None: one of them was refused.
    async fn register(&mut self, consul: &Handle<Consul>) -> Result<Option<SessionId>, ApiError> {
        // "The first step is for each contender to create a session."
        let session = consul.create_session(self.terms).await?;
        // "Next, we create a lock contender entry": `PUT /v1/kv/<prefix>/<session>?acquire=<session>`.
        if !consul.acquire(Key::Contender(session), session, Opaque::Empty).await? {
            // "It's likely that this indicates a session invalidation"; in fact that is an error. C-GDE-2.
            return Ok(None);
        }
        // Where the session has a TTL, it must be renewed.
        if let Some(ttl) = self.terms.ttl {
            consul.spawn(Renew { session, ttl, after_error: self.retry_every });
        }
        (self.session, self.wait_index) = (Some(session), Index::NONE);
        Ok(Some(session))
    }

    /// Reads the prefix, prunes, and takes a slot if one is free: whether it has got it.
    async fn take(&mut self, consul: &Handle<Consul>, session: SessionId) -> Result<bool, ApiError> {
        // "The current state of the semaphore is read by doing a `GET` on the entire `<prefix>`", later by a blocking query.
        let listing = consul.watch_list(self.wait_index, None).await?;
        // "A `cas` index of 0 is used so that the key is only put if it does not exist."
        let (slots, index) = decode(listing.slots, self.limit).unwrap_or_default();
        // "Any of the `Holders` that are not in that set are pruned."
        let mut slots = pruned(slots, &listing);
        // "To re-attempt the acquisition, we watch for changes on `<prefix>`", also after a lost race.
        self.wait_index = listing.index;
        if slots.holders.len() >= usize::from(self.limit) {
            return Ok(false);
        }
        slots.holders.push(session);
        slots.holders.sort_unstable();
        // "Adding its own session to the `Holders` list and doing a Check-And-Set update of the `<lock>`."
        consul.cas(Key::Slots, index, Opaque::Slots(slots)).await
    }

    /// A holder works until it is done, or until its watch says that the slot is lost.
    async fn hold(&mut self, consul: &Handle<Consul>, session: SessionId) -> Result<(), Gone> {
        // "On any change to `<prefix>` the lock's `Holders` should be re-checked to ensure the slot is still held."
        let retry_every = self.retry_every;
        consul.spawn(SemaphoreMonitor {
            session,
            wait_index: Index::NONE,
            left: 0,
            retries: 0,
            retry_every,
            reads: Reads::Default,
        });
        consul.enter_slot(Token::default(), self.limit.into());
        self.session = None;
        loop {
            match consul.select(consul.ended::<SemaphoreMonitor>(), consul.user()).await {
                First::One(()) => {
                    consul.leave(Leaving::Notified);
                    consul.stop::<Renew>();
                    return Ok(());
                }
                First::Other(Wanted::Write) => consul.send_write(Token::default()),
                First::Other(Wanted::Release) => break,
            }
        }
        consul.leave(Leaving::Done);
        consul.stop::<SemaphoreMonitor>();
        // "A Check-And-Set operation against `<lock>` to remove its session from the `Holders` object", again after a lost race.
        loop {
            let pair = consul.get(Key::Slots).await?;
            let Some((slots, index)) = pair.and_then(|entry| decode(Some(entry), 0)) else { break };
            let holders = slots.holders.filtered(|holder| *holder != session);
            if holders == slots.holders {
                break;
            }
            if consul.cas(Key::Slots, index, Opaque::Slots(Slots { holders, ..slots })).await? {
                break;
            }
        }
        // "Both its contender key `<prefix>/<session>` and session should be deleted." C-GDE-1.
        consul.delete(Key::Contender(session)).await?;
        consul.stop::<Renew>();
        consul.destroy_session(session).await?;
        Ok(())
    }
}

impl Recipe<Consul> for SemaphoreGuide {
    const NAME: &'static str = "semaphore-guide";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        let Some(session) = self.session else {
            if let Ok(Some(_)) = self.register(consul).await {
                return Ok(Lap::Again);
            }
            consul.sleep(self.retry_every).await;
            return Ok(Lap::Again);
        };
        match self.take(consul, session).await {
            Ok(true) => {
                self.hold(consul, session).await?;
                Ok(Lap::Done)
            }
            Ok(false) => Ok(Lap::Again),
            Err(_) => {
                consul.sleep(self.retry_every).await;
                Ok(Lap::Again)
            }
        }
    }
}
