//! One worker's part of a search: what it has seen, what it has to expand, and what it finds for others.

use std::sync::Arc;

use fencepost_model::mutation::{CheckerMutation, Mutation};

use super::counters::{Counters, Report};
use super::dataflow::Part;
use super::frontier::Frontier;
use super::seen::{Seen, owner};
use super::steps::{NOWHERE, Steps};
use super::work_item::WorkItem;
use super::{Chunk, Marks, Paths, SearchPlan, Space, Transition};

/// A state that may be new.
#[derive(Clone)]
struct Candidate<S> {
    fingerprint: u64,
    /// The number of the state that it was found from, where paths are kept.
    parent: u32,
    action: u16,
    is_violation: bool,
    state: S,
}

/// How many bytes of states are looked up together.
const BATCH: usize = 16 * 1024;

/// The number of states whose slots are prefetched, so that their cache misses overlap.
const AHEAD: usize = 128;

/// How many bytes of states are sent together: each item wakes its receiver.
const ITEM_BYTES: usize = 128 * 1024;

/// How many empty lists a worker keeps.
const SPARE: usize = 16;

/// A worker does not send a state again that it has just sent: it remembers two to the power of this number. States
/// that are large are worth a longer memory than the fastest cache holds.
const fn recent_bits<S>() -> u32 {
    if std::mem::needs_drop::<S>() { 18 } else { 13 }
}

/// What mutants change in a worker, as words that cost nothing while none is switched on.
#[derive(Copy, Clone)]
struct Faults {
    mutation: Option<Mutation>,
    /// Is added to the fingerprint of a state that is entered by a violation.
    violation: u64,
    /// A state is recent if these bits of its fingerprint are.
    recent: u64,
}

impl Faults {
    fn of(mutation: Option<Mutation>) -> Self {
        let is = |other: CheckerMutation| mutation == Some(other.into());
        Faults {
            mutation,
            violation: u64::from(!is(CheckerMutation::ViolationHiddenByState)),
            recent: if is(CheckerMutation::RecentByPlace) { u64::MAX << (u64::BITS - 4) } else { u64::MAX },
        }
    }
}

pub(super) struct Worker<M: Space> {
    space: Arc<M>,
    board: Arc<Counters>,
    plan: SearchPlan,
    index: usize,
    seen: Seen,
    /// How each state was found, where that is noted.
    steps: Option<Steps>,
    /// The number of the state that is expanded next.
    number: u32,
    /// The states of the level that is being expanded.
    current: Frontier<M::Chunk>,
    /// Those of later levels: the next one, and the one after it if another worker is ahead.
    later: Vec<(u64, Frontier<M::Chunk>)>,
    /// What was found for each worker, and not handed over yet.
    batches: Vec<Vec<Candidate<M::State>>>,
    /// Empty lists with room, for the next work items.
    spare: Vec<Vec<Candidate<M::State>>>,
    recent: Vec<u64>,
    faults: Faults,
    scratch: M::Scratch,
    /// The first step found that breaks a promise.
    broken: Option<(u32, u16)>,
}

impl<M: Space> Worker<M> {
    pub(super) fn new(space: Arc<M>, board: Arc<Counters>, plan: SearchPlan, index: usize) -> Self {
        let is_noting = plan.workers == 1 && plan.paths == Paths::Noted;
        Worker {
            faults: Faults::of(space.mutation()),
            seen: Seen::of(index, plan.workers, space.mutation()),
            space,
            board,
            index,
            steps: is_noting.then(Steps::default),
            number: 0,
            current: Frontier::default(),
            later: Vec::new(),
            batches: (0..plan.workers).map(|_| Vec::new()).collect(),
            spare: Vec::new(),
            recent: vec![0; 1 << recent_bits::<M::State>()],
            scratch: M::Scratch::default(),
            broken: None,
            plan,
        }
    }

