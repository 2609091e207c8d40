//! Consul's guide "Application Leader Election with Sessions", step by step (website/source/docs/guides/leader-election.html.md).

use serde::{Deserialize, Serialize};

use super::{HttpApi, Renew};
use crate::{Consul, Entry, LOCK, Opaque, Terms};
use fencepost_model::fact::Leaving;
use fencepost_model::ids::{Index, SessionId, Token};
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Handle, Lap, Recipe, Wanted};
use fencepost_model::time::Ticks;

/// A candidate, and a leader.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct ElectionGuide {
    /// What its sessions are created with: nothing but a name in the guide's first step, so no TTL.
    pub terms: Terms,
    /// The timed wait before a free key is asked for, because of the lock-delay. C-LE-1.
    pub rest: Ticks,
    /// Its session.
    session: Option<SessionId>,
    /// Whether another client leads, as far as it knows.
    is_follower: bool,
    /// The index of its blocking query.
    wait_index: Index,
}

impl ElectionGuide {
    /// With sessions of these terms, and this wait.
    pub fn with(terms: Terms, rest: Ticks) -> Self {
        ElectionGuide { terms, rest, session: None, is_follower: false, wait_index: Index::NONE }
    }

    /// "Watch the Session": "they watch for changes on the key", by "a blocking query against the key". C-LE-1.
    async fn follow(&mut self, consul: &Handle<Consul>) {
        match consul.watch(LOCK, self.wait_index, None).await {
            Ok(Some(Entry { session: Some(_), modify, .. })) => self.wait_index = modify,
            // "Each attempt to acquire the key should be separated by a timed wait."
            Ok(Some(Entry { session: None, .. }) | None) | Err(_) => {
                (self.is_follower, self.wait_index) = (false, Index::NONE);
                consul.sleep(self.rest).await;
            }
        }
    }

    /// The leader works until it steps down, or until it hears that it does not lead any more.
    async fn lead(&mut self, consul: &Handle<Consul>, session: SessionId) -> Result<(), Gone> {
        // "The leader must also watch for changes."
        consul.spawn(LeaderWatch { session, wait_index: Index::NONE });
        consul.enter(Token::default());
        let is_lost = loop {
            match consul.select(consul.ended::<LeaderWatch>(), consul.user()).await {
                First::One(()) => break true,
                First::Other(Wanted::Write) => consul.send_write(Token::default()),
                First::Other(Wanted::Release) => break false,
            }
        };
        if is_lost {
            consul.leave(Leaving::Notified);
            self.session = None;
            consul.stop::<Renew>();
            return Ok(());
        }
        // "Release the Session": "this should be done by simply releasing the lock".
        consul.leave(Leaving::Done);
        consul.stop::<LeaderWatch>();
        consul.release(LOCK, session, Opaque::Empty).await?;
        Ok(())
    }
}

impl Recipe<Consul> for ElectionGuide {
    const NAME: &'static str = "leader-election";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        if self.is_follower {
            self.follow(consul).await;
            return Ok(Lap::Again);
        }
        // "Create a Session": `PUT /v1/session/create`. A check may refuse it for now. C-SES-4.
        let session = match self.session {
            Some(session) => session,
            None => match consul.create_session(self.terms).await {
                Ok(session) => session,
                Err(_) => {
                    consul.sleep(self.rest).await;
                    return Ok(Lap::Again);
                }
            },
        };
        if self.session.is_none() {
            self.session = Some(session);
            // Where the session has a TTL, it must be renewed.
            if let Some(ttl) = self.terms.ttl {
                consul.spawn(Renew { session, ttl, after_error: self.rest });
            }
        }
        // "Acquire a Session": `PUT /v1/kv/<key>?acquire=<session>`, with a body "representing the local instance".
        match consul.acquire(LOCK, session, Opaque::Name(consul.me())).await {
            Ok(true) => {
                self.lead(consul, session).await?;
                return Ok(Lap::Done);
            }
            // "If `false` is returned, some other node has acquired the lock."
            Ok(false) => self.is_follower = true,
            Err(_) => consul.sleep(self.rest).await,
        }
        Ok(Lap::Again)
    }
}

/// The leader's watch of the key: it ends when the key is not its own any more, or when the watch fails.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct LeaderWatch {
    /// The leader's session.
    pub session: SessionId,
    /// The index of its blocking query.
    pub wait_index: Index,
}

impl Recipe<Consul> for LeaderWatch {
    const NAME: &'static str = "leader-watch";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        match consul.watch(LOCK, self.wait_index, None).await {
            Ok(Some(Entry { session: Some(holder), modify, .. })) if holder == self.session => {
                self.wait_index = modify;
                Ok(Lap::Again)
            }
            _ => Ok(Lap::Done),
        }
    }
}
