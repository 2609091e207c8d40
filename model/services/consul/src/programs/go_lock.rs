//! The Go client's Lock, line by line (api/lock.go of Consul 1.8.7). The goroutine that watches its key is in `lock_monitor`, the one that
//! renews its session in `renew`.

use std::ops::Not;

use serde::{Deserialize, Serialize};

use super::one_shot::{Attempt, OneShot};
use super::{ApiError, Content, HttpApi, Monitor, Renew};
use crate::{Consul, Entry, LOCK, LOCK_FLAGS, Opaque, Terms};
use fencepost_model::fact::Leaving;
use fencepost_model::ids::{Index, SessionId, Token};
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Handle, Lap, Recipe, Wanted};
use fencepost_model::time::Ticks;

/// `type Lock struct`, with its options.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct GoLock {
    /// What its sessions are created with: a TTL of 15 s, and no lock-delay asked for, which makes 15 s. C-LCK-1.
    pub terms: Terms,
    /// `LockWaitTime`, 15 s by default.
    pub wait: Ticks,
    /// `LockTryOnce`: it gives up when `wait` is over. C-LCK-3.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub tries_once: bool,
    /// `DefaultLockRetryTime`, 5 s.
    pub retry_every: Ticks,
    /// How long `RenewPeriodic` waits after an error: 1 s.
    pub renew_after_error: Ticks,
    /// `MonitorRetries`, 0 by default.
    pub monitor_retries: u8,
    /// `MonitorRetryTime`, 2 s.
    pub monitor_retry_every: Ticks,
    /// `lockSession`.
    session: Option<SessionId>,
    /// `qOpts.WaitIndex`.
    wait_index: Index,
}

/// `Value`, empty by default, and `Flags: LockFlagValue`.
const CONTENT: Content = Content { value: Opaque::Empty, flags: LOCK_FLAGS };

impl GoLock {
    /// With the client's defaults, for this number of ticks per second; sessions have these terms.
    pub fn with(terms: Terms, ticks_per_second: i64) -> Self {
        let seconds = |count: i64| Ticks::new(count * ticks_per_second);
        GoLock {
            terms,
            wait: seconds(15),
            tries_once: false,
            retry_every: seconds(5),
            renew_after_error: seconds(1),
            monitor_retries: 0,
            monitor_retry_every: seconds(2),
            session: None,
            wait_index: Index::NONE,
        }
    }

    /// `Lock` has failed, or given up: its deferred function stops the renewals, and they destroy the session. C-LCK-2.
    fn fail(consul: &Handle<Consul>, session: SessionId) -> Gone {
        consul.stop::<Renew>();
        consul.send_destroy_session(session);
        Gone
    }

    /// The same with `MonitorRetries` and `MonitorRetryTime`.
    #[must_use]
    pub fn monitored(self, monitor_retries: u8, monitor_retry_every: Ticks) -> Self {
        GoLock { monitor_retries, monitor_retry_every, ..self }
    }

    /// The same with `LockTryOnce` and this `LockWaitTime`.
    #[must_use]
    pub fn once(self, wait: Ticks) -> Self {
        GoLock { wait, tries_once: true, ..self }
    }

    /// `go l.monitorLock(l.lockSession, leaderCh)`. C-LCK-6.
    pub(super) fn spawn_monitor(&self, consul: &Handle<Consul>, session: SessionId) {
        let (retries, retry_every) = (self.monitor_retries, self.monitor_retry_every);
        consul.spawn(Monitor { session, wait_index: Index::NONE, left: retries, retries, retry_every });
    }

    /// `Unlock`: the release comes first, its result is ignored, then the renewals stop and destroy the session. C-LCK-9.
    pub(super) async fn unlock(&mut self, consul: &Handle<Consul>, session: SessionId) -> Result<(), ApiError> {
        consul.stop::<Monitor>();
        let released = consul.release(LOCK, session, CONTENT).await;
        consul.stop::<Renew>();
        consul.send_destroy_session(session);
        self.session = None;
        released.map(|_| ())
    }

