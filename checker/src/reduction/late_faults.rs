//! Losses and pauses as late as possible: they are explored only where they let time pass.
//!
//! A message in flight and a process that is up prevent nothing but that time passes: a message arrives no later than its deadline, a process
//! wakes up no later than its bound. They *press* then. All that a loss or a pause makes possible is that time passes all the same. So one is explored
//! only where what it takes away presses, and where the losses and pauses that are left are enough to take away all else that presses. Where the delay of
//! messages has no bound, no loss is explored: a message that is lost is one that never arrives.
//!
//! The shortest violation from every world is as long as without this, and the choice depends on the world alone, so counts are the same for any
//! number of workers. Take a shortest execution that breaks a promise, and move each loss and each pause behind the next action, as often as possible:
//!
//! * **Any other action** can be taken before it as well, with the same facts, and the two lead to the same world. A message that is lost later is in
//!   flight for longer, which prevents no action but that time passes; of several that are alike one arrives and another one is lost, and the one with
//!   the earlier deadline is taken each time. A process that is paused takes part in no action until it goes on again, and a pause that ends at once would
//!   be two steps too many.
//! * **Time** can pass before it as well, if nothing presses before it.
//! * **No promise looks.** A loss and a pause state no fact and change nothing that a promise looks at, so neither of them is the last action. What may
//!   look at who is paused, or at more than facts, switches this off: a property that the scenario defines, one that looks at every world, a fault
//!   of the service, an operator. So do places of faults, which depend on what comes before and after. Where losses are not explored at all, only properties of
//!   the scenario and faults of the service forbid it: no other one sees messages, and a place is an action, of which messages in flight only make more. For
//!   pauses a service that notices them ([`Service::notices_pauses`]) forbids it, too, and so do answers that take no time, because they reach only who is up.
//!
//! Now all of them stand in groups right before time passes. If the first one of a group takes away nothing that presses, it changes places with
//! the next one; if none does, time can pass before all of them. So a group begins with one that takes away something that presses, and the rest of it takes
//! away all that still presses, within the budgets. A deadline of the service itself is lifted by neither of them; it is not counted, so a little more is
//! explored than has to be.
//!
//! Together with the other reductions: among the actions that are explored here in a world there is one that leads nearer to a violation, by one step, in the graph
//! of *all* actions. A world that covers another one is no further from a violation in that graph; and the set of a client
//! ([partial orders](super::partial_order)) has an action that leads no further away from one and leaves less work at hand.
//!
//! The law `late-faults` checks this on random walks: what is left out commutes with whatever can follow it, and is not needed to let time pass. The law
//! `lateness` compares whole searches.

use fencepost_model::action_kind::ActionKind;
use fencepost_model::ids::ProcessId;
use fencepost_model::inline_vec::InlineVec;
use fencepost_model::mutation::{CheckerMutation, Mutation};
use fencepost_model::scenario::{Replies, Scenario};
use fencepost_model::service::Service;
use fencepost_model::world::{Action, Fault, World};

/// Which losses and pauses are explored.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct LateFaults {
    losses: Explored,
    pauses: Explored,
    mutation: Option<Mutation>,
}

/// Where faults of a kind are explored.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
enum Explored {
    #[default]
    Everywhere,
    /// Where they let time pass.
    Late,
    Nowhere,
}

impl LateFaults {
    /// Every loss and every pause is explored.
    pub(crate) fn none() -> Self {
        LateFaults::default()
    }

    /// Those of a scenario.
    pub(crate) fn of<S: Service>(scenario: &Scenario<S>) -> Self {
        let Scenario { budget, mutation, .. } = scenario;
        let is = |mutation: CheckerMutation| scenario.is_mutated(mutation);
        let is_seen = scenario.has_own_promises() || budget.caps().next().is_some();
        let has_places = !scenario.fault_places.is_empty() && !is(CheckerMutation::LateFaultsIgnorePlaces);
        let has_onlookers = scenario.looks_at_every_world() && !is(CheckerMutation::LateFaultsIgnorePromises);
        let is_watched = is_seen || has_places || has_onlookers || budget.operator > 0;
        let has_bound = scenario.synchrony.message_delay.is_some() && !is(CheckerMutation::LossLeftOutInTime);
        let is_forbidden = if has_bound { is_watched } else { is_seen };
        let losses = if budget.losses == 0 || is_forbidden {
            Explored::Everywhere
        } else if has_bound {
            Explored::Late
        } else {
            Explored::Nowhere
        };
        let is_noticed = S::notices_pauses(&scenario.service) && !is(CheckerMutation::LatePausesIgnoreService);
        let travels = scenario.network.replies == Replies::Travel || is(CheckerMutation::LatePausesIgnoreReplies);
        let may_be_late = budget.pauses > 0 && !is_watched && !is_noticed && travels;
        let pauses = if may_be_late { Explored::Late } else { Explored::Everywhere };
        LateFaults { losses, pauses, mutation: *mutation }
    }

    /// Whether every loss and every pause is explored.
    pub(crate) fn is_none(self) -> bool {
        self.losses == Explored::Everywhere && self.pauses == Explored::Everywhere
    }

    /// Whether losses are explored, if there are some.
    pub(crate) fn has_losses(self) -> bool {
        self.losses != Explored::Nowhere
    }

