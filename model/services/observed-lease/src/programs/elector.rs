//! What the programs of electors have in common: their laps, their identity, requests with a timeout, and the time of an observation.

use serde::{Deserialize, Serialize};

use super::{LeaseApi, LeaseError};
use crate::ObservedLease;
use crate::messages::Name;
use fencepost_model::program::{First, Handle, OpenDeadline};
use fencepost_model::time::Ticks;

/// What an elector holds of its client.
pub(super) type Api = Handle<ObservedLease>;

/// Where the next lap goes on.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) enum ElectorLap {
    /// An attempt of a contender.
    #[default]
    Acquire,
    /// Its sleep after an attempt.
    Sleep,
    /// The first renewal of a leader, just after the acquisition.
    FirstRenewal,
    /// A renewal after another one.
    Renew,
    /// The way out.
    Stop,
}

/// The identity of a process that begins: what it is configured with, or a new one.
pub(super) async fn identity(api: &Api, configured: Option<Name>) -> Name {
    match configured {
        Some(name) => name,
        None => api.unique_identity().await,
    }
}

/// A sleep that may be longer by up to this number of ticks: the shortest one begins unless chance says otherwise at once. OL-K-6.
pub(super) async fn jittered(api: &Api, period: Ticks, jitter: u8) {
    let more = match jitter {
        0 => 0,
        jitter => match api.select(api.random(jitter), api.sleep(Ticks::ZERO)).await {
            First::One(more) => i64::from(more) + 1,
            First::Other(()) => 0,
        },
    };
    api.sleep(period + Ticks::new(more)).await;
}

/// A request that times out after so long, if it does.
pub(super) async fn within<T>(
    api: &Api,
    length: Option<Ticks>,
    request: impl Future<Output = Result<T, LeaseError>>,
) -> Result<T, LeaseError> {
    match length {
        None => request.await,
        Some(length) => api.timeout(length, request).await.unwrap_or(Err(LeaseError::Unavailable)),
    }
}

/// How long a record is valid, from the instant of its observation. OL-K-3, OL-K-4.
///
/// A contender keeps it from one lap to the next as the handle's lease, which is that of the record that it observes. A leader's lap
/// begins with an observation, and the handle's lease is its own.
#[derive(Debug)]
pub(super) struct Validity<'a> {
    api: &'a Api,
    end: Option<OpenDeadline<ObservedLease>>,
    leads: bool,
}

impl<'a> Validity<'a> {
    /// That of what a contender has observed in earlier laps.
    pub(super) fn of_contender(api: &'a Api) -> Self {
        Validity { api, end: None, leads: false }
    }

    /// That of a leader's own record, whose write was acknowledged now. Its lease covers what lies before the end.
    pub(super) fn of_leader(api: &'a Api, length: Ticks) -> Self {
        let end = api.deadline(length);
        api.lease_before(&end);
        Validity { api, end: Some(end), leads: true }
    }

    /// A record is observed now, and valid for so long.
    pub(super) fn begin(&mut self, length: Ticks) {
        let end = self.api.deadline(length);
        if !self.leads {
            self.api.lease_until(&end);
        }
        self.end = Some(end);
    }

    /// Whether it is over: at its very end it is.
    pub(super) async fn is_over(&self) -> bool {
        match &self.end {
            Some(end) => end.has_come().await,
            None => self.api.lease_has_come().await,
        }
    }

    /// Whether its very end lies behind, too. OL-K-16.
    pub(super) async fn has_passed(&self) -> bool {
        match &self.end {
            Some(end) => end.is_over().await,
            None => self.api.lease_is_over().await,
        }
    }

    /// Reports that another's record is valid, if a contender has read it.
    pub(super) fn report_refusal(&self) {
        if !self.leads {
            self.api.refused();
        }
    }
}
