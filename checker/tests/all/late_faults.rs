//! Losses and pauses as late as possible must make no difference: random small scenarios that have some of both, each with all of them and without.

use fencepost::catalogue;
use fencepost_checker::Options;
use fencepost_checker::laws::Law;
use fencepost_model::finding::{Finding, Verdict};
use fencepost_model::time::Ticks;

use crate::reduced::{agree, essence, explored};
use crate::symmetry::scenario;

/// Every second one on a network that is late by a tick.
#[test]
fn verdicts_with_all_and_with_late_faults_agree_on_random_scenarios() {
    let drawn = |number: u64| {
        let mut drawn = scenario(number);
        drawn.synchrony.message_delay = Some(Ticks::new((number % 2).cast_signed()));
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

/// A proof says which losses and pauses it has left out, and that a loss is possible that it has not taken.
#[test]
fn a_proof_says_that_faults_are_taken_late() {
    let proven = |partial_order| {
        let scenario = catalogue::named("b27-self-limiting").expect("it is in the catalogue");
        explored(&*scenario, &Options { partial_order, ..Options::default() })
            .into_iter()
            .find(|finding| matches!(finding.verdict, Verdict::Proven(_)))
            .expect("one of its promises holds")
    };
    let told = |finding: &Finding| finding.assumptions.iter().any(|told| told.sentence.starts_with("late faults: "));
    let (whole, late) = (proven(false), proven(true));
    assert_eq!((told(&whole), told(&late)), (false, true));
    assert_eq!(essence(&whole), essence(&late));
    let never_taken =
        |finding: &Finding| finding.verdict.certificate().map(|certificate| certificate.never_taken.clone());
    assert_eq!(never_taken(&whole), never_taken(&late));
    assert!(late.states < whole.states, "{} and {}", late.states, whole.states);
}
