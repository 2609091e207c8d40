//! The goals of a scenario, and the set of reached goals.

use std::fmt;

use serde::{Deserialize, Deserializer};

use super::Scenario;
use crate::fact::{Ending, Fact, Refusal};
use crate::goal::{CLIENT_BITS, Goal, Reached};
use crate::service::{Event, Service};

/// A goal of a scenario built in Rust, beside those of the kernel and of the service.
pub struct OwnGoal<S: Service> {
    /// The goal.
    pub goal: Goal,
    /// Whether a fact reaches it.
    pub is_reached: fn(&Fact<S>) -> bool,
}

/// Reads the goals of a scenario: the kernel's, and its service's.
pub(super) fn read<'de, D: Deserializer<'de>>(own: &[Goal], from: D) -> Result<Vec<Goal>, D::Error> {
    let names = Vec::<String>::deserialize(from)?;
    let known = || Goal::KERNEL.iter().chain(own);
    let goal = |name: &String| {
        known().find(|goal| goal.name() == name).copied().ok_or_else(|| {
            let known: Vec<&str> = known().map(|goal| goal.name()).collect();
            let known = known.join("`, `");
            serde::de::Error::custom(format!("unknown variant `{name}`, expected one of `{known}`"))
        })
    };
    names.iter().map(goal).collect()
}

impl<S: Service> Scenario<S> {
    /// The goals that these facts reach.
    pub fn reached(&self, facts: &[Fact<S>]) -> Reached {
        facts.iter().fold(Reached(0), |reached, fact| Reached(reached.0 | self.bits(fact)))
    }

    fn bits(&self, fact: &Fact<S>) -> u64 {
        let own = (0..).zip(&self.own_goals).filter(|(_, own)| (own.is_reached)(fact));
        let first = Goal::KERNEL.len() + S::GOALS.len();
        own.fold(common_bits(fact), |bits, (place, _): (usize, _)| bits | 1 << (first + place))
    }

    /// The index of a goal among those of the scenario; none if the scenario does not have it.
    pub fn place_of(&self, goal: Goal) -> Option<usize> {
        let own = self.own_goals.iter().map(|own| own.goal);
        Goal::KERNEL.iter().chain(S::GOALS).copied().chain(own).position(|other| other == goal)
    }

    /// Whether the goal is among those reached.
    pub fn has_reached(&self, reached: Reached, goal: Goal) -> bool {
        if goal == Goal::EVERY_CLIENT_ENTERS {
            let all = (1u64 << usize::from(self.clients).min(CLIENT_BITS)) - 1;
            return (reached.0 >> 32) & all == all;
        }
        self.place_of(goal).is_some_and(|place| reached.0 & (1 << place) != 0)
    }
}

/// The goals of kernel and service that a fact reaches.
fn common_bits<S: Service>(fact: &Fact<S>) -> u64 {
    let goal = match fact {
        Fact::Entered { client, .. } => return Reached::bit(*client),
        Fact::Refused { why: Refusal::Held, .. } => Goal::CONTENDED,
        Fact::Refused { why: Refusal::LockDelay, .. } => Goal::LOCK_DELAYED,
        Fact::Expired { .. } => Goal::EXPIRED,
        Fact::Ended { .. } => Goal::CHECK_FAILED,
        Fact::Freed { by: Ending::Invalidated } => Goal::INVALIDATED,
        Fact::Freed { by: Ending::Deleted } => Goal::DELETED,
        Fact::Written { .. } => Goal::WRITTEN,
        Fact::WriteRefused { .. } => Goal::WRITE_REFUSED,
        Fact::Cut { .. } => Goal::LAP_CUT,
        Fact::Handled { .. } => Goal::HANDLED,
        Fact::Service(event) => match event.goal() {
            Some(goal) => goal,
            None => return 0,
        },
        _ => return 0,
    };
    let place = Goal::KERNEL.iter().chain(S::GOALS).position(|other| *other == goal);
    1 << place.expect("a service lists the goals that its events reach")
}

impl<S: Service> Clone for OwnGoal<S> {
    fn clone(&self) -> Self {
        OwnGoal { ..*self }
    }
}

impl<S: Service> PartialEq for OwnGoal<S> {
    /// Two goals are equal if their names are equal.
    fn eq(&self, other: &Self) -> bool {
        self.goal == other.goal
    }
}

impl<S: Service> fmt::Debug for OwnGoal<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.goal, f)
    }
}
