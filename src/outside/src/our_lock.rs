//! Our lock on Consul, as plain async code: a session that is kept alive, a key, and a lease by the client's own clock. It has a
//! bug that a reviewer misses, and [`OurLock::counts_from_answer`] switches it off.

use fencepost::consul::{Consul, HttpApi, LOCK, Opaque, Terms};
use fencepost_model::prelude::*;
use fencepost_model::program::{First, Gone, Handle, Lap, Recipe, Wanted};
use serde::{Deserialize, Serialize};

/// What survives from one lap to the next.
#[derive(Clone, PartialEq, Debug, Normal, Serialize, Deserialize)]
pub struct OurLock {
    pub terms: Terms,
    pub retry_every: Ticks,
    /// The bug.
    pub counts_from_answer: bool,
    pub session: Option<SessionId>,
}

impl Recipe<Consul> for OurLock {
    const NAME: &'static str = "our-lock";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        let session = match self.session {
            Some(session) => session,
            None => {
                let ttl = self.terms.ttl.ok_or(Gone)?;
                let lease = consul.deadline(ttl);
                let session = consul.create_session(self.terms).await?;
                consul.lease_until(&lease);
                consul.spawn(KeepAlive { session, ttl, counts_from_answer: self.counts_from_answer });
                self.session = Some(session);
                session
            }
        };
        if !consul.acquire(LOCK, session, Opaque::Empty).await? {
            consul.sleep(self.retry_every).await;
            return Ok(Lap::Again);
        }
        if consul.lease_is_over().await {
            return Err(Gone);
        }
        let inside = consul.enter(Token::default());
        loop {
            match consul.select(consul.lease_ended(), consul.user()).await {
                First::One(()) => {
                    inside.leave(Leaving::Lapsed);
                    return Err(Gone);
                }
                First::Other(Wanted::Write) => inside.send_write(),
                First::Other(Wanted::Release) => break,
            }
        }
        inside.leave(Leaving::Done);
        consul.release(LOCK, session, Opaque::Empty).await?;
        Ok(Lap::Done)
    }
}

/// Renews the session of an [`OurLock`], and its lease with it.
#[derive(Clone, PartialEq, Debug, Normal, Serialize, Deserialize)]
pub struct KeepAlive {
    session: SessionId,
    ttl: Ticks,
    counts_from_answer: bool,
}

impl Recipe<Consul> for KeepAlive {
    const NAME: &'static str = "keep-alive";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        consul.sleep(self.ttl).await;
        let lease = consul.deadline(self.ttl);
        if !consul.renew_session(self.session).await? {
            return Ok(Lap::Done);
        }
        // The bug: the server has counted since it heard of the renewal, and not since the client heard of that.
        let lease = if self.counts_from_answer { consul.deadline(self.ttl) } else { lease };
        consul.lease_until(&lease);
        Ok(Lap::Again)
    }
}
