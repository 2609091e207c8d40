//! Liveness properties. Only infinite executions violate them, so the whole state graph is built, and searched for a fair
//! cycle on which an obligation is never met.
//!
//! ```text
//! graph       states by number, edges with labels, classes of fairness
//! labels      the class of fairness of an edge, and who enters by it
//! obligation  what has to happen eventually, and where it is open
//! fair        the components in which a fair run can stay
//! lasso       such a run as stem and round trip
//! ```
//!
//! Worlds are in normal form, and clients keep their names: who changes places cannot be treated fairly one by one.

pub(crate) mod fair;
pub(crate) mod graph;
pub(crate) mod labels;
mod lasso;
pub(crate) mod obligation;

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fencepost_model::action_kind::ActionKind;
use fencepost_model::ids::ClientId;
use fencepost_model::mutation::{CheckerMutation, Mutation};
use fencepost_model::properties::Property;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::{Service, Settings as _};
use fencepost_model::trace::{Lasso as Endless, Trace};
use fencepost_model::work_queue::QueueItems;
use fencepost_model::world::Action;

use self::graph::{CycleCriterion, Graph, Node, Strength};
use self::labels::EdgeLabels;
use self::obligation::{CLIENTS_MAX, Obligation, OpenFacts};
use crate::engine::Marks;
use crate::engine::seen::{Seen, WholeStates};
use crate::explain::concretise_lasso;
use crate::limits::Progress;
use crate::options::Options;
use crate::outcome::InternalError;
use crate::reduction::{Collapsed, Form, Pool, Stepper, Subsumption, Successor};
use crate::worlds::panicked;

/// The most transitions that are kept.
const EDGES_MAX: u64 = 200_000_000;

/// How many states are expanded between two questions to the supervisor.
const ROUND: u64 = 256;

/// The state graph of a scenario.
pub(crate) struct Liveness<P: Service> {
    scenario: Scenario<P>,
    graph: Graph,
    /// For each state: what is open in it.
    facts: Vec<OpenFacts>,
    /// For each label: the clients that enter.
    enters: Vec<u32>,
    pub(crate) depth: u64,
    pub(crate) cut: Option<String>,
    pub(crate) marks: Marks,
}

impl<P: Service> Liveness<P> {
    /// Builds the graph.
    ///
    /// # Errors
    /// The model panicked: an internal error.
    pub(crate) fn build(scenario: Scenario<P>, options: &Options) -> Result<Self, InternalError> {
        let mut build = Build::new(&scenario, options);
        build.run()?;
        let Build { graph, facts, labels, depth, cut, marks, .. } = build;
        Ok(Liveness { graph, facts, enters: labels.enters, depth, cut, marks, scenario })
    }

    /// States and transitions.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.facts.len() as u64, self.graph.edges_len())
    }

    /// An endless fair run that breaks the promise.
    ///
    /// # Errors
    /// It could not be repeated: an internal error.
    pub(crate) fn violation(&self, property: Property) -> Result<Option<Trace<P>>, InternalError> {
        for obligation in Obligation::of(&self.scenario, property) {
            let is_open = |node: Node| obligation.is_open(self.facts[node as usize]);
            let stays_open = |label: u16| {
                let counts = !self.scenario.is_mutated(CheckerMutation::EntriesLeaveItOpen);
                obligation.stays_open(if counts { self.enters[usize::from(label)] } else { 0 })
            };
            let question = CycleCriterion { is_open: &is_open, stays_open: &stays_open };
            if let Some(component) = fair::component(&self.graph, &question) {
                let lasso = lasso::lasso(&self.graph, &question, &component);
                let state = self.facts[component[0] as usize];
                return self.trace(&lasso, property, obligation.waiting(&self.scenario, state)).map(Some);
            }
        }
        Ok(None)
    }

    fn trace(
        &self,
        lasso: &lasso::Lasso,
        property: Property,
        waiting: Vec<ClientId>,
    ) -> Result<Trace<P>, InternalError> {
        let form = Form::new(&self.scenario, false);
        let mut world = form.start(&self.scenario);
        let mut actions = Vec::new();
        let mut path = Vec::new();
        for place in lasso.stem.iter().chain(&lasso.round) {
            self.scenario.enabled(&world, &mut actions);
            let action = actions[usize::from(*place)];
            let before = world.clone();
            let step = world.state_mut().step(&self.scenario, &action);
            form.renew(&mut world, &before, &step);
            path.push((action, world.clone()));
        }
        let left = path.last().map_or(&world, |(_, world)| world).unhandled(&self.scenario);
        let message = self.complaint(property, &waiting, left);
        let endless = Endless { from: lasso.stem.len(), property, message };
        concretise_lasso(&self.scenario, &form, path, endless)
    }

    fn complaint(&self, property: Property, waiting: &[ClientId], left: QueueItems) -> String {
        let names: Vec<String> = waiting.iter().map(ToString::to_string).collect();
        let (names, tries) = (names.join(" and "), if waiting.len() == 1 { "tries" } else { "try" });
        match property {
            Property::EveryItemHandled => format!("{left} {} never handled", if left.is_one() { "is" } else { "are" }),
            Property::EventuallyAcquired if self.scenario.service.capacity() > 1 => {
                format!("a slot is free, and {names} {tries} for ever")
            }
            Property::EventuallyAcquired => format!("the lock stays free while {names} {tries} for ever"),
            _ => format!("{names} {tries} for ever and never enters"),
        }
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

/// A graph while it is built, breadth first.
struct Build<'a, P: Service> {
    scenario: &'a Scenario<P>,
    options: &'a Options,
    graph: Graph,
    facts: Vec<OpenFacts>,
    labels: EdgeLabels<P>,
    seen: SeenNodes,
    /// States to expand, with their levels.
    queue: VecDeque<(Collapsed, u64)>,
    /// States found.
    states: u32,
    form: Form,
    stepper: Stepper<P>,
    depth: u64,
    cut: Option<String>,
    marks: Marks,
}

