//! An execution with every state that it passed, for checks that look back.

use crate::monitor::{Observed, ObservedStep};
use crate::scenario::Scenario;
use crate::service::Service;
use crate::trace::Trace;
use crate::world::Action;

/// An execution: its scenario, its steps, and the states between them.
pub struct Execution<P: Service> {
    /// The scenario by whose rules it was executed.
    pub scenario: Scenario<P>,
    /// For an endless execution: the number of steps before the cycle.
    pub repeats_from: Option<usize>,
    /// The states, one more than there are steps: the state before each step, and the last state.
    worlds: Vec<Observed<P>>,
    steps: Vec<(Action<P>, ObservedStep<P>)>,
}

/// One step of an execution, with the states around it.
pub struct Moment<'a, P: Service> {
    /// The number of the step, from 1.
    pub number: usize,
    /// What happened.
    pub action: &'a Action<P>,
    /// The facts and messages that the step produced.
    pub step: &'a ObservedStep<P>,
    /// The state before it.
    pub before: &'a Observed<P>,
    /// The state after it.
    pub after: &'a Observed<P>,
}

impl<P: Service> Execution<P> {
    /// Executes actions, each of which must be enabled.
    pub fn of<'a>(scenario: &Scenario<P>, actions: impl IntoIterator<Item = &'a Action<P>>) -> Self {
        let mut worlds = vec![scenario.observed()];
        let mut steps = Vec::new();
        for action in actions {
            let mut world = worlds.last().expect("it begins with one").clone();
            let step = world.step(scenario, action);
            worlds.push(world);
            steps.push((*action, step));
        }
        Execution { scenario: scenario.clone(), repeats_from: None, worlds, steps }
    }

    /// Executes a trace. The trace must be possible: a recorder wrote it, or it was replayed.
    pub fn of_trace(trace: &Trace<P>) -> Self {
        let actions = trace.steps.iter().map(|line| &line.action);
        let repeats_from = trace.header.lasso.as_ref().map(|lasso| lasso.from);
        Execution { repeats_from, ..Execution::of(&trace.header.scenario, actions) }
    }

    /// The same, with its steps after the first `from` repeated for ever.
    #[must_use]
    pub fn repeating_from(self, from: usize) -> Self {
        Execution { repeats_from: Some(from), ..self }
    }

    /// The steps in order.
    pub fn moments(&self) -> impl Iterator<Item = Moment<'_, P>> {
        let around = self.worlds.iter().zip(&self.worlds[1..]);
        (1..).zip(&self.steps).zip(around).map(|((number, (action, step)), (before, after))| Moment {
            number,
            action,
            step,
            before,
            after,
        })
    }

    /// The states in order, from the first to the last.
    pub fn worlds(&self) -> &[Observed<P>] {
        &self.worlds
    }

    /// Looks for a step that does not satisfy the check.
    ///
    /// # Errors
    /// The first such step, with the sentence of the check.
    pub fn each(&self, mut check: impl FnMut(&Moment<'_, P>) -> Result<(), String>) -> Result<(), String> {
        self.moments().try_for_each(|moment| {
            check(&moment).map_err(|what| format!("step {}, “{}”: {what}", moment.number, moment.action))
        })
    }
}
