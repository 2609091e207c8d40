//! The controller of coordinated elections, line by line: leaderelection_controller.go and election.go in
//! pkg/controlplane/controller/leaderelection of kubernetes/kubernetes, at 7a4c9623 and 1b6390e5. OL-K-16. It is a third party.
//! Left out: pings of candidates, each of which answers at once here; informers, so that it looks once in a period; other strategies than
//! OldestEmulationVersion, whose comparison of versions is one of numbers.

use serde::{Deserialize, Serialize};

use super::elector::Api;
use super::{ElectedRecord, LeaseApi, LeaseError, LeaseObject, LeaseRecord};
use crate::ObservedLease;
use crate::messages::Name;
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Lap, Recipe};
use fencepost_model::time::Ticks;

/// `type Controller struct`.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct ElectionController {
    /// `defaultRequeueInterval`: 5 s.
    pub requeue_interval: Ticks,
    /// `defaultLeaseDurationSeconds`: 5.
    pub lease_duration: Ticks,
    /// Whether it clears a preferredHolder whose candidate is gone: the proposal of k/k#138066. OL-20.
    pub clears_stale: bool,
}

impl ElectionController {
    /// `isLeaseExpired`: `RenewTime.Add(…).Before(currentTime)`, by its own wall clock.
    async fn is_lease_expired(&self, api: &Api, lease: &LeaseObject) -> bool {
        match lease.renewed {
            Some(renewed) => api.deadline_after(renewed, lease.record.duration).is_over().await,
            None => true,
        }
    }

    /// The record of a candidate that is elected now.
    async fn elected(&self, api: &Api, electee: Name) -> ElectedRecord {
        let record = LeaseRecord { holder: Some(electee), duration: self.lease_duration, transitions: 0 };
        ElectedRecord { record, renewed: Some(api.wall_time().await), preferred: None }
    }

    /// `reconcileElectionStep`. What fails is tried again with the next step.
    async fn reconcile(&self, api: &Api) -> Result<(), LeaseError> {
        let candidates = api.candidates().await?;
        // `pickBestLeaderOldestEmulationVersion`.
        let Some(electee) = candidates.iter().last().map(Name::Candidate) else { return Ok(()) };
        let existing = match api.get().await {
            Ok(lease) => lease,
            Err(LeaseError::NotFound) => {
                api.create(self.elected(api, electee).await).await?;
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let is_expired = self.is_lease_expired(api, &existing).await;
        let holder = existing.record.holder;
        // `electionNeeded`: "Leader is already most optimal".
        if !is_expired && holder == Some(electee) {
            return Ok(());
        }
        let with = |preferred| ElectedRecord { record: existing.record, renewed: existing.renewed, preferred };
        let updated = if self.clears_stale && existing.preferred.is_some_and(|name| !candidates.has(name)) {
            // `clearStalePreferredHolder`.
            with(None)
        } else if holder.is_none() || is_expired && holder != Some(electee) {
            // `noHolderIdentity || expiredAndNewHolder`.
            self.elected(api, electee).await
        } else if holder != Some(electee) && existing.preferred != Some(electee) {
            // `differentHolder`.
            with(Some(electee))
        } else {
            // `reflect.DeepEqual(existing, orig)`: "already has the most optimal leader".
            return Ok(());
        };
        api.update(existing.version, updated).await?;
        Ok(())
    }
}

impl Recipe<ObservedLease> for ElectionController {
    const NAME: &'static str = "election-controller";

    async fn lap(&mut self, api: &Api) -> Result<Lap, Gone> {
        self.reconcile(api).await.ok();
        api.sleep(self.requeue_interval).await;
        Ok(Lap::Again)
    }
}

/// Deletes the LeaseCandidate that is to follow the holder, at any time: an operator, or the end of a process. OL-20.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct CandidateDeletion {
    /// How many it deletes.
    pub left: u8,
}

impl Recipe<ObservedLease> for CandidateDeletion {
    const NAME: &'static str = "candidate-deletion";

    async fn lap(&mut self, api: &Api) -> Result<Lap, Gone> {
        if self.left > 0
            && let Ok(lease) = api.get().await
            && let Some(Name::Candidate(number)) = lease.preferred
        {
            self.left -= 1;
            api.withdraw(number).await.ok();
        }
        Ok(Lap::Done)
    }
}