    /// What a verdict says of it.
    pub(crate) fn sentences(self) -> impl Iterator<Item = &'static str> {
        let losses = match self.losses {
            Explored::Everywhere => None,
            Explored::Late => Some("losses are explored only where they let time pass, as late as possible"),
            Explored::Nowhere => {
                Some("losses are not explored: a message without a bound on its delay may stay in flight for ever")
            }
        };
        let pauses = (self.pauses == Explored::Late)
            .then_some("pauses are explored only where they let time pass, as late as possible");
        losses.into_iter().chain(pauses)
    }

    fn is(self, mutation: CheckerMutation) -> bool {
        self.mutation == Some(mutation.into())
    }

    /// Takes the losses and pauses that are not explored out of what may happen in a world. Returns their kinds, and those of what they alone make
    /// possible, as bits.
    pub(crate) fn leave_out<S: Service>(
        self,
        scenario: &Scenario<S>,
        world: &World<S>,
        actions: &mut Vec<Action<S>>,
    ) -> u64 {
        let concerns = |action: &Action<S>| match action {
            Action::Lose(_) => self.losses != Explored::Everywhere,
            Action::Fault(Fault::Pause(_)) => self.pauses != Explored::Everywhere,
            _ => false,
        };
        if self.is_none() || !actions.iter().any(concerns) {
            return 0;
        }
        let pressing = Pressing::in_world(scenario, world);
        let mut left_out = 0;
        actions.retain(|action| {
            let is_explored = !concerns(action) || self.lets_time_pass(scenario, world, &pressing, action);
            if !is_explored {
                left_out |= action.kind().bit();
                if let Action::Fault(Fault::Pause(_)) = action {
                    left_out |= ActionKind::Resume.bit();
                }
            }
            is_explored
        });
        left_out
    }

    /// Whether a loss or a pause takes away something that presses, and those that are left can take away the rest.
    fn lets_time_pass<S: Service>(
        self,
        scenario: &Scenario<S>,
        world: &World<S>,
        pressing: &Pressing,
        action: &Action<S>,
    ) -> bool {
        let mut rest = pressing.clone();
        let (mut losses, mut pauses) = (usize::from(world.left.losses), usize::from(world.left.pauses));
        match action {
            Action::Lose(envelope) => {
                if self.losses == Explored::Nowhere || !world.is_pressing(scenario, envelope) {
                    return false;
                }
                rest.lose(envelope.to);
                losses -= 1;
            }
            Action::Fault(Fault::Pause(process)) => {
                if !rest.pause(*process, self.is(CheckerMutation::LatePausesIgnoreWakes)) {
                    return false;
                }
                pauses -= 1;
            }
            _ => return true,
        }
        if self.is(CheckerMutation::LateFaultsStandAlone) {
            rest.is_gone_with(0, 0)
        } else {
            rest.is_gone_with(losses, pauses)
        }
    }
}

/// What presses, by the process that it waits for.
#[derive(Clone, Default)]
struct Pressing(InlineVec<(ProcessId, PressingOn), 4>);

/// What presses on one process.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
struct PressingOn {
    messages: usize,
    wakes: usize,
}

impl Pressing {
    fn in_world<S: Service>(scenario: &Scenario<S>, world: &World<S>) -> Self {
        let mut pressing = Pressing::default();
        for process in world.processes() {
            let wakes = world.pressing_wakes(scenario, process);
            if wakes > 0 {
                pressing.on(process).wakes = wakes;
            }
        }
        for envelope in world.network.iter().filter(|envelope| world.is_pressing(scenario, envelope)) {
            pressing.on(envelope.to).messages += 1;
        }
        pressing
    }

    fn on(&mut self, process: ProcessId) -> &mut PressingOn {
        let known = self.0.iter().position(|(other, _)| *other == process);
        let place = known.unwrap_or_else(|| {
            self.0.push((process, PressingOn::default()));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }

    /// Takes away a message to a process.
    fn lose(&mut self, to: ProcessId) {
        self.on(to).messages -= 1;
    }

    /// Takes away what presses on a process; false if that is nothing.
    fn pause(&mut self, process: ProcessId, ignores_wakes: bool) -> bool {
        let PressingOn { messages, wakes } = std::mem::take(self.on(process));
        messages > 0 || wakes > 0 && !ignores_wakes
    }

    /// Whether this number of losses and pauses can take away all of it: pauses first what only they take away, then the most messages.
    fn is_gone_with(&self, losses: usize, pauses: usize) -> bool {
        let mut each: InlineVec<(bool, usize), 4> = InlineVec::new();
        let mut lost = 0;
        for (process, PressingOn { messages, wakes }) in self.0.iter().copied() {
            match process {
                // What the lock protects does not pause.
                ProcessId::Resource => lost += messages,
                ProcessId::Client(_) | ProcessId::Server => each.push((wakes > 0, messages)),
            }
        }
        each.sort_unstable_by(|one, other| other.cmp(one));
        let rest = || each.iter().skip(pauses);
        lost += rest().map(|(_, messages)| messages).sum::<usize>();
        lost <= losses && rest().all(|(has_wakes, _)| !has_wakes)
    }
}

#[cfg(test)]
mod tests {
    use fencepost_model::ids::ClientId;

    use super::*;

    #[test]
    fn pauses_take_away_what_only_they_can_and_then_the_most() {
        let on = |messages, wakes| PressingOn { messages, wakes };
        let client = |place| ProcessId::Client(ClientId::of(place));
        let pressing = Pressing(
            [
                (client(0), on(1, 1)),
                (client(1), on(3, 0)),
                (ProcessId::Server, on(2, 0)),
                (ProcessId::Resource, on(1, 0)),
            ]
            .into_iter()
            .collect(),
        );
        let needs = |pauses| (0..9).find(|losses| pressing.is_gone_with(*losses, pauses));
        assert_eq!([0, 1, 2, 3, 4].map(needs), [None, Some(6), Some(3), Some(1), Some(1)]);
    }
}
