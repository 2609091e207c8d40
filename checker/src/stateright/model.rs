//! Any stateright model as a space for our own engine.

use fencepost_model::hash::Fingerprinter;
use stateright::{Expectation, Model, Property};
use std::hash::{Hash, Hasher};

use crate::engine::{Marks, PlainChunk, Space, Transition};

/// A stateright model. Its `always` properties are promises; its boundary is kept; nothing else of it is looked at.
pub struct Searchable<M: Model> {
    model: M,
    promises: Vec<Property<M>>,
}

impl<M: Model> Searchable<M> {
    /// Takes over a model with its properties.
    pub fn new(model: M) -> Self {
        let is_promise = |property: &Property<M>| matches!(property.expectation, Expectation::Always);
        let promises = model.properties().into_iter().filter(is_promise).collect();
        Searchable { model, promises }
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }
}

impl<M> Space for Searchable<M>
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Hash + Send + 'static,
{
    type State = M::State;
    type Chunk = PlainChunk<M::State>;
    type Scratch = Vec<M::Action>;

    fn starts(&self) -> Vec<M::State> {
        self.model.init_states()
    }

    fn fingerprint(&self, state: &M::State) -> u64 {
        let mut fingerprint = Fingerprinter::default();
        state.hash(&mut fingerprint);
        fingerprint.finish()
    }

    fn is_broken(&self, state: &M::State) -> bool {
        self.promises.iter().any(|promise| !(promise.condition)(&self.model, state))
    }

    fn expand(
        &self,
        state: &M::State,
        actions: &mut Vec<M::Action>,
        mut found: impl FnMut(Transition<M::State>),
    ) -> Result<(), String> {
        self.model.actions(state, actions);
        for (action, taken) in (0..).zip(actions.drain(..)) {
            let Some(state) = self.model.next_state(state, taken) else { continue };
            if !self.model.within_boundary(&state) {
                continue;
            }
            found(Transition { action, state, is_violation: false, marks: Marks::default() });
        }
        Ok(())
    }
}
