//! A transition that comes out of the cache is the transition that the step would have taken.

use std::sync::Arc;

use fencepost_model::laws::{after, pick};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::time::Ticks;
use fencepost_model::world::Action;

use super::{LawViolation, require};
use crate::reduction::{NormalForm, Pool, Stepper, Subsumption, Symmetry, Unheard};

/// What a step did in one world is what it does in another with the same parts: the cache is kept from walk to walk.
///
/// # Errors
/// A transition of which the cache knows something else.
pub(super) fn lookup_is_invisible<P: Service>(scenario: &Scenario<P>, walks: &[Vec<u16>]) -> Result<(), LawViolation> {
    let unheard = Unheard::of(scenario);
    for (symmetry, unheard) in
        [(Symmetry::none(), Unheard::none()), (Symmetry::none(), unheard), (Symmetry::of(scenario), unheard)]
    {
        let form = NormalForm::new(scenario, symmetry).without(unheard);
        let pool = Pool::of(scenario, false);
        let mut stepper = Stepper::new(scenario, &form, Arc::clone(&pool), Subsumption::none(), 1);
        for choices in walks {
            let mut before = form.form(scenario.observed());
            let mut enabled = Vec::new();
            for choice in choices {
                scenario.enabled(&before, &mut enabled);
                let collapsed = stepper.collapse(&before);
                require(**stepper.open(collapsed.parts()) == *before, || {
                    "a world is not what was collapsed".to_owned()
                })?;
                // Time may pass by more than one tick: a search from the middle of an execution does that.
                let leap = Action::Advance(Ticks::new(2));
                let leap = scenario.is_enabled(&before, &leap).then_some(leap);
                stepper.ask(scenario, enabled.iter().chain(&leap));
                for (place, action) in enabled.iter().chain(&leap).enumerate() {
                    let (after, step) = after(scenario, &before, action);
                    let after = form.form(after);
                    let taken = stepper.step(scenario, &form, (place, action));
                    let is_same = taken.to == stepper.collapse(&after) && taken.to.fingerprint() == after.fingerprint();
                    require(is_same, || format!("{action} leads to another world"))?;
                    require(taken.is_violation != step.violations.is_empty(), || {
                        format!("{action}: other violations")
                    })?;
                    require(taken.reached == scenario.reached(&step.facts), || {
                        format!("{action} reaches other goals")
                    })?;
                    let again =
                        pool.lock().expect("no thread panics while it holds the pool").world(scenario, &taken.to);
                    require(again == *after, || format!("{action}: the parts are those of another world"))?;
                }
                let Some(action) = pick(&enabled, *choice) else { break };
                before = form.form(after(scenario, &before, action).0);
            }
        }
    }
    Ok(())
}