    /// `Lock`: up to its next wait, or to its end if it tries once.
    pub(super) async fn attempt(&mut self, consul: &Handle<Consul>) -> Result<Attempt, Gone> {
        // `l.createSession()`, and `go RenewPeriodic(…)`. C-LCK-2.
        let session = match self.session {
            Some(session) => session,
            None => {
                let session = consul.create_session(self.terms).await?;
                // A session without a TTL stands for one of the caller's (`l.opts.Session`), which the client does not renew.
                if let Some(ttl) = self.terms.ttl {
                    consul.spawn(Renew { session, ttl, after_error: self.renew_after_error });
                }
                self.session = Some(session);
                self.wait_index = Index::NONE;
                session
            }
        };
        let mut one_shot = self.tries_once.then(|| OneShot::begin(consul, self.wait));
        let mut wait = self.wait;
        while !self.is_taken(consul, session, wait).await? {
            let Some(one_shot) = &mut one_shot else { return Ok(Attempt::Again) };
            // `if elapsed > l.opts.LockWaitTime { return nil, nil }`, and `qOpts.WaitTime = l.opts.LockWaitTime - elapsed`.
            let Some(left) = one_shot.left().await else { return Ok(Attempt::GaveUp(session)) };
            wait = left;
        }
        Ok(Attempt::Held(session))
    }

    /// From `WAIT` on, with this `qOpts.WaitTime`, up to `HELD` or to the next `goto WAIT`.
    async fn is_taken(&mut self, consul: &Handle<Consul>, session: SessionId, wait: Ticks) -> Result<bool, Gone> {
        // `pair, meta, err := kv.Get(l.opts.Key, qOpts)`. C-LCK-3.
        match consul.watch(LOCK, self.wait_index, Some(wait)).await {
            Err(_) => return Err(GoLock::fail(consul, session)),
            // `if pair.Flags != LockFlagValue { return nil, ErrLockConflict }`.
            Ok(Some(Entry { flags, .. })) if flags != LOCK_FLAGS => return Err(GoLock::fail(consul, session)),
            // `pair.Session == l.lockSession: goto HELD`. C-LCK-5.
            Ok(Some(Entry { session: Some(holder), .. })) if holder == session => return Ok(true),
            // `qOpts.WaitIndex = meta.LastIndex; goto WAIT`.
            Ok(Some(Entry { session: Some(_), modify, .. })) => {
                self.wait_index = modify;
                return Ok(false);
            }
            Ok(Some(Entry { session: None, .. }) | None) => {}
        }
        // `locked, _, err := kv.Acquire(…)`. C-LCK-4.
        match consul.acquire(LOCK, session, CONTENT).await {
            Err(_) => return Err(GoLock::fail(consul, session)),
            Ok(true) => return Ok(true),
            Ok(false) => {}
        }
        // `kv.Get(l.opts.Key, qOpts)`: held by another client, or in its lock-delay, which no `LockWaitTime` cuts short. C-LCK-4.
        match consul.get(LOCK).await {
            Err(_) => return Err(GoLock::fail(consul, session)),
            Ok(Some(Entry { session: Some(_), modify, .. })) => self.wait_index = modify,
            Ok(Some(Entry { session: None, .. }) | None) => {
                consul.sleep(self.retry_every).await;
                self.wait_index = Index::NONE;
            }
        }
        Ok(false)
    }

    /// From `HELD` on: the user works until it is done, or until the channel of `Lock` is closed.
    async fn hold(&mut self, consul: &Handle<Consul>, session: SessionId) -> Result<Lap, Gone> {
        self.spawn_monitor(consul, session);
        consul.enter(Token::default());
        loop {
            match consul.select(consul.ended::<Monitor>(), consul.user()).await {
                // `<-leaderCh`. The user stops; the handle is still held, and the renewals go on. C-LCK-8.
                First::One(()) => {
                    consul.leave(Leaving::Notified);
                    return Ok(Lap::Done);
                }
                First::Other(Wanted::Write) => consul.send_write(Token::default()),
                First::Other(Wanted::Release) => break,
            }
        }
        consul.leave(Leaving::Done);
        self.unlock(consul, session).await?;
        Ok(Lap::Done)
    }
}

impl Recipe<Consul> for GoLock {
    const NAME: &'static str = "go-lock";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        match self.attempt(consul).await? {
            Attempt::Held(session) => self.hold(consul, session).await,
            Attempt::Again => Ok(Lap::Again),
            Attempt::GaveUp(session) => Err(GoLock::fail(consul, session)),
        }
    }
}
