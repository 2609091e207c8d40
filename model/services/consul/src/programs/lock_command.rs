//! `consul lock PREFIX COMMAND`, line by line (command/lock/lock.go of Consul 1.8.7): the Go client's Lock around a child process.
//! Left out: `-n`, which takes the Go client's Semaphore in its place; `-timeout`, which tries once; a shell that is killed without its
//! child; and that the process may end before it has released the lock (C-CLI-3).

use serde::{Deserialize, Serialize};

use super::HttpApi;
use super::go_lock::{GoLock, Monitor};
use crate::{Consul, Entry, LOCK, Terms};
use fencepost_model::fact::Leaving;
use fencepost_model::ids::Token;
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Handle, Lap, Recipe, Wanted};
use fencepost_model::time::Ticks;

/// `type cmd struct`: the lock, and the child that runs while it is held.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct LockCommand {
    /// `setupLock`: `api.LockOptions` with `MonitorRetries` 3 and `MonitorRetryTime` 1 s. C-CLI-1.
    pub lock: GoLock,
    /// `lockKillGracePeriod`, 5 s: so long a child may take to die after SIGTERM.
    pub grace: Ticks,
}

impl LockCommand {
    /// With the command's defaults, for this number of ticks per second; sessions have these terms.
    pub fn with(terms: Terms, ticks_per_second: i64) -> Self {
        let seconds = |count: i64| Ticks::new(count * ticks_per_second);
        let lock = GoLock::with(terms, ticks_per_second).monitored(3, seconds(1));
        LockCommand { lock, grace: seconds(5) }
    }

    /// Until the child has ended, or is killed because the lock is lost.
    async fn run_child(&self, consul: &Handle<Consul>) {
        consul.enter(Token::default());
        loop {
            match consul.select(consul.ended::<Monitor>(), consul.user()).await {
                // `case <-lockCh`, "Lock lost, killing child". `killChild`: SIGTERM, and SIGKILL for one that is still there after
                // the grace; that it ends at once is the easier case. C-CLI-2.
                First::One(()) => {
                    consul.sleep(self.grace).await;
                    return consul.leave(Leaving::Notified);
                }
                First::Other(Wanted::Write) => consul.send_write(Token::default()),
                // `case err := <-childErr`, "Child terminated, releasing lock".
                First::Other(Wanted::Release) => return consul.leave(Leaving::Done),
            }
        }
    }

    /// `lu.cleanupFn()`, which is `Lock.Destroy`: that the key is in use is no error. C-LCK-10.
    async fn clean_up(consul: &Handle<Consul>) -> Result<(), Gone> {
        if let Some(Entry { session: None, modify, .. }) = consul.get(LOCK).await? {
            // `kv.DeleteCAS(pair, nil)`.
            consul.delete_cas(LOCK, modify).await?;
        }
        Ok(())
    }
}

impl Recipe<Consul> for LockCommand {
    const NAME: &'static str = "lock-command";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        // `lockCh, err := lu.lockFn(c.ShutdownCh)`.
        let Some(session) = self.lock.attempt(consul).await? else { return Ok(Lap::Again) };
        self.lock.spawn_monitor(consul, session);
        // `c.startChild(…)`.
        self.run_child(consul).await;
        // `RELEASE: lu.unlockFn()`, also after a loss. C-CLI-2.
        self.lock.unlock(consul, session).await?;
        LockCommand::clean_up(consul).await?;
        Ok(Lap::Done)
    }
}
