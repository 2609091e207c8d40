//! What is planned, by instant: a heap, so that an action costs what it touches and not what exists.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::protocol::Protocol;
use fencepost_model::time::Instant;
use fencepost_model::world::Envelope;

/// Something planned. When its time has come it may be impossible by then; it is looked at again.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Plan<P: Protocol> {
    /// A message arrives.
    Deliver(Envelope<P>),
    /// A deadline fires; it was due at the instant given.
    Wake(ProcessId, P::Timer, Instant),
    /// A user wants something.
    Wish(ClientId),
    /// What a client leaves to chance is decided.
    Choose(ClientId),
    /// Something of this kind goes wrong, or is mended.
    Mishap(&'static str),
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
pub(super) struct Agenda<P: Protocol> {
    heap: BinaryHeap<Reverse<(Instant, u64, u32)>>,
    plans: Vec<Plan<P>>,
    free: Vec<u32>,
    made: u64,
}

impl<P: Protocol> Agenda<P> {
    pub(super) fn new() -> Self {
        Agenda { heap: BinaryHeap::new(), plans: Vec::new(), free: Vec::new(), made: 0 }
    }

    pub(super) fn plan(&mut self, at: Instant, plan: Plan<P>) {
        self.made += 1;
        let place = match self.free.pop() {
            Some(place) => {
                self.plans[place as usize] = plan;
                place
            }
            None => {
                self.plans.push(plan);
                u32::try_from(self.plans.len() - 1).expect("memory ends before")
            }
        };
        self.heap.push(Reverse((at, self.made, place)));
    }

    /// The instant of the next plan.
    pub(super) fn next_at(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((at, _, _))| *at)
    }

    pub(super) fn pop(&mut self) -> Option<Plan<P>> {
        let Reverse((_, _, place)) = self.heap.pop()?;
        self.free.push(place);
        Some(self.plans[place as usize])
    }

    pub(super) fn forget(&mut self, mut is_unwanted: impl FnMut(&Plan<P>) -> bool) {
        let (plans, free) = (&self.plans, &mut self.free);
        self.heap.retain(|Reverse((_, _, place))| {
            let is_kept = !is_unwanted(&plans[*place as usize]);
            free.extend((!is_kept).then_some(*place));
            is_kept
        });
    }
}
