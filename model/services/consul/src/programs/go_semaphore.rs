//! The Go client's Semaphore, line by line (api/semaphore.go of Consul 1.8.7). The goroutine that watches its prefix is in
//! `semaphore_monitor`, the one that renews the session is that of the lock. `Release` and `Destroy` are in `semaphore_release`.

use std::ops::Not;

use serde::{Deserialize, Serialize};

use super::one_shot::{Attempt, OneShot};
use super::slots::{decode, pruned};
use super::{Content, HttpApi, Renew, SemaphoreMonitor};
use crate::{Consul, Key, Opaque, Reads, SEMAPHORE_FLAGS, Slots, Terms};
use fencepost_model::fact::Leaving;
use fencepost_model::ids::{Index, SessionId, Token};
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Handle, Lap, Recipe, Wanted};
use fencepost_model::time::Ticks;

/// `type Semaphore struct`, with its options.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct GoSemaphore {
    /// What its sessions are created with: a TTL of 15 s, and `Behavior: SessionBehaviorDelete`. C-SEM-1.
    pub terms: Terms,
    /// `Limit`.
    pub limit: u8,
    /// `SemaphoreWaitTime`, 15 s by default.
    pub wait: Ticks,
    /// `SemaphoreTryOnce`: it gives up when `wait` is over. C-SEM-4.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub tries_once: bool,
    /// How long `RenewPeriodic` waits after an error: 1 s.
    pub renew_after_error: Ticks,
    /// `MonitorRetries`, 0 by default.
    pub monitor_retries: u8,
    /// `MonitorRetryTime`, 2 s.
    pub monitor_retry_every: Ticks,
    /// `lockSession`.
    pub(super) session: Option<SessionId>,
    /// `qOpts.WaitIndex`.
    wait_index: Index,
}

impl GoSemaphore {
    /// With the client's defaults, for this number of ticks per second; sessions have these terms.
    pub fn with(terms: Terms, limit: u8, ticks_per_second: i64) -> Self {
        let seconds = |count: i64| Ticks::new(count * ticks_per_second);
        GoSemaphore {
            terms,
            limit,
            wait: seconds(15),
            tries_once: false,
            renew_after_error: seconds(1),
            monitor_retries: 0,
            monitor_retry_every: seconds(2),
            session: None,
            wait_index: Index::NONE,
        }
    }

    /// `Acquire` has failed, or given up: its deferred function stops the renewals, and they destroy the session; the contender key goes with it.
    /// C-SEM-9.
    fn fail(consul: &Handle<Consul>, session: SessionId) -> Gone {
        consul.stop::<Renew>();
        consul.send_destroy_session(session);
        Gone
    }

    /// The same with `MonitorRetries` and `MonitorRetryTime`.
    pub fn monitored(self, monitor_retries: u8, monitor_retry_every: Ticks) -> Self {
        GoSemaphore { monitor_retries, monitor_retry_every, ..self }
    }

    /// The same with `SemaphoreTryOnce` and this `SemaphoreWaitTime`.
    #[must_use]
    pub fn once(self, wait: Ticks) -> Self {
        GoSemaphore { wait, tries_once: true, ..self }
    }

    /// `go s.monitorLock(s.lockSession, s.lockCh)`. C-SEM-6.
    pub(super) fn spawn_monitor(&self, consul: &Handle<Consul>, session: SessionId) {
        let (retries, retry_every) = (self.monitor_retries, self.monitor_retry_every);
        consul.spawn(SemaphoreMonitor {
            session,
            wait_index: Index::NONE,
            left: retries,
            retries,
            retry_every,
            reads: Reads::Consistent,
        });
    }

    /// From `s.isHeld = true` on: the user works until it is done, or until the channel of `Acquire` is closed.
    async fn hold(&mut self, consul: &Handle<Consul>, session: SessionId) -> Result<Lap, Gone> {
        self.spawn_monitor(consul, session);
        consul.enter_slot(Token::default(), self.limit.into());
        loop {
            match consul.select(consul.ended::<SemaphoreMonitor>(), consul.user()).await {
                // `<-lockCh`. The user stops; the handle is still held, and the renewals go on.
                First::One(()) => {
                    consul.leave(Leaving::Notified);
                    return Ok(Lap::Done);
                }
                First::Other(Wanted::Write) => consul.send_write(Token::default()),
                First::Other(Wanted::Release) => break,
            }
        }
        consul.leave(Leaving::Done);
        self.give_back(consul, session).await?;
        Ok(Lap::Done)
    }
}

