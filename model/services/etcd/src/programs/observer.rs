//! A client that wants to know who leads, and does not lead itself: `Leader`, or `Observe`.

use serde::{Deserialize, Serialize};

use super::{EtcdObserve, EtcdQuery, WatchApi};
use crate::Etcd;
use crate::events::Observation;
use crate::messages::EtcdValue;
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe};

/// How it learns who leads.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObserverKind {
    /// By `Leader`, once in a round.
    Leader,
    /// As `Leader`, from the local copy of a member: `WithSerializable()`, which `Leader` itself has not. E-KV-10.
    LocalCopy,
    /// By `Observe`, for as long as its channel is open.
    Observe,
    /// By the server's `Observe`, for as long as its connection holds and the answer goes on. E-CC-30.
    ObserveCall,
}

/// The observer. A lap is a step of `Observe`.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct EtcdObserver {
    /// How it learns who leads.
    #[normal(skip = "a constant")]
    pub kind: ObserverKind,
    /// Whether it panics if what it is told is in the wrong order: an earlier revision, an older leader, or another value of the same leader than
    /// the next number (see [`GoElection::announces`](super::GoElection::announces)).
    pub checks: bool,
    /// `Observe`: after how many values its user cancels the context; none: never.
    pub values: Option<u8>,
    /// How many values it was told in this round.
    count: u8,
    /// `Observe`: where it is.
    observe: EtcdObserve,
    /// The last thing that it was told.
    told: Option<Observation>,
}

impl EtcdObserver {
    /// One that reads or observes in this way.
    pub fn by(kind: ObserverKind) -> Self {
        EtcdObserver { kind, checks: false, values: None, count: 0, observe: EtcdObserve::Get, told: None }
    }

    /// What `Observe` promises of two values that it sends one after the other.
    fn check(last: Observation, next: Observation) {
        assert!(last.revision < next.revision, "a value at {} after one at {}", next.revision, last.revision);
        let (created, before) = (next.shown.created, last.shown.created);
        assert!(created >= before, "a leader of {created} after one of {before}");
        if created == before {
            let expected = if let EtcdValue::Number(number) = last.shown.value { number + 1 } else { 1 };
            let found = next.shown.value;
            assert!(found == EtcdValue::Number(expected), "the leader's value is {found}, and {expected} comes next");
        }
    }

    async fn read(&mut self, client: &Handle<Etcd>, is_serializable: bool) -> Result<Lap, Gone> {
        let (shown, _) = client.first_create(is_serializable).await?;
        client.send(EtcdQuery::HasRead(shown.map(|shown| shown.key)));
        Ok(Lap::Done)
    }

    async fn observe(&mut self, client: &Handle<Etcd>) -> Lap {
        let told = match self.kind {
            ObserverKind::ObserveCall => self.observe.step_of_call(client).await,
            _ => self.observe.step(client).await,
        };
        if let Some(told) = told {
            client.send(EtcdQuery::Observed(told));
            if let Some(last) = self.told.filter(|_| self.checks) {
                Self::check(last, told);
            }
            self.told = self.checks.then_some(told);
            self.count += u8::from(self.values.is_some());
        }
        let is_closed = self.observe == EtcdObserve::Closed;
        if is_closed {
            client.send(EtcdQuery::ObserveEnded);
        }
        if is_closed || self.values == Some(self.count) {
            (self.observe, self.count) = (EtcdObserve::Get, 0);
            return Lap::Done;
        }
        Lap::Again
    }
}

impl Recipe<Etcd> for EtcdObserver {
    const NAME: &'static str = "observer";

    async fn lap(&mut self, client: &Handle<Etcd>) -> Result<Lap, Gone> {
        match self.kind {
            ObserverKind::Leader => self.read(client, false).await,
            ObserverKind::LocalCopy => self.read(client, true).await,
            ObserverKind::Observe | ObserverKind::ObserveCall => Ok(self.observe(client).await),
        }
    }
}
