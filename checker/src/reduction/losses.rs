//! Losses without a difference: where the delay of messages has no bound, a message that is lost is one that never arrives.
//!
//! Such losses are not explored. An execution with a loss is one without it, in which the message stays in flight for ever:
//!
//! * A loss states no fact, and changes nothing but the message and the budget of losses, which no process and no promise sees.
//! * Whatever can follow with fewer messages in flight can follow with more of them: a message in flight prevents nothing, for its delay has no
//!   bound, and where several are alike either of them may arrive.
//!
//! * Where faults are kept to places, a message in flight only makes more places: a place is an action that may be taken.
//!
//! So a shortest violation has no loss, and verdicts hold for any number of losses. A fault of the service or a property that the scenario
//! defines may look at messages; where there is one, losses are explored. Budgets that stop a loss from being explored are printed as before.

use fencepost_model::mutation::CheckerMutation;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::Action;

/// Whether losses are explored.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Losses {
    are_left_out: bool,
}

impl Losses {
    /// Losses are explored.
    pub(crate) fn explored() -> Self {
        Losses::default()
    }

    /// Those of a scenario.
    pub(crate) fn of<S: Service>(scenario: &Scenario<S>) -> Self {
        let has_bound =
            scenario.synchrony.message_delay.is_some() && !scenario.is_mutated(CheckerMutation::LossLeftOutInTime);
        let is_looked_at = scenario.has_own_promises() || scenario.budget.caps().next().is_some();
        Losses { are_left_out: scenario.budget.losses > 0 && !has_bound && !is_looked_at }
    }

    /// What a verdict says of it.
    pub(crate) fn sentence(self) -> Option<&'static str> {
        self.are_left_out
            .then_some("losses are not explored: a message without a bound on its delay may stay in flight for ever")
    }

    /// Takes losses out of what may happen; whether there was one.
    pub(crate) fn leave_out<S: Service>(self, actions: &mut Vec<Action<S>>) -> bool {
        let before = actions.len();
        if self.are_left_out {
            actions.retain(|action| !matches!(action, Action::Lose(_)));
        }
        actions.len() < before
    }
}