impl Recipe<Consul> for GoSemaphore {
    const NAME: &'static str = "go-semaphore";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        match self.attempt(consul).await? {
            Attempt::Held(session) => self.hold(consul, session).await,
            Attempt::Again => Ok(Lap::Again),
            Attempt::GaveUp(session) => Err(GoSemaphore::fail(consul, session)),
        }
    }
}

impl GoSemaphore {
    /// `Acquire`: up to its next wait, or to its end if it tries once.
    pub(super) async fn attempt(&mut self, consul: &Handle<Consul>) -> Result<Attempt, Gone> {
        let session = match self.session {
            Some(session) => session,
            None => {
                // `s.createSession()`, and `go session.RenewPeriodic(…)`. C-SEM-2.
                let session = consul.create_session(self.terms).await?;
                // A session without a TTL stands for one of the caller's (`s.opts.Session`), which the client does not renew.
                if let Some(ttl) = self.terms.ttl {
                    consul.spawn(Renew { session, ttl, after_error: self.renew_after_error });
                }
                (self.session, self.wait_index) = (Some(session), Index::NONE);
                // `kv.Acquire(s.contenderEntry(s.lockSession), nil)`.
                match consul.acquire(Key::Contender(session), session, Opaque::Empty.flagged(SEMAPHORE_FLAGS)).await {
                    Ok(true) => session,
                    Ok(false) | Err(_) => return Err(GoSemaphore::fail(consul, session)),
                }
            }
        };
        let mut one_shot = self.tries_once.then(|| OneShot::begin(consul, self.wait));
        let mut wait = self.wait;
        while !self.is_taken(consul, session, wait).await? {
            let Some(one_shot) = &mut one_shot else { return Ok(Attempt::Again) };
            // `if elapsed > s.opts.SemaphoreWaitTime { return nil, nil }`, and `qOpts.WaitTime = s.opts.SemaphoreWaitTime - elapsed`.
            let Some(left) = one_shot.left().await else { return Ok(Attempt::GaveUp(session)) };
            wait = left;
        }
        Ok(Attempt::Held(session))
    }

    /// From `WAIT` on, with this `qOpts.WaitTime`, up to `s.isHeld = true` or to the next `goto WAIT`.
    async fn is_taken(&mut self, consul: &Handle<Consul>, session: SessionId, wait: Ticks) -> Result<bool, Gone> {
        // `pairs, meta, err := kv.List(s.opts.Prefix, qOpts)`. C-SEM-4.
        let Ok(listing) = consul.watch_list(self.wait_index, Some(wait)).await else {
            return Err(GoSemaphore::fail(consul, session));
        };
        // `if lockPair.Flags != SemaphoreFlagValue { return nil, ErrSemaphoreConflict }`.
        if listing.slots.is_some_and(|entry| entry.flags != SEMAPHORE_FLAGS) {
            return Err(GoSemaphore::fail(consul, session));
        }
        let decoded = decode(listing.slots, self.limit);
        // `semaphore limit conflict`, even with no holders.
        let Some((slots, index)) = decoded.filter(|(slots, _)| slots.limit == self.limit) else {
            return Err(GoSemaphore::fail(consul, session));
        };
        let mut slots = pruned(slots, &listing);
        // `qOpts.WaitIndex = meta.LastIndex; goto WAIT`.
        if slots.holders.len() >= usize::from(slots.limit) {
            self.wait_index = listing.index;
            return Ok(false);
        }
        // `lock.Holders[s.lockSession] = true`: a set. C-SEM-3.
        if !slots.holders.contains(&session) {
            slots.holders.push(session);
            slots.holders.sort_unstable();
        }
        // False: a race with another contender, `goto WAIT`, with the same index.
        consul.cas(Key::Slots, index, flagged(slots)).await.map_err(|_| GoSemaphore::fail(consul, session))
    }
}

/// `encodeLock`: with `Flags: SemaphoreFlagValue`.
pub(super) fn flagged(slots: Slots) -> Content {
    Opaque::Slots(slots).flagged(SEMAPHORE_FLAGS)
}
