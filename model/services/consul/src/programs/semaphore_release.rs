//! `Release` and `Destroy` of the Go client's Semaphore (api/semaphore.go).

use super::go_semaphore::{GoSemaphore, flagged};
use super::slots::{decode, pruned};
use super::{ApiError, HttpApi, Renew, SemaphoreMonitor};
use crate::{Consul, Key, Slots};
use fencepost_model::ids::SessionId;
use fencepost_model::program::Handle;

impl GoSemaphore {
    /// `Release`: the deferred function stops the renewals, which destroy the session, whatever comes of the requests. C-SEM-7.
    pub(super) async fn give_back(&mut self, consul: &Handle<Consul>, session: SessionId) -> Result<(), ApiError> {
        consul.stop::<SemaphoreMonitor>();
        self.session = None;
        let released = GoSemaphore::release(consul, session).await;
        consul.stop::<Renew>();
        consul.send_destroy_session(session);
        released
    }

    /// `Destroy`: holders that live are no error here. C-SEM-8.
    pub(super) async fn destroy(consul: &Handle<Consul>) -> Result<(), ApiError> {
        let listing = consul.list().await?;
        if let Some((slots, index)) = listing.slots.and_then(|entry| decode(Some(entry), 0))
            && pruned(slots, &listing).holders.is_empty()
        {
            consul.delete_cas(Key::Slots, index).await?;
        }
        Ok(())
    }

    /// From `READ` on.
    async fn release(consul: &Handle<Consul>, session: SessionId) -> Result<(), ApiError> {
        loop {
            let pair = consul.get(Key::Slots).await?;
            // `lock.Holders[lockSession]`: a missing entry is an empty set.
            let Some((slots, index)) = pair.and_then(|entry| decode(Some(entry), 0)) else { break };
            if !slots.holders.contains(&session) {
                break;
            }
            let holders = slots.holders.filtered(|holder| *holder != session);
            if consul.cas(Key::Slots, index, flagged(Slots { holders, ..slots })).await? {
                break;
            }
        }
        // A plain delete of the contender entry.
        consul.delete(Key::Contender(session)).await?;
        Ok(())
    }
}