    /// Takes in states of the given level. First looks at the places of some of them, which waits for memory once, then at
    /// each of these in turn.
    fn receive(&mut self, states: &mut Vec<Candidate<M::State>>, level: u64) {
        let mutation = self.faults.mutation;
        let place = self.later.iter().position(|(other, _)| *other == level).unwrap_or_else(|| {
            self.later.push((level, Frontier::new(mutation)));
            self.later.len() - 1
        });
        let (_, next) = &mut self.later[place];
        let known = next.len();
        let mut rest = states.drain(..);
        while !rest.as_slice().is_empty() {
            let soon = rest.as_slice().iter().take(AHEAD);
            let touched = soon.fold(0, |sum, candidate| sum ^ self.seen.touch(candidate.fingerprint));
            std::hint::black_box(touched);
            for Candidate { fingerprint, parent, action, is_violation, state } in rest.by_ref().take(AHEAD) {
                if self.seen.insert(fingerprint, ()).is_some() {
                    continue;
                }
                let is_violation = is_violation || self.space.is_broken(&state);
                next.push(state);
                if let Some(steps) = &mut self.steps {
                    steps.push(parent, action);
                }
                if is_violation && (mutation != Some(CheckerMutation::ViolationLost.into()) || level.is_multiple_of(2))
                {
                    self.board.violation(level);
                    self.broken.get_or_insert((parent, action));
                }
            }
        }
        self.board.found(level, next.len() - known);
    }

    fn expand(&mut self, state: &<M::Chunk as Chunk>::Waiting, report: &mut Report) {
        let Worker { space, batches, recent, faults, scratch, number, .. } = self;
        let mut marks = Marks::default();
        let expanded = space.expand(state, scratch, |transition| {
            let Transition { action, state, is_violation, marks: shown } = transition;
            marks.add(shown);
            report.transitions += 1;
            // What breaks a promise is a state of its own: the same world without the violation is another one.
            let fingerprint = (space.fingerprint(&state) ^ (u64::from(is_violation) & faults.violation)).max(1);
            let owner = owner(fingerprint, batches.len());
            let place = usize::try_from(fingerprint >> (64 - recent_bits::<M::State>())).expect("few bits are left");
            if (std::mem::replace(&mut recent[place], fingerprint) ^ fingerprint) & faults.recent != 0 {
                batches[owner].push(Candidate { fingerprint, parent: *number, action, is_violation, state });
            }
        });
        report.marks.add(marks);
        if let Err(failure) = expanded {
            self.board.fail(failure);
        }
    }

    /// Takes in what was found for this worker itself.
    fn look_up(&mut self, level: u64) {
        let mut batch = std::mem::take(&mut self.batches[self.index]);
        self.receive(&mut batch, level);
        self.batches[self.index] = batch;
    }

    /// Sends each batch of at least this number of bytes to its worker.
    fn post(&mut self, bytes: usize, send: &mut dyn FnMut(WorkItem)) {
        for owner in (0..self.batches.len()).filter(|owner| *owner != self.index) {
            if self.batches[owner].len() * size_of::<Candidate<M::State>>() >= bytes {
                let states = std::mem::replace(&mut self.batches[owner], self.spare.pop().unwrap_or_default());
                send(WorkItem::new(owner, states));
            }
        }
    }
}

impl<M: Space> Part for Worker<M> {
    fn starts(&self) -> Vec<WorkItem> {
        let start = |(place, state)| {
            let fingerprint = self.space.fingerprint(&state).max(1);
            let action = u16::try_from(place).expect("there are few starts");
            let start = Candidate { fingerprint, parent: NOWHERE, action, is_violation: false, state };
            WorkItem::new(owner(fingerprint, self.batches.len()), vec![start])
        };
        self.space.starts().into_iter().enumerate().map(start).collect()
    }

    fn unpack(&mut self, item: WorkItem, level: u64) {
        let mut states = item.states();
        self.receive(&mut states, level);
        if self.spare.len() < SPARE {
            self.spare.push(states);
        }
    }

    fn begin(&mut self, level: u64) -> bool {
        let place = self.later.iter().position(|(other, _)| *other == level);
        self.current = place.map(|place| self.later.swap_remove(place).1).unwrap_or_default();
        self.current.len() > 0 && self.board.may_begin(level, self.plan.limits)
    }

    fn work(&mut self, level: u64, send: &mut dyn FnMut(WorkItem)) -> bool {
        let Some(mut chunk) = self.current.pop().filter(|_| !self.board.is_cut()) else { return false };
        let mut report = Report { expanded: chunk.len() as u64, ..Report::default() };
        while let Some(state) = chunk.next() {
            self.expand(state, &mut report);
            self.number = self.number.wrapping_add(1);
            if self.batches[self.index].len() * size_of::<Candidate<M::State>>() >= BATCH {
                self.look_up(level + 1);
            }
            self.post(ITEM_BYTES, send);
        }
        self.look_up(level + 1);
        if self.current.len() == 0 {
            self.post(1, send);
        }
        self.board.report(report, level, &*self.plan.supervisor);
        true
    }

    fn path(&self) -> Option<Vec<u16>> {
        let (parent, action) = self.broken?;
        Some(self.steps.as_ref()?.path(parent, action))
    }
}
