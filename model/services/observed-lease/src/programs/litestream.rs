//! litestream's leaser, line by line: leaser.go and s3/leaser.go of benbjohnson/litestream@63225f17. OL-O-2. The repository calls it nowhere:
//! the loop around it is the plainest that there is, and its work goes on if a renewal is refused.

use serde::{Deserialize, Serialize};

use super::caller::{Caller, CallerTerms, WorkEnds};
use super::elector::{Api, identity, within};
use super::{LeaseApi, LeaseError, LeaseObject, LeaseRecord, LeaseVersion};
use crate::messages::Name;
use crate::{ObservedLease, Tokens};
use fencepost_model::ids::Token;
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Lap, Recipe};
use fencepost_model::time::Ticks;

/// `s3.Leaser`, and a loop that acquires and renews.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
pub struct LitestreamLeaser {
    /// `TTL`: 30 s.
    pub ttl: Ticks,
    /// The period of the loop.
    pub period: Ticks,
    /// The timeout of requests, in ticks.
    pub request_timeout: Option<Ticks>,
    /// Whether the work is released by `ReleaseLease`, which deletes the file, or by a file without an owner: a repair of OL-25; none: not at all.
    pub release: Option<LitestreamRelease>,
    /// `Owner`: hostname and process id; none: each process has a new one.
    pub identity: Option<Name>,
    /// What the work sends with its writes: `Generation`, or the version of the acquisition.
    #[normal(skip = "a constant")]
    pub token: Tokens,
    /// How its caller stops the work.
    pub caller: CallerTerms,
    pub(super) me: Option<Name>,
    /// `Lease`, once it is acquired.
    pub(super) lease: Option<HeldLease>,
}

/// What ends a lease.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub enum LitestreamRelease {
    /// `ReleaseLease`: the file is deleted.
    Delete,
    /// It is kept without an owner.
    Keep,
}

/// `type Lease struct`, in the hands of its owner.
#[derive(Copy, Clone, Debug, Normal, Serialize, Deserialize)]
pub(super) struct HeldLease {
    /// `ETag`.
    etag: LeaseVersion,
    /// `Generation`, less 1.
    generation: u8,
    /// Whether a renewal was refused: it is not renewed any more.
    is_refused: bool,
}

impl LitestreamLeaser {
    /// `writeLease` of a lease that expires so long after the time before it is sent.
    async fn write(&self, api: &Api, etag: Option<LeaseVersion>, generation: u8) -> Result<LeaseObject, LeaseError> {
        let now = api.wall_time().await;
        let lease = LeaseRecord { holder: self.me, duration: self.ttl, transitions: generation }.renewed_at(now);
        let written = match etag {
            None => within(api, self.request_timeout, api.create(lease)).await?,
            Some(etag) => within(api, self.request_timeout, api.update(etag, lease)).await?,
        };
        api.lease_before(&api.deadline_after(now, self.ttl));
        api.renewed();
        Ok(written)
    }

    /// `AcquireLease`.
    async fn acquire(&self, api: &Api) -> Result<HeldLease, LeaseError> {
        let existing = match within(api, self.request_timeout, api.get()).await {
            Ok(lease) => Some(lease),
            Err(LeaseError::NotFound) => None,
            Err(error) => return Err(error),
        };
        if let Some(lease) = existing {
            // `!existing.IsExpired()`: `time.Now().After(l.ExpiresAt)`. A file without an owner is free in the repair.
            let is_free = lease.record.holder.is_none()
                || match lease.renewed {
                    Some(renewed) => api.deadline_after(renewed, lease.record.duration).is_over().await,
                    None => true,
                };
            if !is_free {
                api.refused();
                return Err(LeaseError::AlreadyExists);
            }
        }
        let generation = match self.token {
            Tokens::Transitions => existing.map_or(0, |lease| lease.record.transitions.saturating_add(1)),
            Tokens::None | Tokens::ResourceVersion => 0,
        };
        match self.write(api, existing.map(|lease| lease.version), generation).await {
            Ok(written) => Ok(HeldLease { etag: written.version, generation, is_refused: false }),
            Err(error) => {
                // `LeaseExistsError`: it is read, to name its owner.
                if matches!(error, LeaseError::Conflict | LeaseError::AlreadyExists) {
                    within(api, self.request_timeout, api.get()).await.ok();
                    api.refused();
                }
                Err(error)
            }
        }
    }

    /// `RenewLease`: `ErrLeaseNotHeld` ends the renewals; other errors are tried again.
    async fn renew(&mut self, api: &Api, lease: HeldLease) {
        match self.write(api, Some(lease.etag), lease.generation).await {
            Ok(written) => self.lease = Some(HeldLease { etag: written.version, ..lease }),
            Err(LeaseError::Conflict) => self.lease = Some(HeldLease { is_refused: true, ..lease }),
            Err(_) => {}
        }
    }

    /// `ReleaseLease`.
    async fn release(&self, api: &Api, lease: HeldLease) {
        match self.release {
            None => {}
            Some(LitestreamRelease::Delete) => {
                within_unit(api, self.request_timeout, api.delete(Some(lease.etag))).await;
            }
            Some(LitestreamRelease::Keep) => {
                let empty = LeaseRecord { holder: None, duration: Ticks::new(1), transitions: lease.generation };
                within(api, self.request_timeout, api.update(lease.etag, empty)).await.ok();
            }
        }
    }

    fn token_of(&self, lease: HeldLease) -> Token {
        match self.token {
            Tokens::None => Token::NONE,
            Tokens::Transitions => Token::numbered(u32::from(lease.generation) + 1),
            Tokens::ResourceVersion => lease.etag.token(),
        }
    }
}

/// The same as [`within`] where nothing comes of the request.
async fn within_unit(api: &Api, length: Option<Ticks>, request: impl Future<Output = Result<(), LeaseError>>) {
    within(api, length, request).await.ok();
}

impl Recipe<ObservedLease> for LitestreamLeaser {
    const NAME: &'static str = "litestream-leaser";

    async fn lap(&mut self, api: &Api) -> Result<Lap, Gone> {
        if self.me.is_none() {
            self.me = Some(identity(api, self.identity).await);
        }
        let Some(lease) = self.lease else {
            match self.acquire(api).await {
                Ok(lease) => {
                    let token = self.token_of(lease);
                    api.enter(token);
                    api.spawn(Caller { token, terms: self.caller });
                    self.lease = Some(lease);
                    api.select(api.ended::<Caller>(), api.sleep(self.period)).await;
                }
                Err(_) => api.sleep(self.period).await,
            }
            return Ok(Lap::Again);
        };
        let turn = async {
            match lease.is_refused {
                true => api.ended::<Caller>().await,
                false => {
                    self.renew(api, lease).await;
                    api.sleep(self.period).await;
                }
            }
        };
        if let First::Other(()) = api.select(api.ended::<Caller>(), turn).await
            && !lease.is_refused
        {
            return Ok(Lap::Again);
        }
        if let Some(lease) = self.lease {
            self.release(api, lease).await;
        }
        api.ended::<WorkEnds>().await;
        api.no_lease();
        self.lease = None;
        Ok(Lap::Done)
    }
}
