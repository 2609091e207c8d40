//! A state graph while it is built, breadth first. Several threads look at states; what they find is taken in by one, in the order of
//! the states' numbers. So the graph is the same for any number of threads: no number of a state or of a label depends on which of them
//! is the first to find something.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use fencepost_model::mutation::{CheckerMutation, Mutation};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;

use super::edges::EdgeLog;
use super::expand::{Batch, Expander};
use super::graph::{Graph, Node};
use super::labels::{EdgeLabel, EdgeLabels};
use super::obligation::{CLIENTS_MAX, OpenFacts};
use crate::engine::disk::spool::Spool;
use crate::engine::seen::{Seen, WholeStates};
use crate::engine::{Chunk, Marks, StoreError};
use crate::limits::Progress;
use crate::options::Options;
use crate::outcome::InternalError;
use crate::reduction::{Collapsed, Form, PackedChunk, Pool};

/// The most bytes of edges that are kept in memory: about 250 million edges.
const MEMORY_MAX: u64 = 1 << 30;

/// How many states are expanded between two questions to the supervisor.
const ROUND: u64 = 256;

/// The most states that are looked at together.
const BATCH: usize = 128;

/// The folder of a scenario's state graph in a store.
const FOLDER: &str = "_graph";

/// How many batches each thread has: the one that it looks at, and the next one.
const AHEAD: usize = 2;

/// The way to a thread, and the way back.
struct Lane<P: Service> {
    jobs: Sender<Batch<P>>,
    results: Receiver<Batch<P>>,
}

/// What a graph is made of.
pub(super) struct Build<'a, P: Service> {
    scenario: &'a Scenario<P>,
    options: &'a Options,
    /// The labels and classes of its edges.
    pub(super) graph: Graph,
    pub(super) edges: EdgeLog,
    /// For each state: what is open in it.
    pub(super) facts: Vec<OpenFacts>,
    pub(super) labels: EdgeLabels<P>,
    /// For each expander: its labels, with their numbers in the graph as far as edges have them.
    translations: Vec<Vec<(EdgeLabel<P>, Option<u16>)>>,
    seen: SeenNodes,
    /// States to expand, in the order of their numbers.
    queue: VecDeque<PackedChunk>,
    /// States found.
    states: u32,
    /// The level of the state that is taken in, and the first state of the next one.
    level: u64,
    next_level: Node,
    pub(super) depth: u64,
    pub(super) cut: Option<String>,
    /// Whether it was cut by the supervisor or an error, and not by a limit of its own.
    pub(super) is_called_off: bool,
    pub(super) marks: Marks,
}

impl<'a, P: Service> Build<'a, P> {
    /// An empty one: on disk, if there is a store.
    ///
    /// # Errors
    /// The store is refused.
    pub(super) fn new(scenario: &'a Scenario<P>, options: &'a Options) -> Result<Self, StoreError> {
        let spool = match &options.store {
            Some(store) => Spool::on_disk(&store.below(&scenario.name).below(FOLDER))?,
            None => Spool::Memory(Vec::new()),
        };
        Ok(Build {
            scenario,
            options,
            graph: Graph::new(scenario.mutation),
            edges: EdgeLog::new(spool),
            facts: Vec::new(),
            labels: EdgeLabels::new(),
            translations: (0..options.workers).map(|_| Vec::new()).collect(),
            seen: SeenNodes::of(scenario.mutation, options.exact),
            queue: VecDeque::new(),
            states: 0,
            level: 0,
            next_level: 1,
            depth: 0,
            cut: None,
            is_called_off: false,
            marks: Marks::default(),
        })
    }

