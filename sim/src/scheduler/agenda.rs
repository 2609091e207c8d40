//! What is planned, by instant: a heap, so that an action costs what it touches and not what exists.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fencepost_model::action_kind::ActionKind;
use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::service::Service;
use fencepost_model::time::Instant;
use fencepost_model::world::Envelope;

/// Something planned. When its time has come it may be impossible by then; it is looked at again.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum PlannedAction<P: Service> {
    /// A message arrives.
    Deliver(Envelope<P>),
    /// A deadline fires; it was due at the instant given.
    Wake(ProcessId, P::Timer, Instant),
    /// A user wants something.
    Command(ClientId),
    /// What a client leaves to chance is decided.
    Choose(ClientId),
    /// Something of this kind goes wrong, or is mended.
    Fault(ActionKind),
    /// The servers hear something about a client's node.
    Hear(ClientId),
    /// A clock has run away by another step, ahead or behind.
    Drift(ProcessId, bool),
    /// A clock is set right.
    Resync(ProcessId),
    /// Some process stands still for a while.
    Stall,
    /// Some link does.
    Clog,
}

/// Plans, soonest first; those of one instant in the order in which they were made. The heap holds places of plans: moving those
/// about in it is cheaper.
#[derive(Clone, Debug)]
pub(super) struct Agenda<P: Service> {
    heap: BinaryHeap<Reverse<Key>>,
    plans: Vec<PlannedAction<P>>,
    free: Vec<usize>,
    made: u64,
}

/// Sort key: due time, sequence number, slot; packed into one integer because heap operations are comparison-bound.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key(u128);

impl Key {
    const PLACE_BITS: u32 = 28;
    const MADE_BITS: u32 = 36;
    /// Instants lie on both sides of the start.
    const START: u64 = 1 << 63;

    fn new(at: Instant, made: u64, place: usize) -> Self {
        assert!(made >> Self::MADE_BITS == 0 && place >> Self::PLACE_BITS == 0, "a run has no room for more plans");
        let at = at.ticks().cast_unsigned() ^ Self::START;
        Key(u128::from(at) << 64 | u128::from(made) << Self::PLACE_BITS | place as u128)
    }

    fn at(self) -> Instant {
        Instant::at(((self.0 >> 64) as u64 ^ Self::START).cast_signed())
    }

    fn place(self) -> usize {
        (self.0 as usize) & ((1 << Self::PLACE_BITS) - 1)
    }
}

impl<P: Service> Agenda<P> {
    pub(super) fn new() -> Self {
        Agenda { heap: BinaryHeap::new(), plans: Vec::new(), free: Vec::new(), made: 0 }
    }

    pub(super) fn plan(&mut self, at: Instant, plan: PlannedAction<P>) {
        self.made += 1;
        let place = match self.free.pop() {
            Some(place) => {
                self.plans[place] = plan;
                place
            }
            None => {
                self.plans.push(plan);
                self.plans.len() - 1
            }
        };
        self.heap.push(Reverse(Key::new(at, self.made, place)));
    }

    /// The next plan, and its instant.
    pub(super) fn peek(&self) -> Option<(Instant, &PlannedAction<P>)> {
        self.heap.peek().map(|Reverse(key)| (key.at(), &self.plans[key.place()]))
    }

    pub(super) fn pop(&mut self) -> Option<PlannedAction<P>> {
        let place = self.heap.pop()?.0.place();
        self.free.push(place);
        Some(self.plans[place])
    }

    pub(super) fn forget(&mut self, mut is_unwanted: impl FnMut(&PlannedAction<P>) -> bool) {
        let (plans, free) = (&self.plans, &mut self.free);
        self.heap.retain(|Reverse(key)| {
            let is_kept = !is_unwanted(&plans[key.place()]);
            free.extend((!is_kept).then_some(key.place()));
            is_kept
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_instants_and_then_of_plans() {
        let instants = [-5, -1, 0, 1, 1_000_000_000_000_000].map(Instant::at);
        let mut last = None;
        for at in instants {
            for made in [1, 2, (1 << Key::MADE_BITS) - 1] {
                // The place says nothing about the order.
                let key = Key::new(at, made, (1 << Key::PLACE_BITS) - usize::try_from(made).unwrap().min(100));
                assert!(last < Some(key), "{at:?} {made}");
                assert_eq!((key.at(), key.place() < 1 << Key::PLACE_BITS), (at, true));
                last = Some(key);
            }
        }
        assert_eq!(Key::new(Instant::START, 7, 123_456).place(), 123_456);
    }
}
