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
    /// Some process stands still for a while.
    Stall,
    /// Some link does.
    Clog,
}

/// Plans, soonest first; those of one instant in the order in which they were made.
#[derive(Clone, Debug)]
pub(super) struct Agenda<P: Protocol> {
    heap: BinaryHeap<Reverse<(Instant, u64, Plan<P>)>>,
    made: u64,
}

impl<P: Protocol> Agenda<P> {
    pub(super) fn new() -> Self {
        Agenda { heap: BinaryHeap::new(), made: 0 }
    }

    pub(super) fn plan(&mut self, at: Instant, plan: Plan<P>) {
        self.made += 1;
        self.heap.push(Reverse((at, self.made, plan)));
    }

    /// The instant of the next plan.
    pub(super) fn next_at(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((at, _, _))| *at)
    }

    pub(super) fn pop(&mut self) -> Option<Plan<P>> {
        self.heap.pop().map(|Reverse((_, _, plan))| plan)
    }

    pub(super) fn forget(&mut self, mut is_unwanted: impl FnMut(&Plan<P>) -> bool) {
        self.heap.retain(|Reverse((_, _, plan))| !is_unwanted(plan));
    }
}
