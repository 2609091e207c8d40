//! A candidate by the Go client's `Election`: `NewSession`, `NewElection`, `Campaign`, its work, `Resign`, `Close`.

use serde::{Deserialize, Serialize};

use super::holder::TenureEnd;
use super::{EtcdElection, EtcdSession, HolderTerms, KeyWait, SessionTerms};
use crate::Etcd;
use crate::messages::{EtcdValue, Key};
use crate::settings::{Leave, OnError};
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe};

/// The candidate. While it waits, a lap is a step of `waitDeletes`.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct GoElection {
    /// How its session is made.
    pub terms: SessionTerms,
    /// What its user does.
    pub holder: HolderTerms,
    /// What it does if its campaign fails.
    #[normal(skip = "a constant")]
    pub on_error: OnError,
    /// Whether it proclaims a value as soon as it leads, and gives up if it does not lead: a repair of E-10 and E-12.
    pub proclaims: bool,
    /// How many values it announces while it leads, beside its name: it campaigns with that, and then proclaims 1, 2 and so on. None: it
    /// campaigns without a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub announces: Option<u8>,
    /// Its session.
    pub(super) session: Option<EtcdSession>,
    /// The `Election` whose `Campaign` waits.
    pub(super) election: Option<EtcdElection>,
}

impl GoElection {
    /// A candidate of 3.4.23 with such sessions and such a user.
    pub fn with(terms: SessionTerms, holder: HolderTerms) -> Self {
        let (session, election) = (None, None);
        GoElection { terms, holder, on_error: OnError::Keep, proclaims: false, announces: None, session, election }
    }

    /// Its session; a new one if it has none, or the last one's `Done` is closed.
    async fn session(&mut self, client: &Handle<Etcd>) -> Option<EtcdSession> {
        if self.session.is_none() || EtcdSession::is_done(client).await {
            self.session = EtcdSession::open(client, &self.terms).await.ok();
        }
        self.session
    }

    /// `Campaign` up to the wait.
    async fn campaign(&mut self, client: &Handle<Etcd>) -> Result<Lap, Gone> {
        let Some(session) = self.session(client).await else { return Ok(Lap::Done) };
        let campaign = async {
            match self.announces {
                None => EtcdElection::campaign(client, session).await,
                Some(_) => EtcdElection::campaign_with(client, session, EtcdValue::Name(client.me())).await,
            }
        };
        match self.holder.unless_done(client, campaign).await {
            // The transaction may be applied yet: its key goes with the lease.
            None => Ok(Lap::Done),
            Some(Err(_)) => self.finish(client).await,
            Some(Ok(election)) => {
                self.election = Some(election);
                Ok(Lap::Again)
            }
        }
    }

    /// A step of the wait of `Campaign`, and what follows it.
    async fn wait(&mut self, client: &Handle<Etcd>, mut election: EtcdElection, step: KeyWait) -> Result<Lap, Gone> {
        let waited = self.holder.unless_done(client, election.wait(client, step)).await;
        self.election = None;
        match waited {
            // `case <-ctx.Done(): e.Resign(client.Ctx())` (97-98). E-CC-21.
            None => self.resign(client, election).await,
            Some(Err(_)) => self.fail(client).await,
            Some(Ok(())) if election.wait.is_none() => self.lead(client, election).await,
            Some(Ok(())) => {
                self.election = Some(election);
                Ok(Lap::Again)
            }
        }
    }

    /// The campaign has failed. Its key stays, and a `Resign` would do nothing. E-CC-21.
    async fn fail(&mut self, client: &Handle<Etcd>) -> Result<Lap, Gone> {
        match self.on_error {
            OnError::Keep => {
                self.holder.live_on(client).await;
                Ok(Lap::Done)
            }
            OnError::Close => self.finish(client).await,
            OnError::Again => Ok(Lap::Again),
        }
    }

    /// `Campaign` has returned success.
    async fn lead(&mut self, client: &Handle<Etcd>, mut election: EtcdElection) -> Result<Lap, Gone> {
        let mut leads = !self.proclaims || election.proclaim(client).await == Ok(true);
        for number in 1..=self.announces.unwrap_or(0) {
            leads = leads && election.proclaim_with(client, EtcdValue::Number(number)).await == Ok(true);
        }
        let key: Option<Key> = election.key.filter(|_| leads);
        let Some(key) = key else { return self.resign(client, election).await };
        if !self.holder.may_enter(client).await {
            return self.resign(client, election).await;
        }
        match self.holder.hold(client, key, election.created).await {
            TenureEnd::SessionLost => {
                self.session = None;
                return Ok(Lap::Done);
            }
            TenureEnd::Stopped => return self.finish(client).await,
            TenureEnd::Done => {}
        }
        match self.holder.leave {
            Leave::Release | Leave::FailAndRepeat => self.resign(client, election).await,
            // `Resign` with a context that is over sends nothing, and a second one finds no session. E-CC-22.
            Leave::FailAndForget | Leave::Abandon => self.finish(client).await,
        }
    }

    async fn resign(&mut self, client: &Handle<Etcd>, mut election: EtcdElection) -> Result<Lap, Gone> {
        let _ = election.resign(client).await;
        self.finish(client).await
    }

    async fn finish(&mut self, client: &Handle<Etcd>) -> Result<Lap, Gone> {
        self.holder.finish(client, &mut self.session, &self.terms).await
    }
}

impl Recipe<Etcd> for GoElection {
    const NAME: &'static str = "go-election";

    async fn lap(&mut self, client: &Handle<Etcd>) -> Result<Lap, Gone> {
        match self.election {
            Some(election @ EtcdElection { wait: Some(step), .. }) => self.wait(client, election, step).await,
            _ => self.campaign(client).await,
        }
    }
}