    /// Builds it, with as many threads as the options say.
    ///
    /// # Errors
    /// The model panicked: an internal error.
    pub(super) fn run(&mut self) -> Result<(), InternalError> {
        let (scenario, form) = (self.scenario, &Form::new(self.scenario, false));
        let (pool, workers) = (Pool::of(scenario, self.options.exact), self.options.workers);
        let mut expanders: Vec<Expander<'_, P>> =
            (0..workers).map(|_| Expander::new(scenario, form, Arc::clone(&pool), workers)).collect();
        self.number(expanders[0].start());
        match &mut expanders[..] {
            [expander] => self.run_alone(expander)?,
            _ => self.run_together(expanders)?,
        }
        let written = self.edges.finish();
        self.note(written);
        // Of those that were not looked at nothing is known, and nothing leads on from them.
        self.facts.resize(self.states as usize, OpenFacts::default());
        Ok(())
    }

    fn run_alone(&mut self, expander: &mut Expander<'_, P>) -> Result<(), InternalError> {
        while let Some(mut batch) = self.next_batch() {
            expander.expand(&mut batch);
            if !self.take_in(0, batch)? {
                break;
            }
        }
        Ok(())
    }

    /// The threads are dealt batches in turn, so it is known which of them has the next one.
    fn run_together(&mut self, expanders: Vec<Expander<'_, P>>) -> Result<(), InternalError> {
        thread::scope(|scope| {
            let start = expanders.into_iter().map(|mut expander| {
                let ((jobs, to_do), (done, results)) = (channel::<Batch<P>>(), channel());
                scope.spawn(move || {
                    for mut batch in to_do {
                        expander.expand(&mut batch);
                        if done.send(batch).is_err() {
                            break;
                        }
                    }
                });
                Lane { jobs, results }
            });
            let lanes: Vec<Lane<P>> = start.collect();
            let (mut dealt, mut taken) = (0, 0);
            loop {
                while dealt - taken < AHEAD * lanes.len()
                    && let Some(batch) = self.next_batch()
                {
                    lanes[dealt % lanes.len()].jobs.send(batch).expect("it works until there are no more batches");
                    dealt += 1;
                }
                if dealt == taken {
                    return Ok(());
                }
                let lane = taken % lanes.len();
                let batch = lanes[lane].results.recv().expect("a panic of the model is caught");
                taken += 1;
                if !self.take_in(lane, batch)? {
                    return Ok(());
                }
            }
        })
    }

    /// The next states to look at.
    fn next_batch(&mut self) -> Option<Batch<P>> {
        self.queue.pop_front().map(Batch::of)
    }

    /// Takes in what an expander has found, up to a limit: whether there is none.
    fn take_in(&mut self, expander: usize, batch: Batch<P>) -> Result<bool, InternalError> {
        let Batch { found, edges, labels, failure, .. } = batch;
        let expander = if self.scenario.is_mutated(CheckerMutation::LabelsOfOneThread) { 0 } else { expander };
        self.translations[expander].extend(labels.into_iter().map(|label| (label, None)));
        self.seen.touch(&edges);
        let mut edges = edges.into_iter();
        let mut numbered: Vec<(Node, u16)> = Vec::new();
        for expanded in found {
            if !self.may_go_on() {
                return Ok(false);
            }
            self.facts.push(expanded.facts);
            self.marks.add(expanded.marks);
            numbered.clear();
            for (to, label) in edges.by_ref().take(expanded.edges) {
                numbered.push((self.number(to), self.label(expander, label)));
            }
            let written = self.edges.push(&numbered);
            self.note(written);
        }
        match failure {
            Some(failure) if self.may_go_on() => Err(failure),
            failure => Ok(failure.is_none()),
        }
    }

    /// An error of the store cuts the graph, and what is in the store cannot be judged.
    fn note(&mut self, written: Result<(), StoreError>) {
        if let Err(error) = written {
            self.cut = Some(format!("an error of the store ({error})"));
            self.is_called_off = true;
        }
    }

