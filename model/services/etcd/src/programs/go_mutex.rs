//! A client of the Go client's `Mutex`: `NewSession`, `NewMutex`, `Lock`, its work, `Unlock`, `Close`.

use serde::{Deserialize, Serialize};

use super::holder::TenureEnd;
use super::{EtcdMutex, EtcdSession, HolderTerms, KeyWait, SessionTerms};
use crate::Etcd;
use crate::settings::{Leave, Nested};
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe};
use fencepost_model::time::Ticks;

/// The client. While it waits, a lap is a step of `waitDeletes`.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct GoMutex {
    /// How its session is made.
    pub terms: SessionTerms,
    /// What its user does.
    pub holder: HolderTerms,
    /// Whether `Lock` reads its own key after the wait: since 3.5. E-CC-12.
    pub final_get: bool,
    /// Its user calls `TryLock` in place of `Lock`, which is there since 3.5, and again after this number of ticks while it is locked. E-CC-16.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tries_after: Option<Ticks>,
    /// Whether `Unlock` compares the create revision: no released version. E-CC-14.
    pub unlock_compares: bool,
    /// Whether it takes a second lock, whose name begins with that of the first. E-CC-25.
    #[normal(skip = "a constant")]
    pub nested: Nested,
    /// Its session.
    pub(super) session: Option<EtcdSession>,
    /// The `Mutex` whose `Lock` waits.
    pub(super) mutex: Option<EtcdMutex>,
}

impl GoMutex {
    /// A client of 3.4.23 with such sessions and such a user.
    pub fn with(terms: SessionTerms, holder: HolderTerms) -> Self {
        let (session, mutex) = (None, None);
        let (final_get, tries_after, unlock_compares, nested) = (false, None, false, Nested::No);
        GoMutex { terms, holder, final_get, tries_after, unlock_compares, nested, session, mutex }
    }

    /// Its session; a new one if it has none, or the last one's `Done` is closed.
    async fn session(&mut self, client: &Handle<Etcd>) -> Option<EtcdSession> {
        if self.session.is_none() || EtcdSession::is_done(client).await {
            self.session = EtcdSession::open(client, &self.terms).await.ok();
        }
        self.session
    }

    /// `Lock` up to the wait.
    async fn lock(&mut self, client: &Handle<Etcd>) -> Result<Lap, Gone> {
        let Some(session) = self.session(client).await else { return Ok(Lap::Done) };
        let locks = async {
            if self.nested == Nested::First {
                EtcdMutex::lock_below(client, session).await?;
            }
            EtcdMutex::lock(client, session).await
        };
        match self.holder.unless_done(client, locks).await {
            // The transaction may be applied yet: its key goes with the lease.
            None => Ok(Lap::Done),
            Some(Err(_)) => self.finish(client).await,
            Some(Ok(mutex)) if mutex.wait.is_none() => self.hold(client, mutex).await,
            Some(Ok(mutex)) => {
                self.mutex = Some(mutex);
                Ok(Lap::Again)
            }
        }
    }

    /// `TryLock`, and what follows it.
    async fn try_lock(&mut self, client: &Handle<Etcd>, pause: Ticks) -> Result<Lap, Gone> {
        let Some(session) = self.session(client).await else { return Ok(Lap::Done) };
        match self.holder.unless_done(client, EtcdMutex::try_lock(client, session)).await {
            // The transaction may be applied yet: its key goes with the lease.
            None => Ok(Lap::Done),
            Some(Err(_)) => self.finish(client).await,
            Some(Ok(Some(mutex))) => self.hold(client, mutex).await,
            // `ErrLocked`.
            Some(Ok(None)) => {
                client.sleep(pause).await;
                Ok(Lap::Again)
            }
        }
    }

    /// A step of the wait of `Lock`, and what follows it.
    async fn wait(&mut self, client: &Handle<Etcd>, mut mutex: EtcdMutex, step: KeyWait) -> Result<Lap, Gone> {
        let waits = async {
            mutex.wait(client, step).await?;
            match mutex.wait.is_none() && self.final_get {
                true => mutex.is_still_there(client).await,
                false => Ok(true),
            }
        };
        let waited = self.holder.unless_done(client, waits).await;
        self.mutex = None;
        match waited {
            // `if werr != nil { m.Unlock(client.Ctx()) }` (72-73). E-CC-13.
            None | Some(Err(_)) => self.withdraw(client, mutex).await,
            // `ErrSessionExpired`.
            Some(Ok(false)) => self.finish(client).await,
            Some(Ok(true)) if mutex.wait.is_none() => self.hold(client, mutex).await,
            Some(Ok(true)) => {
                self.mutex = Some(mutex);
                Ok(Lap::Again)
            }
        }
    }

    /// `Lock` has returned success.
    async fn hold(&mut self, client: &Handle<Etcd>, mutex: EtcdMutex) -> Result<Lap, Gone> {
        if let (Nested::Second, Some(session)) = (self.nested, self.session)
            && EtcdMutex::lock_below(client, session).await.is_err()
        {
            return self.finish(client).await;
        }
        if !self.holder.may_enter(client).await {
            return self.withdraw(client, mutex).await;
        }
        match self.holder.hold(client, mutex.key, mutex.created).await {
            TenureEnd::SessionLost => {
                self.session = None;
                return Ok(Lap::Done);
            }
            TenureEnd::Stopped => return self.finish(client).await,
            TenureEnd::Done => {}
        }
        if matches!(self.holder.leave, Leave::Release | Leave::FailAndRepeat) {
            // What is deleted, or not, is not looked at.
            let _ = mutex.unlock(client, self.unlock_compares).await;
            if let (Nested::First | Nested::Second, Some(session)) = (self.nested, self.session) {
                let _ = EtcdMutex::below(session).unlock(client, false).await;
            }
        }
        self.finish(client).await
    }

    async fn withdraw(&mut self, client: &Handle<Etcd>, mutex: EtcdMutex) -> Result<Lap, Gone> {
        let _ = mutex.unlock(client, self.unlock_compares).await;
        self.finish(client).await
    }

    async fn finish(&mut self, client: &Handle<Etcd>) -> Result<Lap, Gone> {
        self.holder.finish(client, &mut self.session, &self.terms).await
    }
}

impl Recipe<Etcd> for GoMutex {
    const NAME: &'static str = "go-mutex";

    async fn lap(&mut self, client: &Handle<Etcd>) -> Result<Lap, Gone> {
        match (self.mutex, self.tries_after) {
            (Some(mutex @ EtcdMutex { wait: Some(step), .. }), _) => self.wait(client, mutex, step).await,
            (_, Some(pause)) => self.try_lock(client, pause).await,
            _ => self.lock(client).await,
        }
    }
}
