//! The horizon of a scenario: instants further in the past are equivalent.

use crate::mutation::CheckerMutation;
use crate::resource::Accepts;
use crate::scenario::Scenario;
use crate::service::{Service, Settings as _};
use crate::time::Ticks;

/// For each kind of instant, how far back it matters, relative to the clock in scope; and the kind of tokens.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Horizon {
    /// Whether tokens are log positions.
    pub tokens_are_indexes: bool,
    /// Whether versions of the resource are counts, and no tokens.
    pub versions_are_counts: bool,
    /// The largest backward jump of a clock.
    pub back: Ticks,
    /// The earliest deadline that is distinguished from earlier ones.
    pub late: Ticks,
    /// The same for the end of a lease.
    pub until: Ticks,
    /// The same for a start time.
    pub elapsed: Ticks,
    /// The same for an instant of a ghost.
    pub since: Ticks,
}

impl Horizon {
    /// How far a clock of the scenario may jump back: it reaches instants that were past already.
    pub(crate) fn back<P: Service>(scenario: &Scenario<P>) -> Ticks {
        if scenario.budget.slips > 0 { scenario.clocks.skew.times(2) } else { Ticks::ZERO }
    }

    /// The horizon of a scenario.
    pub fn of<P: Service>(scenario: &Scenario<P>) -> Self {
        let back = Horizon::back(scenario);
        let late = scenario.synchrony.wake_delay.max(scenario.synchrony.server_delay).unwrap_or(Ticks::ZERO);
        let bounds = scenario.promises.iter().filter_map(|promise| promise.bound);
        let is = |mutation: CheckerMutation| scenario.is_mutated(mutation);
        // Mutants: the horizon is a tick too near, or 0.
        let less = |mutation| Ticks::new(i64::from(is(mutation)));
        let tokens_are_indexes = scenario.service.tokens_are_indexes();
        let back = if is(CheckerMutation::FallingClockForgotten) { Ticks::ZERO } else { back };
        let until = if is(CheckerMutation::UntilIsDeadline) { late } else { late.max(Ticks::new(1)) };
        let longest = if is(CheckerMutation::ElapsedForgotten) { Ticks::ZERO } else { scenario.service.longest() };
        Horizon {
            tokens_are_indexes: tokens_are_indexes && !is(CheckerMutation::TokensUnrenamed)
                || is(CheckerMutation::TokensAreIndexes),
            versions_are_counts: scenario.resource == Accepts::Unchanged && !is(CheckerMutation::VersionsRenamed),
            back,
            late: Ticks::ZERO - late - back + less(CheckerMutation::DeadlineClampedTooEarly),
            until: Ticks::ZERO - until - back,
            elapsed: Ticks::ZERO - longest - back + less(CheckerMutation::ElapsedClampedTooEarly),
            since: Ticks::ZERO - bounds.max().unwrap_or_default() + less(CheckerMutation::AgeClampedTooEarly),
        }
    }
}
