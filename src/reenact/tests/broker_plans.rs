//! Plans of counterexamples of RabbitMQ: no broker is needed for them.

use std::collections::BTreeMap;

use fencepost_model::scenario::Suite;
use fencepost_rabbitmq::RabbitMq;
use fencepost_reenact::{Means, Obstacle, PlanError, ReenactmentOutcome, is_alone, plan};

use crate::catalogue::{counterexample, counterexamples};

const EVERYTHING: Means = Means { restart: true, tool: true, pause: false };

/// Why a counterexample has no plan.
fn hopeless(name: &str, property: &str, means: Means) -> ReenactmentOutcome {
    let trace = counterexample::<RabbitMq>(name, property, None);
    match plan(&trace, means, 1) {
        Err(PlanError::Hopeless(outcome)) => outcome,
        Err(PlanError::NoExecution(why)) => panic!("{name}: {why}"),
        Ok(_) => panic!("{name} has a schedule"),
    }
}

#[test]
fn every_counterexample_has_a_schedule_or_a_reason_why_it_has_none() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for found in counterexamples::<RabbitMq>(Suite::Standard) {
        let name = match plan(&found.trace, EVERYTHING, 1) {
            Ok(_) => "planned",
            Err(PlanError::Hopeless(ReenactmentOutcome::Undecided { why })) => {
                panic!("{} {}: {why}", found.scenario, found.property)
            }
            Err(PlanError::Hopeless(outcome)) => outcome.name(),
            Err(PlanError::NoExecution(why)) => panic!("{} {}: {why}", found.scenario, found.property),
        };
        *counts.entry(name).or_default() += 1;
    }
    assert!(counts["planned"] >= 50, "{counts:?}");
}

#[test]
fn a_fault_of_a_node_cannot_be_caused_from_outside() {
    for (name, property) in [("b37-ignore", "single-owner"), ("f04-temporary-gap", "contiguity")] {
        let outcome = hopeless(name, property, EVERYTHING);
        assert!(matches!(outcome, ReenactmentOutcome::Outside { needs: Obstacle::Cluster, .. }), "{name}: {outcome}");
    }
    let outcome = hopeless("f05-probes-are-kept", "eventually-acquired", EVERYTHING);
    assert_eq!(outcome, ReenactmentOutcome::Outside { step: 0, needs: Obstacle::Alarm });
}

#[test]
fn what_only_an_operator_can_do_needs_a_command() {
    let outcome = hopeless("f33-passive-declare", "slot-exclusion", Means { restart: true, ..Means::default() });
    assert_eq!(outcome, ReenactmentOutcome::Outside { step: 15, needs: Obstacle::Tool });
    let outcome = hopeless("f25-not-durable", "eventually-acquired", Means { tool: true, ..Means::default() });
    assert!(matches!(outcome, ReenactmentOutcome::Outside { needs: Obstacle::Restart, .. }), "{outcome}");
}

#[test]
fn an_execution_with_a_restart_is_alone_at_its_broker() {
    assert!(is_alone(&counterexample::<RabbitMq>("f25-not-durable", "eventually-acquired", None)));
    assert!(!is_alone(&counterexample::<RabbitMq>("f06-add-declares-one", "contiguity", None)));
}

#[test]
fn a_heartbeat_value_is_a_number_of_seconds() {
    let trace = counterexample::<RabbitMq>("f13-frozen-holder", "slot-exclusion", None);
    let plan = plan(&trace, EVERYTHING, 1).expect("a schedule");
    assert_eq!(plan.schedule.tick % 1_000, 0, "a heartbeat is one tick");
}
