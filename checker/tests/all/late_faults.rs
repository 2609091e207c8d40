//! Losses and pauses as late as possible must make no difference: random small scenarios that have some of both, each with all of them and without.

use fencepost::consul::{Consul, SERVICE};
use fencepost::{AnyScenario, Scenario, catalogue};
use fencepost_checker::Options;
use fencepost_checker::laws::Law;
use fencepost_model::finding::{Finding, Verdict};
use fencepost_model::properties::Property;
use fencepost_model::time::Ticks;

use crate::reduced::{agree, essence, explored};
use crate::symmetry::scenario;

/// Half of them on a network that is late by a tick; some with a message that arrives twice, or with a clock that jumps.
#[test]
fn verdicts_with_all_and_with_late_faults_agree_on_random_scenarios() {
    let drawn = |number: u64| {
        let mut drawn = scenario(number);
        drawn.synchrony.message_delay = Some(Ticks::new((number / 2 % 2).cast_signed()));
        (drawn.budget.duplicates, drawn.budget.slips) = (u8::from(number.is_multiple_of(7)), u8::from(number % 7 == 1));
        drawn.clocks.skew = Ticks::new(1);
        (drawn.budget.losses, drawn.budget.pauses) = match number % 5 {
            0 => (1, 0),
            1 => (0, 1),
            2 => (2, 0),
            3 => (0, 2),
            _ => (1, 1),
        };
        drawn
    };
    agree(&[Law::LateFaults, Law::Lateness], drawn, |number| Options {
        symmetry: number.is_multiple_of(2),
        partial_order: true,
        subsumption: number.is_multiple_of(3),
        ..Options::default()
    });
}

fn proven(scenario: &dyn AnyScenario, partial_order: bool) -> Finding {
    let found = explored(scenario, &Options { partial_order, ..Options::default() });
    found.into_iter().find(|finding| matches!(finding.verdict, Verdict::Proven(_))).expect("one of its promises holds")
}

/// A proof says that some losses and pauses are not explored.
#[test]
fn a_proof_says_that_faults_are_taken_late() {
    let scenario = catalogue::named("b27-self-limiting").expect("it is in the catalogue");
    let told = |finding: &Finding| finding.assumptions.iter().any(|told| told.sentence.starts_with("late faults: "));
    let (whole, late) = (proven(&*scenario, false), proven(&*scenario, true));
    assert_eq!((told(&whole), told(&late)), (false, true));
    assert_eq!(essence(&whole), essence(&late));
}

/// Where no delay of a message has a bound and nothing wakes up, neither losses nor pauses are explored: a proof knows that they are possible, and that
/// what is paused goes on.
#[test]
fn what_is_not_explored_is_possible() {
    let mut scenario = Scenario::<Consul>::new("nothing-presses").clients(1).promise(Property::MutualExclusion);
    scenario.synchrony.wake_delay = Some(Ticks::ZERO);
    (scenario.budget.losses, scenario.budget.pauses) = (1, 1);
    let (whole, late) = (proven(SERVICE.any(&scenario), false), proven(SERVICE.any(&scenario), true));
    let never_taken = |finding: &Finding| finding.verdict.certificate().expect("it is proven").never_taken.clone();
    assert_eq!(never_taken(&whole), never_taken(&late));
    assert!(!never_taken(&late).iter().any(|kind| ["lose", "pause", "resume"].contains(&kind.as_str())));
    assert!(late.states * 3 < whole.states, "{} and {}", late.states, whole.states);
}
