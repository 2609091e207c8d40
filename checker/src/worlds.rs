//! A scenario as a space for our own engine. States are worlds in normal form.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fencepost_model::goal::Reached;
use fencepost_model::hash::Packer;
use fencepost_model::protocol::Protocol;
use fencepost_model::scenario::Scenario;
use fencepost_model::trace::Trace;
use fencepost_model::world::{Action, World};
use std::hash::{Hash, Hasher};

use crate::check::InternalError;
use crate::engine::{Marks, Space, Transition};
use crate::explain::concretise;
use crate::form::Form;

/// The space of a scenario.
pub(crate) struct Worlds<P: Protocol> {
    scenario: Scenario<P>,
    pub(crate) form: Form,
}

impl<P: Protocol> Worlds<P> {
    pub(crate) fn new(scenario: Scenario<P>, uses_symmetry: bool) -> Self {
        Worlds { form: Form::new(&scenario, uses_symmetry), scenario }
    }

    fn start(&self) -> World<P> {
        let mut world = self.scenario.start();
        self.form.apply(&self.scenario, &mut world);
        world
    }

    /// The run of the concrete world that takes these action indices.
    pub(crate) fn trace(&self, path: &[u16]) -> Result<Trace<P>, InternalError> {
        let mut world = self.start();
        let mut actions = Vec::new();
        let path = path.iter().skip(1).map(|action| {
            self.scenario.enabled(&world, &mut actions);
            let step = self.scenario.step(&mut world, &actions[usize::from(*action)]);
            self.form.apply(&self.scenario, &mut world);
            (world.clone(), !step.breaches.is_empty())
        });
        concretise(&self.scenario, &self.form, path)
    }
}

/// By what a world in form is remembered.
pub(crate) fn fingerprint<P: Protocol>(world: &World<P>) -> u64 {
    let mut fingerprint = Packer::default();
    world.hash(&mut fingerprint);
    fingerprint.finish()
}

/// The bit that stands for the action's kind.
pub(crate) fn kind_bit<P: Protocol>(action: &Action<P>) -> u64 {
    1 << action.kind_place()
}

/// What is said of a panic.
pub(crate) fn panicked(label: &str, panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    format!("the model panicked at “{label}”: {}", text.unwrap_or("without a word"))
}

/// What is allocated once and used for every state.
pub(crate) struct Scratch<P: Protocol> {
    actions: Vec<Action<P>>,
    /// Worlds that are no longer needed.
    spare: Vec<Box<World<P>>>,
}

impl<P: Protocol> Default for Scratch<P> {
    fn default() -> Self {
        Scratch { actions: Vec::new(), spare: Vec::new() }
    }
}

/// So many worlds are kept to be used again.
const SPARE: usize = 1024;

impl<P: Protocol> Space for Worlds<P> {
    /// Boxed: a world is two kilobytes, and is handed on several times.
    type State = Box<World<P>>;
    type Scratch = Scratch<P>;

    fn starts(&self) -> Vec<Self::State> {
        vec![Box::new(self.start())]
    }

    fn recycle(&self, state: Self::State, scratch: &mut Scratch<P>) {
        if scratch.spare.len() < SPARE {
            scratch.spare.push(state);
        }
    }

    fn fingerprint(&self, state: &Self::State) -> u64 {
        fingerprint(state)
    }

    fn is_broken(&self, state: &Self::State, fingerprint: u64) -> bool {
        self.form.sample(&self.scenario, state, fingerprint);
        false
    }

    fn expand(
        &self,
        last: &Self::State,
        scratch: &mut Scratch<P>,
        mut found: impl FnMut(Transition<Self::State>),
    ) -> Result<(), String> {
        let taken = Cell::new(None);
        let expand = || {
            let Scratch { actions, spare } = scratch;
            self.scenario.enabled(last, actions);
            for (place, action) in (0..).zip(actions.iter()) {
                taken.set(Some(*action));
                let mut state = match spare.pop() {
                    Some(mut state) => {
                        World::clone_from(&mut state, last);
                        state
                    }
                    None => last.clone(),
                };
                let step = self.scenario.step(&mut state, action);
                self.form.apply(&self.scenario, &mut state);
                let is_breach = !step.breaches.is_empty();
                if is_breach || state != *last {
                    let marks = Marks { reached: Reached::by(&step.facts).0, kinds: kind_bit(action) };
                    found(Transition { action: place, state, is_breach, marks });
                }
            }
        };
        catch_unwind(AssertUnwindSafe(expand)).map_err(|panic| {
            let label = taken.get().map_or_else(|| "listing what may happen".to_owned(), |action| action.to_string());
            panicked(&label, &*panic)
        })
    }
}
