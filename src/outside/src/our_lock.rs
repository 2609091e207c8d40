//! Our lock on Consul, as plain async code: a session, a key, and a lease by the client's own clock. It has a bug that a reviewer
//! misses, and [`OurLock::counts_from_answer`] switches it off.

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
}

impl Recipe<Consul> for OurLock {
    const NAME: &'static str = "our-lock";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        let ttl = self.terms.ttl.ok_or(Gone)?;
        let mut lease = consul.deadline(ttl);
        let session = consul.create_session(self.terms).await?;
        // The bug: the server has counted since it created the session, and not since the client heard of that.
        if self.counts_from_answer {
            lease = consul.deadline(ttl);
        }
        consul.lease_until(&lease);
        loop {
            let is_held = consul.acquire(LOCK, session, Opaque::Empty).await?;
            if consul.lease_is_over().await {
                return Err(Gone);
            }
            if is_held {
                break;
            }
            consul.sleep(self.retry_every).await;
        }
        let inside = consul.enter(Token::default());
        let why = loop {
            match consul.select(consul.lease_ended(), consul.user()).await {
                First::One(()) => break Leaving::Lapsed,
                First::Other(Wanted::Release) => break Leaving::Done,
                First::Other(Wanted::Write) => inside.send_write(),
            }
        };
        inside.leave(why);
        consul.destroy_session(session).await?;
        Ok(Lap::Done)
    }
}