impl<'a, P: Service> Build<'a, P> {
    fn new(scenario: &'a Scenario<P>, options: &'a Options) -> Self {
        let form = Form::new(scenario, false);
        Build {
            stepper: Stepper::new(scenario, form.normal(), Pool::of(scenario, options.exact), Subsumption::none(), 1),
            scenario,
            options,
            graph: Graph::new(scenario.mutation),
            facts: Vec::new(),
            labels: EdgeLabels::new(),
            seen: SeenNodes::of(scenario.mutation, options.exact),
            queue: VecDeque::new(),
            states: 0,
            form,
            depth: 0,
            cut: None,
            marks: Marks::default(),
        }
    }

    fn run(&mut self) -> Result<(), InternalError> {
        let start = self.stepper.collapse(&self.form.start(self.scenario));
        self.number(start, 0);
        let mut actions = Vec::new();
        while let Some((world, level)) = self.queue.pop_front() {
            self.cut = self.must_stop(level);
            if self.cut.is_some() {
                // Nothing is known of those that were not looked at, and nothing leads on from them.
                self.facts.resize(self.states as usize, OpenFacts::default());
                break;
            }
            let expand = || self.expand(&world, level, &mut actions);
            if let Err(panic) = catch_unwind(AssertUnwindSafe(expand)) {
                return Err(InternalError::of_panic(panicked("a step of the state graph", &*panic)));
            }
        }
        Ok(())
    }

    fn must_stop(&self, level: u64) -> Option<String> {
        if self.scenario.clients > CLIENTS_MAX {
            return Some(format!("the {CLIENTS_MAX} clients that a state graph tells apart"));
        }
        let expanded = self.graph.len() as u64;
        let limits = self.options.limits;
        if limits.states.is_some_and(|states| expanded >= states) {
            return limits.states.map(|states| format!("--max-states {states}"));
        }
        if limits.depth.is_some_and(|depth| level >= depth) {
            return limits.depth.map(|depth| format!("--max-depth {depth}"));
        }
        if self.graph.edges_len() >= EDGES_MAX {
            return Some(format!("the {EDGES_MAX} transitions that a state graph may have"));
        }
        if !expanded.is_multiple_of(ROUND) {
            return None;
        }
        let (states, transitions) = (u64::from(self.states), self.graph.edges_len());
        let progress = Progress { states, transitions, frontier: states - expanded, depth: level + 1 };
        self.options.supervisor.stop(&progress)
    }

    fn expand(&mut self, state: &Collapsed, level: u64, actions: &mut Vec<Action<P>>) {
        let world = self.stepper.open(state.parts());
        self.facts.push(OpenFacts::of(self.scenario, world));
        self.scenario.enabled(world, actions);
        let mut edges = Vec::with_capacity(actions.len());
        self.stepper.ask(self.scenario, &*actions);
        for (place, action) in actions.iter().enumerate() {
            let Successor { to, reached, .. } = self.stepper.step(self.scenario, self.form.normal(), (place, action));
            self.marks.add(Marks { reached: reached.0, kinds: action.kind().bit() });
            let label = self.labels.of(self.scenario, &mut self.graph, action, reached);
            edges.push((self.number(to, level + 1), label));
        }
        self.graph.push(edges);
    }

    /// The number of a state; a new one is queued. They are expanded in the order of their numbers.
    fn number(&mut self, state: Collapsed, level: u64) -> Node {
        if let Some(known) = self.seen.insert(&state, self.states) {
            return known;
        }
        self.states = self.states.checked_add(1).expect("there are fewer states than transitions");
        self.depth = level + 1;
        self.queue.push_back((state, level));
        self.states - 1
    }
}

/// How often an action of this class must be taken, if it is fair.
fn strength<P: Service>(scenario: &Scenario<P>, action: &Action<P>) -> Option<Strength> {
    let fairness = &scenario.fairness;
    let is_among = |kinds: &[ActionKind]| kinds.contains(&action.kind());
    match action {
        Action::Advance(_) if is_among(&fairness.weak) || is_among(&fairness.strong) => Some(Strength::Always),
        _ if is_among(&fairness.strong) => Some(Strength::Strong),
        _ if is_among(&fairness.weak) => Some(Strength::Weak),
        _ => None,
    }
}
