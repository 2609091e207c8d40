//! object_store's conditional operations by way of DynamoDB, line by line: src/aws/dynamo.rs of the crate object_store 0.11.2, from
//! apache/arrow-rs. OL-O-4. The object is the protected resource: HEAD reads it, and the operation, a copy, writes it without a condition.
//! Left out: requests that its HTTP client repeats, `ttl`, conditions on an etag.

use serde::{Deserialize, Serialize};

use super::elector::{Api, within};
use super::{LeaseApi, LeaseRecord, PutItem};
use crate::ObservedLease;
use crate::messages::Name;
use fencepost_model::fact::Leaving;
use fencepost_model::ids::Token;
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Lap, OpenDeadline, Recipe};
use fencepost_model::resource::Version;
use fencepost_model::time::Ticks;

/// What a commit writes. A resource with `not-lower` accepts it always, and shows whether there was one.
const COMMIT: Token = Token::numbered(1);

/// `DynamoCommit`, and one call of `copy_if_not_exists` in each round.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct DynamoCommit {
    /// `timeout`: 20 s. The record holds it for others.
    pub timeout: Ticks,
    /// `max_clock_skew_rate`: 3.
    pub max_clock_skew_rate: u8,
    /// `test_interval`: 100 ms.
    pub test_interval: Ticks,
    /// In which order a contender looks at the object and at its clock.
    pub wait: CommitWait,
    /// What makes the record another one; the item of the source names no owner.
    pub(super) me: Option<Name>,
    /// `conflict.generation`. The handle's lease is `conflict.acquire` and its expiry.
    pub(super) conflict: Option<u8>,
}

/// In which order a contender looks at the object and at its clock.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Normal, Serialize, Deserialize)]
pub enum CommitWait {
    /// HEAD, and then the time: the answer may be older than the end of the wait.
    #[default]
    HeadFirst,
    /// The time, and then HEAD: a repair.
    ClockFirst,
}

/// `TryLockResult`, or an error.
enum TryLock {
    /// `Ok(Lease)`: `acquire + timeout`.
    Locked(OpenDeadline<ObservedLease>),
    /// `Conflict(Lease)`.
    Conflict,
    /// `Err`: the call fails.
    Failed,
}

impl DynamoCommit {
    /// With this timeout, and the values of `new` for the rest; an interval of the retests in ticks.
    pub fn new(timeout: Ticks, test_interval: Ticks) -> Self {
        let wait = CommitWait::HeadFirst;
        DynamoCommit { timeout, max_clock_skew_rate: 3, test_interval, wait, me: None, conflict: None }
    }

    /// `check_precondition` without an etag: whether there is no object.
    async fn check_precondition(&self, api: &Api) -> bool {
        api.read().await == Version::default()
    }

    /// `try_lock`, which replaces the record that it has waited for.
    async fn try_lock(&mut self, api: &Api) -> TryLock {
        let generation = self.conflict.map_or(0, |generation| generation + 1);
        let item = LeaseRecord { holder: self.me, duration: self.timeout, transitions: generation };
        // `let acquire = Instant::now()`: before the request is sent.
        let expiry = api.deadline(self.timeout);
        match within(api, Some(self.timeout), api.put_item(item, self.conflict)).await {
            Ok(PutItem::Written) => TryLock::Locked(expiry),
            Ok(PutItem::ConditionFailed(Some(item))) => {
                // `extract_lease`: `acquire: Instant::now()`, after the answer.
                let wait = item.record.duration.times(self.max_clock_skew_rate.into());
                api.lease_until(&api.deadline(wait));
                self.conflict = Some(item.record.transitions);
                api.refused();
                TryLock::Conflict
            }
            // "Failed to extract lease from conflict ReturnValuesOnConditionCheckFailure response".
            Ok(PutItem::ConditionFailed(None)) | Err(_) => TryLock::Failed,
        }
    }

    /// `timeout_at(expiry, op())`: the request is sent in any case, and dropped when its time is over.
    async fn operate(&self, api: &Api, expiry: &OpenDeadline<ObservedLease>) {
        api.lease_until(expiry);
        api.enter(COMMIT);
        match api.select(api.write(COMMIT), expiry.passed()).await {
            First::One(_) => api.leave(Leaving::Done),
            First::Other(()) => api.leave(Leaving::Lapsed),
        }
    }

    /// `conditional_op` up to its wait, or one tick of that: whether the call goes on.
    async fn step(&mut self, api: &Api) -> bool {
        // `tokio::time::interval`: the first tick comes at once; one that was missed comes late, and more of them are one.
        let tick = self.conflict.map(|_| api.deadline(self.test_interval));
        let was_over = self.wait == CommitWait::HeadFirst || api.lease_is_over().await;
        if !self.check_precondition(api).await {
            return false;
        }
        // `conflict.acquire.elapsed() > expiry`.
        if let Some(tick) = tick
            && !(was_over && api.lease_is_over().await)
        {
            tick.passed().await;
            return true;
        }
        match self.try_lock(api).await {
            TryLock::Locked(expiry) => {
                self.operate(api, &expiry).await;
                false
            }
            TryLock::Conflict => true,
            TryLock::Failed => false,
        }
    }
}

impl Recipe<ObservedLease> for DynamoCommit {
    const NAME: &'static str = "dynamo-commit";

    async fn lap(&mut self, api: &Api) -> Result<Lap, Gone> {
        if self.me.is_none() {
            self.me = Some(api.unique_identity().await);
        }
        if self.step(api).await {
            return Ok(Lap::Again);
        }
        api.no_lease();
        (self.me, self.conflict) = (None, None);
        Ok(Lap::Done)
    }
}
