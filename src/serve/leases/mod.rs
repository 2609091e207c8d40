//! The part of a Kubernetes API server that leader election uses: leases, by the store of the service `observed-lease`.
//!
//! ```text
//! target  what a URL names                  store    the model's decision whether a request is accepted
//! draft   a lease as a client writes it     object   a lease as the server shows it
//! patch   how a request changes it          serve    a request, from its URL to its answer
//! status  errors as objects                 about    the version of the server, and what it has
//! record  the run as JSON lines             micro_time   times of leases
//! ```

mod about;
mod draft;
mod micro_time;
mod object;
mod patch;
mod record;
mod serve;
mod status;
mod store;
mod target;

use std::fmt::Debug;

use crate::faults::ServerEvent;
use crate::judge::LeaseWitness;
use crate::settings::Settings;
use crate::stand_in::{Answer, Backend, Journey, RunLog, StandIn};
use record::LeaseLine;
use status::Refusal;
use store::LeaseStore;

pub(crate) use target::Target;

/// The API group of leases.
const GROUP: &str = "coordination.k8s.io";

/// An API server that has leases.
#[derive(Clone, Debug)]
pub struct LeaseBackend {
    store: LeaseStore,
    /// How many ids and names have been drawn.
    drawn: u64,
}

/// Nothing comes by itself: the server has no clock in this protocol (OL-S-7).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NoDue {}

impl Backend for LeaseBackend {
    const NAME: &'static str = "leases";
    const BODY_MAX: usize = 3 << 20;
    const INSTANTS: &'static str = "?until=next";
    type Due = NoDue;
    type Record = RunLog<LeaseLine>;
    type Witness = LeaseWitness;

    fn new(_: &Settings) -> Self {
        LeaseBackend { store: LeaseStore::new(), drawn: 0 }
    }

    fn carry_out(stand_in: &mut StandIn<Self>, journey: Journey) {
        stand_in.carry_out(journey);
    }

    fn happen(stand_in: &mut StandIn<Self>, event: ServerEvent, journey: &Journey) {
        stand_in.happen(event, journey);
    }

    fn agenda(_: &StandIn<Self>) -> Vec<(i64, NoDue)> {
        Vec::new()
    }

    fn come(_: &mut StandIn<Self>, due: NoDue) {
        match due {}
    }

    fn told(&self, due: &NoDue) -> String {
        match *due {}
    }

    fn instant(_: &StandIn<Self>, _: &str) -> Option<Result<i64, String>> {
        None
    }

    fn holder(stand_in: &mut StandIn<Self>, key: &str) -> Option<String> {
        stand_in.backend.store.holder(key)
    }

    fn error(status: u16, why: &str) -> Answer {
        Refusal::new(status, why).answer()
    }

    fn state(&self) -> impl Debug + '_ {
        self
    }

    fn assumptions(_: &Settings) -> Vec<String> {
        vec![
            "leases: counted on the stand-in's clock, from the sending of the write that gave or renewed them"
                .to_owned(),
        ]
    }
}
