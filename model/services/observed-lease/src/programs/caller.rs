//! The caller of an elector: the work that it leads, and the end of its context. The elector runs beside both, as in Go: nothing waits
//! for OnStartedLeading (OL-K-10).

use serde::{Deserialize, Serialize};

use crate::ObservedLease;
use fencepost_model::fact::Leaving;
use fencepost_model::ids::Token;
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Handle, Lap, Recipe, Wanted};
use fencepost_model::time::Ticks;

/// How the work stops.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct CallerTerms {
    /// How long the work acts after it was told to stop, in ticks.
    pub stop_time: Ticks,
    /// Whether the elector's context ends only when the work has stopped, as controller-runtime's does. OL-K-17.
    pub waits: bool,
    /// How long it waits for that, in ticks; none: as long as the work needs.
    pub grace: Option<Ticks>,
    /// Whether the work stops by itself when the lease that it believes in is over.
    pub watches_lease: bool,
    /// Whether its elector stops it after all else, also when its caller has cancelled. OL-K-20.
    pub told_last: bool,
}

/// The goroutine of OnStartedLeading, and of whatever cancels the context of `Run`. The task ends with that context.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct Caller {
    /// What the work sends with its writes.
    pub token: Token,
    /// How it stops.
    pub terms: CallerTerms,
}

impl Recipe<ObservedLease> for Caller {
    const NAME: &'static str = "elector-caller";

    async fn lap(&mut self, api: &Handle<ObservedLease>) -> Result<Lap, Gone> {
        let wanted = match self.terms.watches_lease {
            true => api.select(api.lease_ended(), api.user()).await,
            false => First::Other(api.user().await),
        };
        match wanted {
            First::Other(Wanted::Write) => {
                api.send_write(self.token);
                return Ok(Lap::Again);
            }
            First::Other(Wanted::Release) if self.terms.told_last => return Ok(Lap::Done),
            First::Other(Wanted::Release) => {}
            First::One(()) => {
                stop(api, self.terms, Leaving::Lapsed);
                return Ok(Lap::Done);
            }
        }
        // The leading context ends at once.
        stop(api, self.terms, Leaving::Done);
        match (self.terms.waits, self.terms.grace) {
            (false, _) => {}
            (true, None) => api.ended::<WorkEnds>().await,
            (true, Some(grace)) => {
                api.select(api.ended::<WorkEnds>(), api.sleep(grace)).await;
            }
        }
        Ok(Lap::Done)
    }
}

/// The work has been told to stop, and acts on for some time.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct WorkEnds {
    /// How long, in ticks.
    pub stop_time: Ticks,
    /// Whether its caller has cancelled; otherwise the lease is lost.
    pub is_cancelled: bool,
}

impl Recipe<ObservedLease> for WorkEnds {
    const NAME: &'static str = "elector-work-ends";

    async fn lap(&mut self, api: &Handle<ObservedLease>) -> Result<Lap, Gone> {
        api.sleep(self.stop_time).await;
        api.leave(if self.is_cancelled { Leaving::Done } else { Leaving::Lapsed });
        Ok(Lap::Done)
    }
}

/// Tells the work to stop.
pub(super) fn stop(api: &Handle<ObservedLease>, terms: CallerTerms, why: Leaving) {
    match terms.stop_time {
        Ticks::ZERO => api.leave(why),
        stop_time => api.spawn(WorkEnds { stop_time, is_cancelled: why == Leaving::Done }),
    }
}

/// Whether a task runs this recipe now.
pub(super) async fn runs<R: Recipe<ObservedLease>>(api: &Handle<ObservedLease>) -> bool {
    // Both are known at once. The first one counts.
    matches!(api.select(api.ended::<R>(), api.lease_has_come()).await, First::Other(_))
}

/// `cancel()` of the leading context, and OnStoppedLeading: the work is told that the lease is lost, unless it stops already.
pub(super) async fn tell(api: &Handle<ObservedLease>, terms: CallerTerms) {
    if !runs::<Caller>(api).await {
        return;
    }
    api.stop::<Caller>();
    if !runs::<WorkEnds>(api).await {
        stop(api, terms, Leaving::Lapsed);
    }
}
