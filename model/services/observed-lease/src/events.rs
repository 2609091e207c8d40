//! The events, faults and operator actions of this service.

use serde::{Deserialize, Serialize};

use super::messages::ObservedLeaseMessage;
use super::settings::{OperatorKind, Settings};
use super::{ObservedLease, Store};
use fencepost_model::goal::Goal;
use fencepost_model::ids::ClientId;
use fencepost_model::normal::Normal;
use fencepost_model::process::{Client as _, Context, Outbox};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Event;
use fencepost_model::service_fault::{FaultKind, ServiceFault};
use fencepost_model::world::{Condition, World};

/// An event that only this service has.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeaseEvent {
    /// A contender replaces a record that names another holder.
    TakenOver {
        /// The new holder.
        client: ClientId,
        /// The earlier one.
        from: ClientId,
    },
    /// A conditional write is refused.
    Refused {
        /// The client that sent it.
        client: ClientId,
    },
    /// A read shows an earlier record.
    ReadStale {
        /// The client that sent it.
        client: ClientId,
    },
}

const TAKEN_OVER: Goal = Goal::new("taken-over");
const CONFLICT: Goal = Goal::new("conflict");
const READ_STALE: Goal = Goal::new("read-stale");

/// Every goal of this service.
pub(super) const GOALS: &[Goal] = &[TAKEN_OVER, CONFLICT, READ_STALE];

impl Event for LeaseEvent {
    fn goal(&self) -> Option<Goal> {
        Some(match self {
            LeaseEvent::TakenOver { .. } => TAKEN_OVER,
            LeaseEvent::Refused { .. } => CONFLICT,
            LeaseEvent::ReadStale { .. } => READ_STALE,
        })
    }
}

/// An action of the operator. It needs no ownership (OL-S-7).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OperatorAction(pub OperatorKind);

impl Normal for OperatorAction {
    fn visit(&mut self, _: &mut impl fencepost_model::normal::Visitor) {}
}

/// A fault of the store or of a client's process, or its end.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeaseFault {
    /// The store answers the requests of a client with errors, at once.
    Fail(ClientId),
    /// It no longer does.
    Recover(ClientId),
    /// A client's process sleeps between two requests, for this number of grains; see `service.grain`.
    Nap(ClientId, u16),
    /// The next read shows the record before its last change.
    Lag,
}

/// The indices of the kinds of fault.
impl LeaseFault {
    pub(super) const ERRORS: usize = 0;
    pub(super) const NAP: usize = 1;
    pub(super) const STALE: usize = 2;
}

impl ServiceFault for LeaseFault {
    const KINDS: &'static [FaultKind] = &[
        FaultKind::new("store_errors", "spell of errors of the store for one client", None),
        FaultKind::new("naps", "sleep of a process between two requests", None),
        FaultKind::new("stale_reads", "read of an earlier record", None),
    ];

    fn kind(self) -> Option<usize> {
        match self {
            LeaseFault::Fail(_) => Some(LeaseFault::ERRORS),
            LeaseFault::Nap(..) => Some(LeaseFault::NAP),
            LeaseFault::Lag => Some(LeaseFault::STALE),
            LeaseFault::Recover(_) => None,
        }
    }
}

/// The operator forces a lock off only when it knows that the holder's work is over.
pub(super) fn offer_actions(
    world: &World<ObservedLease>,
    scenario: &Scenario<ObservedLease>,
    offer: &mut dyn FnMut(OperatorAction),
) {
    let owner = world.server.process.owner();
    let works = owner.is_some_and(|owner| world.clients[owner.place()].process.belief().is_inside);
    for kind in &scenario.service.operator {
        if *kind != OperatorKind::ForceUnlock || owner.is_some() && !works {
            offer(OperatorAction(*kind));
        }
    }
}

/// Every length of a sleep in grains, or some of them, evenly spread up to the longest.
fn nap_lengths(settings: &Settings) -> impl Iterator<Item = u16> {
    let longest = settings.nap.count() / settings.grain.count();
    let count = longest.min(LENGTHS_MAX);
    (1..=count).map(move |place| u16::try_from(longest * place / count).expect("validation bounds naps"))
}

/// The maximum number of different lengths of a sleep.
pub(super) const LENGTHS_MAX: i64 = 8;

pub(super) fn offer_faults(
    world: &World<ObservedLease>,
    scenario: &Scenario<ObservedLease>,
    offer: &mut dyn FnMut(LeaseFault),
) {
    let (store, left) = (&world.server.process, &world.left);
    for (place, host) in world.clients.iter().enumerate() {
        let client = ClientId::of(place);
        match store.fails(client) {
            true => offer(LeaseFault::Recover(client)),
            false if left.affords(LeaseFault::ERRORS) => offer(LeaseFault::Fail(client)),
            false => {}
        }
        let context = Context { scenario, now: world.clock(client.into()), me: client.into() };
        if left.affords(LeaseFault::NAP) && host.condition == Condition::Up && host.process.may_nap(&context) {
            nap_lengths(&scenario.service).for_each(|length| offer(LeaseFault::Nap(client, length)));
        }
    }
    if left.affords(LeaseFault::STALE) && store.may_lag() {
        offer(LeaseFault::Lag);
    }
}

pub(super) fn suffer(store: &mut Store, fault: LeaseFault, out: &mut Outbox<ObservedLease>) {
    match fault {
        LeaseFault::Fail(client) => store.fail(client),
        LeaseFault::Recover(client) => store.recover(client),
        LeaseFault::Lag => store.lag(),
        LeaseFault::Nap(client, length) => out.send(client.into(), ObservedLeaseMessage::Sleep(length)),
    }
}
