//! What can follow the states of a graph. They are looked at in batches, so that several threads can do so at the same time.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::Action;

use super::labels::EdgeLabel;
use super::obligation::OpenFacts;
use crate::engine::{Chunk, Marks};
use crate::outcome::InternalError;
use crate::reduction::{Collapsed, Form, Numbers, PackedChunk, SharedPool, Stepper, Subsumption, Successor};
use crate::worlds::panicked;

/// Some states in the order of their numbers, and what was found of them.
pub(super) struct Batch<P: Service> {
    states: PackedChunk,
    /// Of each state, as far as the model did not panic.
    pub(super) found: Vec<Expanded>,
    /// The edges of all of them, one state after the other: each with its target, and the number of its label at the expander.
    pub(super) edges: Vec<(Collapsed, u16)>,
    /// The labels that the expander has not met before.
    pub(super) labels: Vec<EdgeLabel<P>>,
    /// What happened at the state after the last one of which something was found.
    pub(super) failure: Option<InternalError>,
}

/// What was found of a state.
pub(super) struct Expanded {
    pub(super) facts: OpenFacts,
    pub(super) marks: Marks,
    /// How many edges it has.
    pub(super) edges: usize,
}

impl<P: Service> Batch<P> {
    pub(super) fn of(states: PackedChunk) -> Self {
        Batch { states, found: Vec::new(), edges: Vec::new(), labels: Vec::new(), failure: None }
    }
}

/// Looks at states; each thread has one.
pub(super) struct Expander<'a, P: Service> {
    scenario: &'a Scenario<P>,
    form: &'a Form,
    stepper: Stepper<P>,
    actions: Vec<Action<P>>,
    /// The labels that it has met, with its own numbers.
    labels: BTreeMap<EdgeLabel<P>, u16>,
}

impl<'a, P: Service> Expander<'a, P> {
    /// One of this number of expanders, which share a pool.
    pub(super) fn new(scenario: &'a Scenario<P>, form: &'a Form, pool: SharedPool<P>, expanders: usize) -> Self {
        let stepper = Stepper::new(scenario, form.normal(), pool, Subsumption::none(), expanders);
        Expander { scenario, form, stepper, actions: Vec::new(), labels: BTreeMap::new() }
    }

    /// The initial state.
    pub(super) fn start(&mut self) -> Collapsed {
        self.stepper.collapse(&self.form.start(self.scenario))
    }

    /// Looks at each state of a batch, until the model panics.
    pub(super) fn expand(&mut self, batch: &mut Batch<P>) {
        let Batch { states, found, edges, labels, failure } = batch;
        while let Some(state) = states.next() {
            match catch_unwind(AssertUnwindSafe(|| self.look(state, edges, labels))) {
                Ok(expanded) => found.push(expanded),
                Err(panic) => {
                    *failure = Some(InternalError::of_panic(panicked("a step of the state graph", &*panic)));
                    return;
                }
            }
        }
    }

    fn look(&mut self, state: &Numbers, edges: &mut Vec<(Collapsed, u16)>, news: &mut Vec<EdgeLabel<P>>) -> Expanded {
        let Expander { scenario, form, stepper, actions, labels } = self;
        let world = stepper.open(state);
        let facts = OpenFacts::of(scenario, world);
        scenario.enabled(world, actions);
        stepper.ask(scenario, &*actions);
        let mut marks = Marks::default();
        for (place, action) in actions.iter().enumerate() {
            let Successor { to, reached, .. } = stepper.step(scenario, form.normal(), (place, action));
            marks.add(Marks { reached: reached.0, kinds: action.kind().bit() });
            let label = EdgeLabel::of(scenario, action, reached);
            let next = u16::try_from(labels.len()).expect("there are few labels");
            let number = *labels.entry(label).or_insert(next);
            if number == next {
                news.push(label);
            }
            edges.push((to, number));
        }
        Expanded { facts, marks, edges: actions.len() }
    }
}
