//! ShedLock, line by line: DefaultLockingTaskExecutor.java, StorageBasedLockProvider.java, KeepAliveLockProvider.java and the statements of
//! SqlStatementsSource.java and PostgresSqlServerTimeStatementsSource.java of lukas-krecan/ShedLock@2495b140. OL-R-1 to OL-R-5.
//! The scheduler calls it again after a period; the task has no deadline.

use std::pin::pin;

use serde::{Deserialize, Serialize};

use super::elector::Api;
use super::{LeaseApi, LeaseError, RowUntil};
use crate::ObservedLease;
use fencepost_model::fact::Leaving;
use fencepost_model::ids::Token;
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Lap, Recipe, WallTime};
use fencepost_model::time::Ticks;

/// `LockingTaskExecutor` with its `LockConfiguration` and `LockProvider`.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
pub struct ShedLock {
    /// `lockAtMostFor`.
    pub lock_at_most_for: Ticks,
    /// `lockAtLeastFor`.
    pub lock_at_least_for: Ticks,
    /// Whether the statements are those of `usingDbTime`. OL-R-3.
    pub uses_db_time: bool,
    /// `lockExtensionPeriod` of a `KeepAliveLockProvider`, half of `lockAtMostFor`; none: it is another provider. With `uses_db_time` only.
    /// OL-R-5.
    pub keep_alive: Option<Ticks>,
    /// The period of the scheduler after a task that was locked, in ticks.
    pub period: Ticks,
    /// How long the task takes, in ticks.
    pub task: Ticks,
    /// A pause between the reading of the clock and the statement has one of these lengths, or none. OL-R-2.
    pub pauses: Vec<Ticks>,
    /// `lockRecordRegistry`.
    pub(super) is_recorded: bool,
}

impl ShedLock {
    /// `executeWithLock`: whether the task was executed.
    async fn execute_with_lock(&mut self, api: &Api) -> bool {
        // `new LockConfiguration(ClockProvider.now(), …)`.
        let created_at = api.wall_time().await;
        self.pause(api).await;
        if self.do_lock(api, created_at).await != Ok(true) {
            // "Not executing '{}'. It's locked."
            api.refused();
            return false;
        }
        api.enter(Token::NONE);
        // `activeLock.unlock()`.
        if let Some(lock_at_least_for) = self.run(api, created_at).await {
            self.unlock(api, created_at, lock_at_least_for).await;
        }
        true
    }

    /// The task, and `KeepAliveLock` beside it: for how long the lock that it unlocks then is held at least; none: that lock is not valid.
    async fn run(&self, api: &Api, created_at: WallTime) -> Option<Ticks> {
        let task = api.deadline(self.task);
        let (mut locked_at, mut lock_at_least_for) = (created_at, self.lock_at_least_for);
        let mut is_valid = true;
        // `lockExtensionPeriod`, by `scheduleAtFixedRate`.
        let mut next = self.keep_alive.map(|period| api.deadline(period));
        while let (Some(due), Some(period)) = (&next, self.keep_alive) {
            if let First::One(()) = api.select(task.passed(), due.passed()).await {
                api.leave(Leaving::Done);
                return Some(lock_at_least_for);
            }
            // `currentLockAtMostUntil.isBefore(now())`: the failsafe.
            if api.deadline_after(locked_at, self.lock_at_most_for).is_over().await {
                break;
            }
            next = Some(api.deadline(period));
            locked_at = api.wall_time().await;
            // A task that ends meanwhile waits for it before it unlocks: both are synchronized.
            let mut extension = pin!(api.extend_row(self.lock_at_most_for));
            let (extended, has_ended) = match api.select(task.passed(), extension.as_mut()).await {
                First::One(()) => {
                    api.leave(Leaving::Done);
                    (extension.await, true)
                }
                First::Other(extended) => (extended, false),
            };
            if extended == Ok(true) {
                // `remainingLockAtLeastFor.minus(lockExtensionPeriod)`, also where the database counts it from `locked_at`.
                lock_at_least_for = Ticks::new((lock_at_least_for - period).count().max(0));
            }
            // Refused or not, `extend` has made the old lock invalid: to unlock it is an error.
            is_valid = extended != Ok(false);
            if has_ended {
                return is_valid.then_some(lock_at_least_for);
            }
            if extended != Ok(true) {
                break;
            }
        }
        task.passed().await;
        api.leave(Leaving::Done);
        is_valid.then_some(lock_at_least_for)
    }

    /// The shortest pause is none, unless chance says otherwise at once.
    async fn pause(&self, api: &Api) {
        let Some(lengths) = u8::try_from(self.pauses.len()).ok().filter(|lengths| *lengths > 0) else { return };
        if let First::One(place) = api.select(api.random(lengths), api.sleep(Ticks::ZERO)).await {
            api.sleep(self.pauses[usize::from(place)]).await;
        }
    }

    /// `doLock`: the first call inserts the record, which is an update if there is one.
    async fn do_lock(&mut self, api: &Api, created_at: WallTime) -> Result<bool, LeaseError> {
        let tries_to_create = !self.is_recorded;
        self.is_recorded = true;
        // An insertion that fails with an error is one that has found a record.
        if tries_to_create && self.update(api, created_at).await == Ok(true) {
            return Ok(true);
        }
        let updated = self.update(api, created_at).await;
        self.is_recorded = updated.is_ok() || !tries_to_create;
        updated
    }

    /// `WHERE lock_until <= :now`.
    async fn update(&self, api: &Api, created_at: WallTime) -> Result<bool, LeaseError> {
        if self.uses_db_time {
            return api.take_row(RowUntil::Database(self.lock_at_most_for), None).await;
        }
        // `getLockAtMostUntil()` is `createdAt.plus(lockAtMostFor)`; `now` is `ClockProvider.now()` when the statement is built.
        let now = api.wall_time().await;
        api.take_row(RowUntil::Client(created_at, self.lock_at_most_for), Some(now)).await
    }

    /// `unlock`.
    async fn unlock(&self, api: &Api, created_at: WallTime, lock_at_least_for: Ticks) {
        let until = if self.uses_db_time {
            RowUntil::Database(lock_at_least_for)
        } else if api.deadline_after(created_at, lock_at_least_for).has_come().await {
            // `getUnlockTime`: `lockAtLeastUntil.isAfter(now) ? lockAtLeastUntil : now`.
            RowUntil::Client(api.wall_time().await, Ticks::ZERO)
        } else {
            RowUntil::Client(created_at, lock_at_least_for)
        };
        api.end_row(until).await.ok();
    }
}

impl Recipe<ObservedLease> for ShedLock {
    const NAME: &'static str = "shedlock";

    async fn lap(&mut self, api: &Api) -> Result<Lap, Gone> {
        if self.execute_with_lock(api).await {
            return Ok(Lap::Done);
        }
        api.sleep(self.period).await;
        Ok(Lap::Again)
    }
}
