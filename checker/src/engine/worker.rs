//! One worker's part of a search: what it has seen, what it has to expand, and what it finds for others.

use std::sync::Arc;

use fencepost_model::mutation::{CheckerMutation, Mutation};

use super::cluster::{StateLog, Wire};
use super::counters::{Counters, Report};
use super::dataflow::Part;
use super::frontier::Frontier;
use super::queues::Queues;
use super::steps::{NOWHERE, Steps};
use super::visited::{Candidate, Visited};
use super::work_item::{Load, WorkItem};
use super::{Chunk, Marks, Paths, SearchPlan, Space, Transition};

/// How many bytes of states are looked up together.
const BATCH: usize = 16 * 1024;

/// The number of states whose slots are prefetched, so that their cache misses overlap.
const AHEAD: usize = 128;

/// How many bytes of states are sent together: each item wakes its receiver.
const ITEM_BYTES: usize = 128 * 1024;

/// How many empty lists a worker keeps.
const SPARE: usize = 4;

/// A worker does not send a state again that it has just sent: it remembers two to the power of this number. States
/// that are large are worth a longer memory than the fastest cache holds.
const fn recent_bits<S>() -> u32 {
    if std::mem::needs_drop::<S>() { 18 } else { 13 }
}

/// Which of the workers owns the states with this partition key.
#[inline]
fn owner(partition_key: u32, workers: usize) -> usize {
    usize::try_from((u64::from(partition_key) * workers as u64) >> u32::BITS)
        .expect("it is below the number of workers")
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

    /// By this a state is remembered. What breaks a promise is a state of its own: the same world without the violation is another one.
    #[inline]
    fn fingerprint(self, state: u64, is_violation: bool) -> u64 {
        (state ^ (u64::from(is_violation) & self.violation)).max(1)
    }
}

pub(super) struct Worker<M: Space> {
    space: Arc<M>,
    board: Arc<Counters>,
    plan: SearchPlan,
    index: usize,
    /// How states travel to other processes, if there are some.
    wire: Option<Wire<M::State>>,
    /// Its checkpoint, if it has one.
    log: Option<StateLog<M::State>>,
    /// The level with which the search goes on: the dataflow counts from there.
    first_level: u64,
    /// What this worker has done in all.
    done: Report,
    known: Visited,
    /// How each state was found, where that is noted.
    steps: Option<Steps>,
    /// The number of the state that is expanded next.
    number: u32,
    /// The states of the level that is being expanded, of all workers of the process.
    queues: Arc<Queues<M::Chunk>>,
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
    /// One of `workers` workers, in all processes together. What its checkpoint contains has been found before.
    pub(super) fn new(
        space: Arc<M>,
        board: Arc<Counters>,
        plan: SearchPlan,
        (index, workers): (usize, usize),
        queues: Arc<Queues<M::Chunk>>,
        wire: Option<Wire<M::State>>,
        log: Option<StateLog<M::State>>,
    ) -> Self {
        // Steps are no part of a checkpoint.
        let is_noting = workers == 1 && plan.paths == Paths::Noted && log.is_none();
        let mut worker = Worker {
            faults: Faults::of(space.mutation()),
            known: Visited::of(&*space),
            wire,
            log: None,
            first_level: 0,
            done: Report::default(),
            space,
            board,
            index,
            steps: is_noting.then(Steps::default),
            number: 0,
            queues,
            later: Vec::new(),
            batches: (0..workers).map(|_| Vec::new()).collect(),
            spare: Vec::new(),
            recent: vec![0; 1 << recent_bits::<M::State>()],
            scratch: M::Scratch::default(),
            broken: None,
            plan,
        };
        if let Some(log) = log {
            worker.resume(log);
        }
        worker
    }

