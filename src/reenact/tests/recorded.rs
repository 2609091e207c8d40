//! The recorded files are about the counterexamples that the checker finds now. `fencepost reenact --all … --record FILE` writes them
//! anew.

use std::collections::BTreeMap;

use fencepost_consul::Consul;
use fencepost_etcd::Etcd;
use fencepost_model::scenario::Suite;
use fencepost_rabbitmq::RabbitMq;
use fencepost_reenact::{Means, RECORDED, SeenViolation, plan, read, write};

use crate::catalogue::{Catalogued, Counterexample, counterexamples, violated};

const CONSUL: &str = RECORDED[0];
const RABBITMQ: &str = RECORDED[1];
const ETCD: &str = RECORDED[2];

fn recorded(text: &str) -> BTreeMap<(String, String), SeenViolation> {
    let lines = read(text).expect("a recorded file");
    assert_eq!(write(lines.clone()), text, "the file is in order");
    lines.into_iter().map(|line| ((line.scenario.clone(), line.property.clone()), line)).collect()
}

fn names_every_violated_promise<S: Catalogued>(text: &str) {
    let named: Vec<(String, String)> =
        violated::<S>().into_iter().map(|(scenario, property)| (scenario, property.to_owned())).collect();
    let recorded = recorded(text);
    for promise in &named {
        assert!(recorded.contains_key(promise), "{promise:?} is missing");
    }
    assert_eq!(recorded.len(), named.len(), "the file records promises that are not violated");
}

#[test]
fn every_violated_promise_is_recorded_and_nothing_else() {
    names_every_violated_promise::<Consul>(CONSUL);
    names_every_violated_promise::<RabbitMq>(RABBITMQ);
    names_every_violated_promise::<Etcd>(ETCD);
}

/// How many counterexamples of the suite are those that were driven.
fn known<S: Catalogued>(text: &str, suite: Suite) -> usize {
    let recorded = recorded(text);
    let mut found = 0;
    for counterexample in counterexamples::<S>(suite) {
        let line = &recorded[&(counterexample.scenario, counterexample.property.to_owned())];
        let now = &counterexample.trace.header.digest;
        assert_eq!(line.digest, *now, "{} {} has another counterexample", line.scenario, line.property);
        found += 1;
    }
    found
}

#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn what_is_recorded_is_about_the_counterexamples_of_today() {
    assert!(known::<Consul>(CONSUL, Suite::Standard) > 90);
    assert!(known::<RabbitMq>(RABBITMQ, Suite::Standard) >= 70);
    assert!(known::<Etcd>(ETCD, Suite::Standard) > 40);
}

/// What happened can be planned again, with every command that a user may give.
fn is_planned<S: Catalogued>(text: &str) {
    let recorded = recorded(text);
    for Counterexample { scenario, property, trace } in counterexamples::<S>(Suite::Standard) {
        let line = &recorded[&(scenario, property.to_owned())];
        let is_planned = plan(&trace, Means { restart: true, tool: true, pause: true }, 1).is_ok();
        // Where another execution was driven, the first one has no plan.
        let is_expected = line.has_happened() && line.other.is_none();
        assert_eq!(is_planned, is_expected, "{} {}: {}", line.scenario, line.property, line.sentence);
    }
}

#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn what_happened_has_a_plan_and_nothing_else_has() {
    is_planned::<Consul>(CONSUL);
    is_planned::<RabbitMq>(RABBITMQ);
    is_planned::<Etcd>(ETCD);
}

#[test]
#[ignore = "it searches the larger scenarios"]
fn what_is_recorded_is_about_the_counterexamples_of_the_full_suite() {
    assert!(known::<Consul>(CONSUL, Suite::Full) > 0);
    assert!(known::<RabbitMq>(RABBITMQ, Suite::Full) > 0);
    assert!(known::<Etcd>(ETCD, Suite::Full) > 0);
}

#[test]
fn nothing_is_refused_and_most_of_what_can_happen_does() {
    for text in RECORDED {
        let recorded = recorded(text);
        let count = |names: &[&str]| recorded.values().filter(|line| names.contains(&line.outcome.as_str())).count();
        assert_eq!(count(&["refused"]), 0);
        let possible = count(&["happened", "refused", "undecided"]);
        assert!(count(&["happened"]) * 10 >= possible * 8, "{} of {possible}", count(&["happened"]));
    }
}