    /// Whether the next state may be taken in.
    fn may_go_on(&mut self) -> bool {
        if self.edges.len() == self.next_level {
            self.level += 1;
            self.next_level = self.states;
        }
        if self.cut.is_none() {
            self.cut = self.limit();
        }
        if self.cut.is_none() && u64::from(self.edges.len()).is_multiple_of(ROUND) {
            self.cut = self.options.supervisor.stop(&self.progress());
            self.is_called_off = self.cut.is_some();
        }
        self.cut.is_none()
    }

    /// The number in the graph of what an expander has under this one.
    fn label(&mut self, expander: usize, number: u16) -> u16 {
        let (label, known) = &mut self.translations[expander][usize::from(number)];
        *known.get_or_insert_with(|| self.labels.number(self.scenario, &mut self.graph, *label))
    }

    /// The limit that is reached, if there is one.
    fn limit(&self) -> Option<String> {
        let (expanded, limits) = (u64::from(self.edges.len()), self.options.limits);
        if self.scenario.clients > CLIENTS_MAX {
            return Some(format!("the {CLIENTS_MAX} clients that a state graph tells apart"));
        }
        if let Some(states) = limits.states.filter(|states| expanded >= *states) {
            return Some(format!("--max-states {states}"));
        }
        if let Some(depth) = limits.depth.filter(|depth| self.level >= *depth) {
            return Some(format!("--max-depth {depth}"));
        }
        let is_full = self.edges.memory() >= MEMORY_MAX;
        is_full.then(|| format!("the {} MiB of transitions that are kept in memory", MEMORY_MAX >> 20))
    }

    fn progress(&self) -> Progress {
        let (states, transitions) = (u64::from(self.states), self.edges.edges_len());
        Progress { states, transitions, frontier: states - u64::from(self.edges.len()), depth: self.level + 1 }
    }

    /// The number of a state; a new one is queued. They are expanded in the order of their numbers.
    fn number(&mut self, state: Collapsed) -> Node {
        if let Some(known) = self.seen.insert(&state, self.states) {
            return known;
        }
        self.states = self.states.checked_add(1).expect("there are fewer states than four billion");
        // The initial state is the only one that is found before a state is taken in.
        self.depth = if self.states == 1 { 1 } else { self.level + 2 };
        match self.queue.back_mut().filter(|chunk| chunk.len() < BATCH && !chunk.is_full()) {
            Some(chunk) => chunk.push(state),
            None => {
                let mut chunk = PackedChunk::default();
                chunk.push(state);
                self.queue.push_back(chunk);
            }
        }
        self.states - 1
    }
}

/// The states of a graph that were found, with their numbers.
enum SeenNodes {
    /// By fingerprint.
    Fingerprints(Seen<Node>),
    /// Complete.
    Whole(WholeStates),
}

impl SeenNodes {
    fn of(mutation: Option<Mutation>, is_exact: bool) -> Self {
        match is_exact {
            true => SeenNodes::Whole(WholeStates::new()),
            false => SeenNodes::Fingerprints(Seen::new(mutation)),
        }
    }

    /// Looks at the places of these states, which waits for memory once.
    fn touch(&self, edges: &[(Collapsed, u16)]) {
        let touch = |(state, _): &(Collapsed, u16)| match self {
            SeenNodes::Fingerprints(seen) => seen.touch(state.fingerprint().max(1)),
            SeenNodes::Whole(states) => states.touch(state.fingerprint().max(1)),
        };
        std::hint::black_box(edges.iter().fold(0, |sum, edge| sum ^ touch(edge)));
    }

    /// Adds a state with its number; if it was there already, the number that it has is the answer.
    fn insert(&mut self, state: &Collapsed, number: Node) -> Option<Node> {
        let fingerprint = state.fingerprint().max(1);
        match self {
            SeenNodes::Fingerprints(seen) => seen.insert(fingerprint, number),
            SeenNodes::Whole(states) => {
                let mut bytes = Vec::new();
                state.write_parts(&mut bytes);
                states.insert(fingerprint, &bytes, number)
            }
        }
    }
}
