//! Plans of counterexamples: no server is needed for them.

use std::collections::BTreeMap;

use fencepost_consul::{Consul, ConsulMutation};
use fencepost_model::scenario::Suite;
use fencepost_reenact::{Means, PlanError, ReenactmentOutcome, plan};

use crate::catalogue::{counterexample, counterexamples};

#[test]
fn every_counterexample_has_a_schedule_or_a_reason_why_it_has_none() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for found in counterexamples::<Consul>(Suite::Standard) {
        let name = match plan(&found.trace, Means { restart: true, ..Means::default() }, 1) {
            Ok(plan) => {
                let is_in_order = plan.schedule.at.iter().all(|at| *at >= 0);
                assert!(is_in_order && plan.schedule.tick > 0, "{} {}", found.scenario, found.property);
                "planned"
            }
            Err(PlanError::Hopeless(outcome)) => {
                let is_understood = !matches!(outcome, ReenactmentOutcome::Undecided { .. });
                assert!(is_understood, "{} {}: {outcome}", found.scenario, found.property);
                outcome.name()
            }
            Err(PlanError::NoExecution(why)) => panic!("{} {}: {why}", found.scenario, found.property),
        };
        *counts.entry(name).or_default() += 1;
    }
    assert!(counts["planned"] >= 85, "{counts:?}");
    assert!(counts["simultaneous"] <= 12 && counts["outside"] <= 18, "{counts:?}");
}

#[test]
fn a_threshold_at_equality_needs_exact_simultaneity() {
    let trace = counterexample::<Consul>("b01-pause-equal", "mutual-exclusion", None);
    let Err(PlanError::Hopeless(outcome)) = plan(&trace, Means::default(), 1) else { panic!("it has a schedule") };
    assert_eq!(outcome.to_string(), "needs exact simultaneity: steps 2, 8, 9, 11, 13 and 14");
}

#[test]
fn what_happens_inside_the_servers_cannot_be_caused() {
    let outside = |name, property, why: &str| {
        let trace = counterexample::<Consul>(name, property, None);
        let Err(PlanError::Hopeless(outcome)) = plan(&trace, Means::default(), 1) else {
            panic!("{name} has a schedule")
        };
        let sentence = outcome.to_string();
        assert!(
            sentence.starts_with(&format!("needs a fault that cannot be caused from outside: {why}")),
            "{sentence}"
        );
    };
    outside("b13-give-up", "mutual-exclusion", "a change of the leader (step 8)");
    outside("consul-skew-too-large", "mutual-exclusion", "a jump of the server's clock");
    outside("consul-snapshot", "lock-delay", "a restart from a snapshot");
    outside("consul-delayed-log", "lock-delay", "a step between two steps that the server takes at once");
    outside("b09-plain-lease", "mutual-exclusion", "a server with other rules");
}

#[test]
fn a_trace_of_another_model_is_no_execution() {
    let mutation = Some(ConsulMutation::TtlNotMultiplied.into());
    let mut trace = counterexample::<Consul>("b01-fencing", "mutual-exclusion", mutation);
    trace.header.scenario.mutation = None;
    let Err(PlanError::NoExecution(why)) = plan(&trace, Means::default(), 1) else { panic!("it is planned") };
    assert!(why.contains("is not possible here"), "{why}");
}
