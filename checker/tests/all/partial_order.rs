//! Partial orders must not change a verdict: random small scenarios, each with them and without; and their counts do not depend on who counts.

use fencepost::consul::{Consul, SERVICE};
use fencepost::{AnyScenario, Scenario, catalogue};
use fencepost_checker::laws::Law;
use fencepost_checker::{Engine, Options};
use fencepost_model::action_kind::ActionKind;
use fencepost_model::finding::{Finding, Verdict};

use crate::reduced::{agree, essence, explored};
use crate::symmetry::scenario;

#[test]
fn verdicts_with_and_without_partial_orders_agree_on_random_scenarios() {
    agree(&[Law::PartialOrder], scenario, |number| Options {
        symmetry: number.is_multiple_of(2),
        partial_order: true,
        ..Options::default()
    });
}

fn named(name: &str) -> Box<dyn AnyScenario> {
    catalogue::named(name).expect("it is in the catalogue")
}

/// The choice depends on the world alone: so any number of workers, and stateright, count the same.
#[test]
fn counts_do_not_depend_on_who_counts() {
    for name in ["consul-record", "b03-async-write", "b32-compare-and-set"] {
        let scenario = named(name);
        let by = |engine, workers| {
            let options = Options { engine, workers, symmetry: false, partial_order: true, ..Options::default() };
            let counts = |finding: Finding| (essence(&finding), finding.states, finding.transitions, finding.depth);
            explored(&*scenario, &options).into_iter().map(counts).collect::<Vec<_>>()
        };
        let one = by(Engine::Dataflow, 1);
        for workers in [2, 3] {
            assert_eq!(by(Engine::Dataflow, workers), one, "{name} with {workers} workers");
        }
        assert_eq!(by(Engine::Stateright, 1), one, "{name} by stateright");
    }
}

/// What a client can do, and each message, may be a place of faults: where there are places, no action waits and no message is left out.
#[test]
fn where_faults_are_kept_to_places_every_action_and_message_counts() {
    let shipped = named("consul-record");
    let mut plain = shipped.of::<Consul>().expect("it is one of Consul").clone();
    // Losses have a reduction of their own, which places of faults do not forbid.
    plain.budget.losses = 0;
    let placed = plain.clone().only_before(ActionKind::Crash, "the server receives");
    let states = |scenario: &Scenario<Consul>, options: &Options| explored(SERVICE.any(scenario), options)[0].states;
    let all = Options { leaves_out_unheard: false, ..Options::default() };
    let reduced = Options { partial_order: true, ..Options::default() };
    assert_eq!(states(&placed, &reduced), states(&placed, &all));
    assert!(states(&plain, &reduced) < states(&plain, &Options::default()));
    assert!(states(&plain, &Options::default()) < states(&plain, &all));
}

/// A verdict says that it rests on partial orders; a counterexample says so if a shorter one may exist.
#[test]
fn verdicts_say_what_was_explored() {
    let proven = &explored(&*named("consul-record"), &Options { partial_order: true, ..Options::default() })[0];
    assert!(matches!(proven.verdict, Verdict::Proven(_)));
    let says = |finding: &Finding| {
        finding.assumptions.iter().any(|assumption| assumption.sentence.starts_with("partial order: "))
    };
    assert!(says(proven));
    let whole = &explored(&*named("consul-record"), &Options::default())[0];
    assert!(!says(whole));

    let violated = named("b03-async-write");
    let shown = |options: &Options| {
        let finding = explored(&*violated, options).into_iter().find(|finding| finding.verdict.story().is_some());
        let story = finding.and_then(|finding| finding.verdict.story().cloned()).expect("a promise is violated");
        (story.steps.len(), story.is_not_known_shortest)
    };
    let shortest = shown(&Options::default());
    assert_eq!(shown(&Options { partial_order: true, ..Options::default() }), shortest);
    assert!(!shortest.1);
}
