//! An etcd server, 3.4.23 or another version, behind its JSON gateway: the model of the store that `fencepost conform --etcd` holds against a real one, with leases
//! on the stand-in's clock. gRPC is left out.
//!
//! ```text
//! decode   a body as a call of the model (E-GEN-4)     serve    a request, from its path to its answer
//! transactions  a body as a transaction
//! leases   when leases end                             queue    callers that wait for a lock, an election or a revoke
//! fields   the fields of a body                         events   what happens to the server
//! watches  streams that stay open                       watch_body  the messages that open them
//! observers  callers who are told which key leads an election
//! witness  requests as stories tell them               log      the run as JSON lines
//! ```

mod decode;
mod events;
mod fields;
mod leases;
mod log;
mod observers;
mod queue;
mod serve;
mod transactions;
mod watch_body;
mod watches;
mod witness;

use std::collections::BTreeMap;
use std::fmt::Debug;

use fencepost_etcd::mvcc::Mvcc;

use crate::faults::ServerEvent;
use crate::settings::Settings;
use crate::stand_in::{Answer, Backend, Journey, RunLog, StandIn, Ticket};
use leases::Expiry;
use log::EtcdLine;
use observers::ServedObserver;
use queue::Parked;
use watches::ServedStream;
use witness::EtcdWitness;

/// An etcd server that is the model.
#[derive(Clone, Debug)]
pub struct EtcdBackend {
    store: Mvcc,
    /// When each lease ends: in the memory of the leader (E-GEN-1).
    expiries: BTreeMap<i64, Expiry>,
    /// Requests that wait, in the order of their arrival.
    parked: BTreeMap<Ticket, Parked>,
    /// Streams that are open.
    streams: BTreeMap<Ticket, ServedStream>,
    /// Callers of `observe`.
    observers: BTreeMap<Ticket, ServedObserver>,
    /// The client whose request has created a key, by key and creation revision.
    makers: BTreeMap<(String, i64), String>,
    /// How many leases have an id from the server, and how many streams have begun.
    drawn: u64,
    /// How often a lease was granted or renewed: each time its end is drawn anew.
    counted: u64,
    /// The term: one more with each leader (E-GEN-3).
    term: u64,
}

/// What an etcd server does by itself.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EtcdDue {
    /// The leader revokes an overdue lease (E-LS-5).
    LeaseEnds(i64),
    /// The watches of a stream hear of progress (E-W-6).
    Progress(Ticket),
    /// An observer whose answers are delayed goes on.
    ObserverGoesOn(Ticket),
}

impl Backend for EtcdBackend {
    const NAME: &'static str = "etcd";
    // E-GEN: a message is not larger than 2 MB.
    const BODY_MAX: usize = 4 << 20;
    const INSTANTS: &'static str = "?until=lease-expired or ?until=next";
    type Due = EtcdDue;
    type Record = RunLog<EtcdLine>;
    type Witness = EtcdWitness;

    fn new(settings: &Settings) -> Self {
        EtcdBackend {
            store: Mvcc::of(settings.etcd),
            expiries: BTreeMap::new(),
            parked: BTreeMap::new(),
            streams: BTreeMap::new(),
            observers: BTreeMap::new(),
            makers: BTreeMap::new(),
            drawn: 0,
            counted: 0,
            term: 2,
        }
    }

    fn carry_out(stand_in: &mut StandIn<Self>, journey: Journey) {
        stand_in.carry_out(journey);
    }

    fn happen(stand_in: &mut StandIn<Self>, event: ServerEvent, journey: &Journey) {
        stand_in.happen(event, journey);
    }

    fn agenda(stand_in: &StandIn<Self>) -> Vec<(i64, EtcdDue)> {
        let EtcdBackend { expiries, streams, observers, .. } = &stand_in.backend;
        let leases = expiries.iter().map(|(id, expiry)| (expiry.revoked, EtcdDue::LeaseEnds(*id)));
        let streams = streams.iter().filter(|(_, stream)| stream.notifies());
        let progress = streams.map(|(ticket, stream)| (stream.progress, EtcdDue::Progress(*ticket)));
        let slow = observers
            .iter()
            .filter_map(|(ticket, observer)| Some((observer.due(stand_in.now)?, EtcdDue::ObserverGoesOn(*ticket))));
        leases.chain(progress).chain(slow).collect()
    }

    fn come(stand_in: &mut StandIn<Self>, due: EtcdDue) {
        match due {
            EtcdDue::LeaseEnds(id) => stand_in.end_lease(id),
            EtcdDue::Progress(ticket) => stand_in.notify_progress(ticket),
            EtcdDue::ObserverGoesOn(ticket) => stand_in.tell_observer(ticket),
        }
    }

    fn gone(stand_in: &mut StandIn<Self>, ticket: Ticket) {
        stand_in.backend.streams.remove(&ticket);
        stand_in.backend.observers.remove(&ticket);
        stand_in.caller_leaves(ticket);
    }

    fn told(&self, due: &EtcdDue) -> String {
        match due {
            EtcdDue::LeaseEnds(id) => format!("lease {id:x} ends"),
            EtcdDue::Progress(_) => "a watch hears of progress".to_owned(),
            EtcdDue::ObserverGoesOn(_) => "an observer goes on".to_owned(),
        }
    }

    fn instant(stand_in: &StandIn<Self>, name: &str) -> Option<Result<i64, String>> {
        let first = || stand_in.backend.expiries.values().map(|expiry| expiry.revoked).min();
        (name == "lease-expired").then(|| first().ok_or_else(|| "there is no lease".to_owned()))
    }

    fn holder(stand_in: &mut StandIn<Self>, key: &str) -> Option<String> {
        stand_in.holder_of(key)
    }

    fn error(status: u16, why: &str) -> Answer {
        serve::failure(status, why)
    }

    fn state(&self) -> impl Debug + '_ {
        self
    }

    fn assumptions(settings: &Settings) -> Vec<String> {
        vec![format!("the scan of leases: {}", settings.timers)]
    }
}
