//! Faults that a scenario keeps to some places. A place is an action that could be taken instead: a fault strikes before it.

use super::{Action, Envelope, Fault, Link, World};
use crate::ids::ProcessId;
use crate::mutation::KernelMutation;
use crate::scenario::{FaultPlace, Scenario, Ways, without_numbers};
use crate::service::Service;

/// An action that may be taken, and its label without numbers.
struct Offer<P: Service> {
    action: Action<P>,
    label: String,
}

impl<P: Service> Scenario<P> {
    /// Takes out of the actions of a world the faults that may not strike there.
    pub(super) fn keep_in_place(&self, world: &World<P>, actions: &mut Vec<Action<P>>) {
        if !actions.iter().any(|action| self.has_place(action)) {
            return;
        }
        let offers: Vec<Offer<P>> = actions.iter().filter_map(|action| Offer::of(*action)).collect();
        actions.retain(|action| !self.has_place(action) || self.is_in_place(world, action, &offers));
    }

    /// Whether the scenario says where an action may be taken: a fault that it keeps to some places.
    pub(super) fn has_place(&self, action: &Action<P>) -> bool {
        self.places_of(action).next().is_some()
    }

    fn places_of(&self, action: &Action<P>) -> impl Iterator<Item = &FaultPlace> {
        let kind = action.kind();
        self.fault_places.iter().filter(move |place| place.fault == kind)
    }

    fn is_in_place(&self, world: &World<P>, fault: &Action<P>, offers: &[Offer<P>]) -> bool {
        let is_named = |label: &str| self.places_of(fault).any(|place| label.contains(&place.before));
        let any_of = |concerns: &dyn Fn(&Action<P>) -> bool| {
            offers.iter().any(|offer| concerns(&offer.action) && is_named(&offer.label))
        };
        let of_process = |process: ProcessId| {
            let everywhere = self.is_mutated(KernelMutation::PlaceOfAnyProcess);
            any_of(&|action| everywhere || takes_part(action, process))
        };
        match *fault {
            Action::Lose(envelope) | Action::Duplicate(envelope) => is_named(&arrival(envelope)),
            Action::Fault(Fault::Cut(link)) => {
                let is_on = |envelope: &Envelope<P>| {
                    let back = Link { from: link.to, to: link.from };
                    envelope.link() == link || self.network.ways == Ways::Both && envelope.link() == back
                };
                world.network.iter().any(|envelope| is_on(envelope) && is_named(&arrival(*envelope)))
            }
            Action::Slip { process, .. } | Action::Fault(Fault::Pause(process)) => of_process(process),
            Action::Fault(Fault::Crash(client)) => of_process(client.into()),
            _ => any_of(&|_| true),
        }
    }
}

impl<P: Service> Offer<P> {
    /// The action as a place of faults, unless it is a fault itself, the end of one, or time that passes.
    fn of(action: Action<P>) -> Option<Self> {
        match action {
            Action::Deliver(envelope) => Some(Offer { action, label: arrival(envelope) }),
            Action::Command { .. } | Action::Wake { .. } | Action::Choose { .. } => {
                Some(Offer { action, label: without_numbers(&action.to_string()) })
            }
            _ => None,
        }
    }
}

/// The label of an arrival, without the ghost of a write: which promises are watched must not decide where a fault may strike.
fn arrival<P: Service>(envelope: Envelope<P>) -> String {
    let plain = Envelope { message: envelope.message.without_ghost(), ..envelope };
    without_numbers(&Action::Deliver(plain).to_string())
}

/// Whether a process takes part in an action: it does something, or its message arrives.
fn takes_part<P: Service>(action: &Action<P>, process: ProcessId) -> bool {
    match action {
        Action::Command { client, .. } => ProcessId::Client(*client) == process,
        Action::Deliver(envelope) => envelope.from == process || envelope.to == process,
        Action::Wake { process: other, .. } | Action::Choose { process: other, .. } => *other == process,
        _ => false,
    }
}
