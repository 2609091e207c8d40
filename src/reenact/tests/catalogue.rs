//! The counterexamples that the tests drive.

use fencepost_checker::Options;
use fencepost_consul::Consul;
use fencepost_etcd::Etcd;
use fencepost_model::mutation::Mutation;
use fencepost_model::scenario::{Expect, Scenario, Suite};
use fencepost_model::trace::{Recorder, Trace};
use fencepost_rabbitmq::RabbitMq;
use fencepost_reenact::Driven;
use fencepost_registry::{AnyScenario, AnyService};

/// A service with a catalogue.
pub trait Catalogued: Driven {
    fn service() -> &'static dyn AnyService;
}

impl Catalogued for Consul {
    fn service() -> &'static dyn AnyService {
        fencepost_consul_explore::service()
    }
}

impl Catalogued for RabbitMq {
    fn service() -> &'static dyn AnyService {
        fencepost_rabbitmq_explore::service()
    }
}

impl Catalogued for Etcd {
    fn service() -> &'static dyn AnyService {
        fencepost_etcd_explore::service()
    }
}

/// A counterexample, with the promise that it violates.
pub struct Counterexample<S: Driven> {
    pub scenario: String,
    pub property: &'static str,
    pub trace: Trace<S>,
}

fn scenario<S: Catalogued>(name: &str) -> Box<dyn AnyScenario> {
    let service = S::service();
    let (name, text) = service.scenarios().iter().find(|(other, _)| *other == name).expect("it is in the catalogue");
    service.read(text, name).expect("scenarios are tested")
}

fn found<S: Catalogued>(scenario: &dyn AnyScenario) -> Vec<Counterexample<S>> {
    let outcomes = scenario.check(&Options::default()).expect("no internal error");
    let found = outcomes.into_iter().filter_map(|outcome| {
        let trace = outcome.trace?.as_any().downcast_ref::<Trace<S>>().expect("a scenario of the service").clone();
        Some(Counterexample { scenario: scenario.name().to_owned(), property: outcome.finding.property.name(), trace })
    });
    found.collect()
}

/// The counterexamples of the violated promises of a suite.
pub fn counterexamples<S: Catalogued>(suite: Suite) -> Vec<Counterexample<S>> {
    let names = S::service().scenarios().iter().map(|(name, _)| scenario::<S>(name));
    let meant = names.filter(|scenario| scenario.description().suite == suite);
    let judged = meant.map(|scenario| scenario.judging(&|promise| promise.expect == Expect::Violated));
    judged.filter(|scenario| !scenario.promises().is_empty()).flat_map(|scenario| found(&*scenario)).collect()
}

/// Every violated promise of a service's scenarios, by scenario and promise.
pub fn violated<S: Catalogued>() -> Vec<(String, &'static str)> {
    let names = S::service().scenarios().iter().map(|(name, _)| scenario::<S>(name));
    let promises = names.flat_map(|scenario| {
        let violated = scenario.promises().iter().filter(|promise| promise.expect == Expect::Violated);
        violated.map(|promise| (scenario.name().to_owned(), promise.property.name())).collect::<Vec<_>>()
    });
    promises.collect()
}

/// The counterexample of a promise of a scenario; with a fault that is built into the model, if one is named.
pub fn counterexample<S: Catalogued>(name: &str, property: &str, mutation: Option<Mutation>) -> Trace<S> {
    let judged = scenario::<S>(name).mutated(mutation).judging(&|promise| promise.property.name() == property);
    found(&*judged).pop().expect("a counterexample").trace
}

/// The execution with these labels.
pub fn story<S: Driven>(scenario: &Scenario<S>, labels: &[&str]) -> Trace<S> {
    let mut world = scenario.observed();
    let mut recorder = Recorder::default();
    for label in labels {
        let mut enabled = Vec::new();
        scenario.enabled(&world, &mut enabled);
        let action = enabled.iter().find(|action| action.to_string() == *label);
        recorder.step(
            scenario,
            &mut world,
            action.unwrap_or_else(|| {
                let labels: Vec<String> = enabled.iter().map(ToString::to_string).collect();
                panic!("“{label}” is not enabled; there are {labels:#?}")
            }),
        );
    }
    recorder.finish(scenario, "test", None)
}
