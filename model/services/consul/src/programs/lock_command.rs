//! `consul lock PREFIX COMMAND`, line by line (command/lock/lock.go of Consul 1.8.7): the Go client's Lock around a child process, or
//! its Semaphore with `-n`; with `-timeout`, or `-try`, in their one-shot mode. That the process may end before its session is
//! destroyed (C-CLI-3) is here for a command that gives up. It is left out for one that fails or has released the lock.

use serde::{Deserialize, Serialize};

use super::one_shot::Attempt;
use super::{GoLock, GoSemaphore, HttpApi, Monitor, Renew, SemaphoreMonitor};
use crate::{Consul, Entry, Killed, LOCK, Terms};
use fencepost_model::fact::Leaving;
use fencepost_model::ids::{SessionId, Token};
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Handle, Lap, Recipe, Wanted};
use fencepost_model::time::Ticks;

/// `type cmd struct`: what is held while the child runs.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct LockCommand {
    /// `type LockUnlock struct`.
    pub unit: LockUnit,
    /// `lockKillGracePeriod`, 5 s: so long a child may take to die after SIGTERM.
    pub grace: Ticks,
    /// What is killed when the lock is lost: a shell that has started the work may be killed without it.
    #[normal(skip = "a constant")]
    pub killed: Killed,
}

/// `setupLock` or `setupSemaphore`, with `MonitorRetries` 3 and `MonitorRetryTime` 1 s. C-CLI-1.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub enum LockUnit {
    /// `-n` is 1.
    Lock(GoLock),
    /// `-n` is more.
    Semaphore(GoSemaphore),
}

impl LockUnit {
    /// `lu.lockFn`: up to its next wait, or to its end with `-timeout`.
    async fn attempt(&mut self, consul: &Handle<Consul>) -> Result<Attempt, Gone> {
        match self {
            LockUnit::Lock(lock) => lock.attempt(consul).await,
            LockUnit::Semaphore(semaphore) => semaphore.attempt(consul).await,
        }
    }

    /// The child has the lock.
    fn enter(&self, consul: &Handle<Consul>, session: SessionId) {
        match self {
            LockUnit::Lock(lock) => {
                lock.spawn_monitor(consul, session);
                consul.enter(Token::default());
            }
            LockUnit::Semaphore(semaphore) => {
                semaphore.spawn_monitor(consul, session);
                consul.enter_slot(Token::default(), semaphore.limit.into());
            }
        }
    }

    /// `<-lockCh`.
    async fn lost(&self, consul: &Handle<Consul>) {
        match self {
            LockUnit::Lock(_) => consul.ended::<Monitor>().await,
            LockUnit::Semaphore(_) => consul.ended::<SemaphoreMonitor>().await,
        }
    }

    /// `lu.unlockFn`, and `lu.cleanupFn`, which is `Destroy`: that it is in use is no error. C-LCK-10, C-SEM-8.
    async fn release(&mut self, consul: &Handle<Consul>, session: SessionId) -> Result<(), Gone> {
        match self {
            LockUnit::Lock(lock) => {
                lock.unlock(consul, session).await?;
                if let Some(Entry { session: None, modify, .. }) = consul.get(LOCK).await? {
                    // `kv.DeleteCAS(pair, nil)`.
                    consul.delete_cas(LOCK, modify).await?;
                }
            }
            LockUnit::Semaphore(semaphore) => {
                semaphore.give_back(consul, session).await?;
                GoSemaphore::destroy(consul).await?;
            }
        }
        Ok(())
    }
}

impl LockCommand {
    /// With the command's defaults, for this number of ticks per second; sessions have these terms, and `-n` is the limit.
    pub fn with(terms: Terms, limit: u8, ticks_per_second: i64) -> Self {
        let seconds = |count: i64| Ticks::new(count * ticks_per_second);
        let unit = match limit {
            1 => LockUnit::Lock(GoLock::with(terms, ticks_per_second).monitored(3, seconds(1))),
            _ => LockUnit::Semaphore(GoSemaphore::with(terms, limit, ticks_per_second).monitored(3, seconds(1))),
        };
        LockCommand { unit, grace: seconds(5), killed: Killed::Group }
    }

    /// The same with `-timeout`, or `-try`, which sets the same: `opts.LockTryOnce = true`, `opts.LockWaitTime = wait`. 0, the default, is
    /// no timeout: `oneshot := c.timeout > 0`.
    ///
    /// # Panics
    /// It is negative, which the command refuses.
    #[must_use]
    pub fn timeout(self, timeout: Ticks) -> Self {
        assert!(timeout >= Ticks::ZERO, "a timeout of {timeout} is over before it begins: use 0 or more");
        if timeout == Ticks::ZERO {
            return self;
        }
        let unit = match self.unit {
            LockUnit::Lock(lock) => LockUnit::Lock(lock.once(timeout)),
            LockUnit::Semaphore(semaphore) => LockUnit::Semaphore(semaphore.once(timeout)),
        };
        LockCommand { unit, ..self }
    }

    /// "Shutdown triggered or timeout during lock acquisition", status 1. The deferred function has told `RenewPeriodic` to destroy the
    /// session, and the process ends, whichever is first: a session that is left lives until its TTL is over, and with it the
    /// contender key of a semaphore. C-CLI-3.
    async fn give_up(consul: &Handle<Consul>, session: SessionId) -> Gone {
        consul.stop::<Renew>();
        if consul.random(2).await == 0 {
            consul.send_destroy_session(session);
        }
        Gone
    }

    /// Until the child has ended, or is killed because the lock is lost. Whether it lives on.
    async fn run_child(&self, consul: &Handle<Consul>) -> bool {
        loop {
            match consul.select(self.unit.lost(consul), consul.user()).await {
                // `case <-lockCh`, "Lock lost, killing child". `killChild`: SIGTERM, and SIGKILL for one that is still there after
                // the grace; that it ends at once is the easier case. C-CLI-2.
                First::One(()) if self.killed == Killed::Shell => return true,
                First::One(()) => {
                    consul.sleep(self.grace).await;
                    consul.leave(Leaving::Notified);
                    return false;
                }
                First::Other(Wanted::Write) => consul.send_write(Token::default()),
                // `case err := <-childErr`, "Child terminated, releasing lock".
                First::Other(Wanted::Release) => {
                    consul.leave(Leaving::Done);
                    return false;
                }
            }
        }
    }
}

/// The work of a shell that was killed. It goes on until it is done, whatever the command does meanwhile.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub(super) struct Orphan;

impl Recipe<Consul> for Orphan {
    const NAME: &'static str = "orphan";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        while let Wanted::Write = consul.user().await {
            consul.send_write(Token::default());
        }
        consul.leave(Leaving::Done);
        Ok(Lap::Done)
    }
}

impl Recipe<Consul> for LockCommand {
    const NAME: &'static str = "lock-command";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        // `lockCh, err := lu.lockFn(c.ShutdownCh)`.
        let session = match self.unit.attempt(consul).await? {
            Attempt::Held(session) => session,
            Attempt::Again => return Ok(Lap::Again),
            Attempt::GaveUp(session) => return Err(LockCommand::give_up(consul, session).await),
        };
        self.unit.enter(consul, session);
        // `c.startChild(…)`.
        let lives_on = self.run_child(consul).await;
        if lives_on {
            consul.spawn(Orphan);
        }
        // `RELEASE: lu.unlockFn()`, also after a loss. C-CLI-2.
        let released = self.unit.release(consul, session).await;
        if lives_on {
            consul.ended::<Orphan>().await;
        }
        released.map(|()| Lap::Done)
    }
}
