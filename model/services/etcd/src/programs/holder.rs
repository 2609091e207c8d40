//! What the user of a recipe does while it is inside, and how it leaves. The recipes know nothing of it: the end of a session is looked at
//! or not, as the user likes (E-CC-12, E-CC-32).

use std::pin::pin;

use serde::{Deserialize, Serialize};

use super::{EtcdApi, EtcdError, EtcdSession, SessionTerms};
use crate::Etcd;
use crate::messages::{Key, Response};
use crate::settings::{Guard, Leave, Stop};
use fencepost_model::fact::Leaving;
use fencepost_model::ids::Index;
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Handle, Lap, Wanted};

/// What a user does.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct HolderTerms {
    /// When it stops by itself.
    #[normal(skip = "a constant")]
    pub stop: Stop,
    /// Whether it looks at that before it begins, too.
    pub looks_before_entry: bool,
    /// Whether `Done` cancels the context of a call that waits.
    pub done_cancels: bool,
    /// Whether it watches its own key.
    pub watches_own_key: bool,
    /// What it writes to.
    #[normal(skip = "a constant")]
    pub guard: Guard,
    /// How it leaves.
    #[normal(skip = "a constant")]
    pub leave: Leave,
    /// Whether it closes its session then. Otherwise the session is there for its next tenure.
    pub closes_session: bool,
    /// Whether its process lives on as long as the session that it has not closed.
    pub lives_on: bool,
    /// Whether its lease is renewed; otherwise it has no `Done`. E-CC-30.
    pub has_done: bool,
}

impl Default for HolderTerms {
    /// A user who does not look at `Done`, unlocks, and closes its session.
    fn default() -> Self {
        HolderTerms {
            stop: Stop::Never,
            looks_before_entry: true,
            done_cancels: false,
            watches_own_key: false,
            guard: Guard::Resource,
            leave: Leave::Release,
            closes_session: true,
            lives_on: false,
            has_done: true,
        }
    }
}

/// How a tenure ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum TenureEnd {
    /// The user is done, and may give the lock back.
    Done,
    /// `Done` is closed.
    SessionLost,
    /// Its time is over, or its own key was deleted.
    Stopped,
}

impl HolderTerms {
    /// Whether it begins.
    pub(super) async fn may_enter(&self, client: &Handle<Etcd>) -> bool {
        if !self.looks_before_entry || self.stop == Stop::Never {
            return true;
        }
        if self.has_done && EtcdSession::is_done(client).await {
            return false;
        }
        self.stop != Stop::BeforeExpiry || !client.lease_has_come().await
    }

    /// Waits for the end of a wait, or for `Done` if that cancels it. None: it is cancelled.
    pub(super) async fn unless_done<T>(&self, client: &Handle<Etcd>, wait: impl Future<Output = T>) -> Option<T> {
        if !self.done_cancels {
            return Some(wait.await);
        }
        match client.select(EtcdSession::done(client), wait).await {
            First::One(()) => None,
            First::Other(value) => Some(value),
        }
    }

    /// Works while it is inside, with its create revision as token. E-CC-24.
    pub(super) async fn hold(&self, client: &Handle<Etcd>, key: Key, created: Index) -> TenureEnd {
        // Who watches for the closing of `Done`, and was told of it before, is told nothing more.
        let was_told = self.has_done && !self.looks_before_entry && EtcdSession::is_done(client).await;
        let tenure = client.enter(created.token());
        let mut end = pin!(self.end(client, key, created, was_told));
        let (why, end) = loop {
            let wanted = match client.select(end.as_mut(), client.user()).await {
                First::One(ended) => break ended,
                First::Other(wanted) => wanted,
            };
            if wanted == Wanted::Release {
                break (Leaving::Done, TenureEnd::Done);
            }
            let write = async {
                match self.guard {
                    Guard::Resource => tenure.write().await,
                    Guard::Txn => client.write_if_created(key, created).await.unwrap_or(false),
                }
            };
            if let First::One(ended) = client.select(end.as_mut(), write).await {
                break ended;
            }
        };
        tenure.leave(why);
        end
    }

    /// The round is over: the user closes its session, if it does that, or lives on as long as it.
    pub(super) async fn finish(
        &self,
        client: &Handle<Etcd>,
        session: &mut Option<EtcdSession>,
        terms: &SessionTerms,
    ) -> Result<Lap, Gone> {
        match session.take_if(|_| self.closes_session) {
            Some(session) => session.close(client, terms).await,
            None if !self.closes_session => self.live_on(client).await,
            None => {}
        }
        Ok(Lap::Done)
    }

    /// Its session is renewed for as long as its process lives.
    pub(super) async fn live_on(&self, client: &Handle<Etcd>) {
        if self.lives_on {
            EtcdSession::done(client).await;
        }
    }

    /// What ends the tenure, beside its user.
    async fn end(&self, client: &Handle<Etcd>, key: Key, created: Index, was_told: bool) -> (Leaving, TenureEnd) {
        let done = async {
            match self.has_done && self.stop != Stop::Never && !was_told {
                true => EtcdSession::done(client).await,
                false => std::future::pending().await,
            }
        };
        let time = async {
            match self.stop {
                Stop::BeforeExpiry if !was_told => client.lease_ended().await,
                Stop::BeforeExpiry | Stop::Never | Stop::OnDone => std::future::pending().await,
            }
        };
        let key_gone = async {
            match self.watches_own_key {
                true => gone(client, key, created).await,
                false => std::future::pending().await,
            }
        };
        match client.select(done, client.select(time, key_gone)).await {
            First::One(()) => (Leaving::Notified, TenureEnd::SessionLost),
            First::Other(First::One(())) => (Leaving::Lapsed, TenureEnd::Stopped),
            First::Other(First::Other(())) => (Leaving::Notified, TenureEnd::Stopped),
        }
    }
}

/// Waits until the key is deleted, or the watch of it ends; a connection that breaks is made anew. E-W-7.
async fn gone(client: &Handle<Etcd>, key: Key, created: Index) {
    while client.watch_delete(key, created).await == Err(EtcdError(Response::Disconnected)) {}
}
