//! A scenario as a space for our own engine. States are worlds in normal form.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fencepost_model::goal::Reached;
use fencepost_model::hash::Fingerprinter;
use fencepost_model::protocol::Protocol;
use fencepost_model::scenario::Scenario;
use fencepost_model::trace::Trace;
use fencepost_model::world::{Action, World};
use std::hash::{Hash, Hasher};

use crate::check::InternalError;
use crate::engine::{Marks, Space, Transition};
use crate::explain::concretise;

/// The space of a scenario.
pub(crate) struct Worlds<P: Protocol> {
    scenario: Scenario<P>,
}

impl<P: Protocol> Worlds<P> {
    pub(crate) fn new(scenario: Scenario<P>) -> Self {
        Worlds { scenario }
    }

    fn start(&self) -> World<P> {
        let mut world = self.scenario.start();
        self.scenario.normalise(&mut world);
        world
    }

    /// The run of the concrete world that takes these action indices.
    pub(crate) fn trace(&self, path: &[u16]) -> Result<Trace<P>, InternalError> {
        let mut world = self.start();
        let mut actions = Vec::new();
        let path = path.iter().skip(1).map(|action| {
            self.scenario.enabled(&world, &mut actions);
            let step = self.scenario.step(&mut world, &actions[usize::from(*action)]);
            self.scenario.normalise(&mut world);
            (world.clone(), !step.breaches.is_empty())
        });
        concretise(&self.scenario, path)
    }
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

impl<P: Protocol> Space for Worlds<P> {
    type State = World<P>;
    type Scratch = Vec<Action<P>>;

    fn starts(&self) -> Vec<World<P>> {
        vec![self.start()]
    }

    fn fingerprint(&self, state: &World<P>) -> u64 {
        let mut fingerprint = Fingerprinter::default();
        state.hash(&mut fingerprint);
        fingerprint.finish()
    }

    fn expand(
        &self,
        last: &World<P>,
        actions: &mut Vec<Action<P>>,
        mut found: impl FnMut(Transition<World<P>>),
    ) -> Result<(), String> {
        let taken = Cell::new(None);
        let expand = || {
            self.scenario.enabled(last, actions);
            for (place, action) in (0..).zip(actions.iter()) {
                taken.set(Some(*action));
                let mut state = last.clone();
                let step = self.scenario.step(&mut state, action);
                self.scenario.normalise(&mut state);
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