    /// Takes in the states of a checkpoint. Those of its last level are expanded first.
    fn resume(&mut self, mut log: StateLog<M::State>) {
        let restored = log.restore(&mut |states, level| {
            let found = |state| Candidate {
                fingerprint: self.faults.fingerprint(self.space.fingerprint(&state), false),
                parent: NOWHERE,
                action: 0,
                is_violation: false,
                state,
            };
            self.receive(&mut states.into_iter().map(found).collect(), level);
            self.later.retain(|(other, _)| *other == level);
        });
        match restored {
            Ok(last) => {
                let (level, done) = last.unwrap_or_default();
                self.later.retain(|(other, _)| *other == level);
                self.first_level = level;
                if self.faults.mutation != Some(CheckerMutation::CheckpointTransitionsForgotten.into()) {
                    self.done = done;
                    self.board.add(done);
                }
                if self.faults.mutation == Some(CheckerMutation::CheckpointUnexpanded.into()) {
                    self.later.clear();
                }
            }
            Err(by) => self.board.stop(by),
        }
        self.log = Some(log);
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
        let (known, mut covered) = (next.len(), 0);
        let mut rest = states.drain(..);
        while !rest.as_slice().is_empty() {
            let soon = rest.as_slice().iter().take(AHEAD);
            let touched = soon.fold(0, |sum, candidate| sum ^ self.known.touch(candidate.fingerprint));
            std::hint::black_box(touched);
            for candidate in rest.by_ref().take(AHEAD) {
                let Some(others) = self.known.insert(&*self.space, &candidate, level) else { continue };
                covered += others;
                let Candidate { parent, action, is_violation, state, .. } = candidate;
                if let Some(Err(by)) = self.log.as_mut().map(|log| log.note(level, &state)) {
                    self.board.stop(by);
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
        if covered > 0 {
            self.board.covered(level, covered);
        }
    }

    /// Its place among the workers of its process.
    fn place(&self) -> usize {
        self.index % self.plan.workers
    }

    /// What is to be expanded next: of this worker, or else of another one. Which states are covered only their owner knows.
    fn next_chunk(&self) -> Option<M::Chunk> {
        let helps = matches!(self.known, Visited::All(_) | Visited::Whole(..));
        self.queues.take(self.place()).or_else(|| helps.then(|| self.queues.steal(self.place())).flatten())
    }

    /// Whether a state that waits is to be expanded: not if one that was found on the same level covers it.
    fn is_wanted(&mut self, state: &<M::Chunk as Chunk>::Waiting) -> bool {
        let Visited::Uncovered(antichains) = &self.known else { return true };
        let Some((fingerprint, allowance)) = self.space.identity(state, &mut self.scratch) else { return true };
        antichains.contains(self.faults.fingerprint(fingerprint, false), allowance)
    }

    fn expand(&mut self, state: &<M::Chunk as Chunk>::Waiting, report: &mut Report) {
        let Worker { space, batches, faults, scratch, number, .. } = self;
        let mut marks = Marks::default();
        let expanded = space.expand(state, scratch, |transition| {
            let Transition { action, state, is_violation, marks: shown } = transition;
            marks.add(shown);
            report.transitions += 1;
            let fingerprint = faults.fingerprint(space.fingerprint(&state), is_violation);
            let owner = owner(space.partition_key(&state), batches.len());
            batches[owner].push(Candidate { fingerprint, parent: *number, action, is_violation, state });
        });
        report.marks.add(marks);
        if let Err(failure) = expanded {
            self.board.fail(failure);
        }
    }

    /// Leaves out the states of a batch that this worker has found lately: first looks at the places of all of them, which waits for memory
    /// once, then at each of these in turn.
    fn leave_out_recent(&mut self, batch: &mut Vec<Candidate<M::State>>) {
        let Worker { space, recent, faults, known, .. } = self;
        if matches!(known, Visited::Whole(..)) {
            // What was found lately is known by fingerprints.
            return;
        }
        let place = |fingerprint: u64| {
            usize::try_from(fingerprint >> (u64::BITS - recent_bits::<M::State>())).expect("few bits are left")
        };
        let touched = batch.iter().fold(0, |sum, candidate| sum ^ recent[place(candidate.fingerprint)]);
        std::hint::black_box(touched);
        batch.retain(|Candidate { fingerprint, state, .. }| {
            let name = fingerprint ^ space.allowance(state).0.rotate_right(8);
            (std::mem::replace(&mut recent[place(*fingerprint)], name) ^ name) & faults.recent != 0
        });
    }

    /// Takes in what was found for this worker itself.
    fn look_up(&mut self, level: u64) {
        let mut batch = std::mem::take(&mut self.batches[self.index]);
        self.leave_out_recent(&mut batch);
        self.receive(&mut batch, level);
        self.batches[self.index] = batch;
    }

    /// Sends each batch of at least this number of bytes to its worker.
    fn post(&mut self, bytes: usize, send: &mut dyn FnMut(WorkItem)) {
        for owner in 0..self.batches.len() {
            if owner != self.index && self.batches[owner].len() * size_of::<Candidate<M::State>>() >= bytes {
                let mut states = std::mem::replace(&mut self.batches[owner], self.spare.pop().unwrap_or_default());
                self.leave_out_recent(&mut states);
                if states.is_empty() {
                    self.keep(states);
                    continue;
                }
                if let Some(item) = self.item(owner, states) {
                    send(item);
                }
            }
        }
    }

    /// States for a worker, as bytes if it belongs to another process. None if they cannot be written: then the search is called off.
    fn item(&mut self, owner: usize, mut states: Vec<Candidate<M::State>>) -> Option<WorkItem> {
        let Some(wire) = self.wire.as_mut().filter(|wire| wire.is_elsewhere(owner)) else {
            return Some(WorkItem::new(owner, states));
        };
        let carries = self.faults.mutation != Some(CheckerMutation::ViolationUncarried.into());
        let shown = |candidate: &'_ Candidate<M::State>| candidate.is_violation && carries;
        let packed = wire.pack(owner, states.iter().map(|candidate| (&candidate.state, shown(candidate))));
        states.clear();
        self.keep(states);
        let bytes = packed.map_err(|failure| self.board.fail(failure)).ok()?;
        Some(WorkItem { to: owner as u64, load: Load::Written(self.index as u64, bytes) })
    }

    /// An item without states for each worker, so that all of them take part in the next level (a barrier): where there are checkpoints, each
    /// worker has one of each level.
    fn barrier(&mut self) -> Vec<WorkItem> {
        let workers = if self.log.is_some() { self.batches.len() } else { 0 };
        (0..workers).filter_map(|owner| self.item(owner, Vec::new())).collect()
    }

    /// States that a worker of another process has written.
    fn written(&mut self, from: u64, bytes: &[u8]) -> Vec<Candidate<M::State>> {
        let Worker { wire, space, faults, board, .. } = self;
        let mut states = Vec::new();
        let found = |state: M::State, is_violation| {
            let fingerprint = faults.fingerprint(space.fingerprint(&state), is_violation);
            states.push(Candidate { fingerprint, parent: NOWHERE, action: 0, is_violation, state });
        };
        let wire = wire.as_mut().expect("only other processes write states");
        let from = usize::try_from(from).expect("workers fit into memory");
        wire.unpack(from, bytes, found).unwrap_or_else(|failure| board.fail(failure));
        states
    }

    /// Keeps an empty list for later.
    fn keep(&mut self, states: Vec<Candidate<M::State>>) {
        if self.spare.len() < SPARE {
            self.spare.push(states);
        }
    }
}

impl<M: Space> Part for Worker<M> {
    fn starts(&mut self) -> Vec<WorkItem> {
        let mut items = self.barrier();
        if self.first_level > 0 {
            return items;
        }
        for (place, state) in self.space.starts().into_iter().enumerate() {
            let fingerprint = self.space.fingerprint(&state).max(1);
            let action = u16::try_from(place).expect("there are few starts");
            let owner = owner(self.space.partition_key(&state), self.batches.len());
            let start = Candidate { fingerprint, parent: NOWHERE, action, is_violation: false, state };
            items.extend(self.item(owner, vec![start]));
        }
        items
    }

    fn unpack(&mut self, item: WorkItem, level: u64) {
        let level = self.first_level + level;
        let mut states = match item.load {
            Load::Moved(states) => states.states(),
            Load::Written(from, bytes) => self.written(from, &bytes),
            Load::Totals(totals) => {
                let wire = self.wire.as_ref().expect("only other processes send totals");
                return self.board.hear(&totals, |counters| wire.portable().add(counters));
            }
        };
        self.receive(&mut states, level);
        self.keep(states);
    }

    fn totals(&mut self) -> Vec<WorkItem> {
        let Some(wire) = &self.wire else { return Vec::new() };
        let Some(news) = self.board.news(|| wire.portable().counters()) else { return Vec::new() };
        wire.others().map(|to| WorkItem { to: to as u64, load: Load::Totals(news.clone()) }).collect()
    }

    fn begin(&mut self, level: u64) -> bool {
        let level = self.first_level + level;
        if self.board.is_complete(level)
            && let Some(Err(by)) = self.log.as_mut().map(|log| log.complete(level, self.done))
        {
            self.board.stop(by);
            // Nothing is expanded any more; but the others have to hear of it, which takes a part in the next level.
            return true;
        }
        let place = self.later.iter().position(|(other, _)| *other == level);
        let mut states = place.map(|place| self.later.swap_remove(place).1).unwrap_or_default();
        // Also who has no state of the level knows by what it is cut.
        if !self.board.may_begin(level, self.plan.limits) || states.len() == 0 {
            return false;
        }
        self.queues.fill(self.place(), std::iter::from_fn(|| states.pop()));
        true
    }

    fn work(&mut self, level: u64, send: &mut dyn FnMut(WorkItem)) -> bool {
        let level = self.first_level + level;
        if self.board.is_cut() {
            return false;
        }
        let Some(mut chunk) = self.next_chunk() else {
            self.post(1, send);
            self.barrier().into_iter().for_each(send);
            return false;
        };
        let mut report = Report::default();
        while let Some(state) = chunk.next() {
            if self.is_wanted(state) {
                report.expanded += 1;
                self.expand(state, &mut report);
            }
            self.number = self.number.wrapping_add(1);
            if self.batches[self.index].len() * size_of::<Candidate<M::State>>() >= BATCH {
                self.look_up(level + 1);
            }
            self.post(ITEM_BYTES, send);
        }
        self.look_up(level + 1);
        self.done.add(report);
        self.board.report(report, level, &*self.plan.supervisor);
        true
    }

    fn path(&self) -> Option<Vec<u16>> {
        let (parent, action) = self.broken?;
        Some(self.steps.as_ref()?.path(parent, action))
    }
}
