//! The counterexamples that the tests drive.

use fencepost_checker::Options;
use fencepost_consul::Consul;
use fencepost_model::mutation::Mutation;
use fencepost_model::scenario::{Expect, Suite};
use fencepost_model::trace::Trace;
use fencepost_registry::AnyScenario;

/// A counterexample, with the promise that it violates.
pub struct Counterexample {
    pub scenario: String,
    pub property: &'static str,
    pub trace: Trace<Consul>,
}

fn scenario(name: &str) -> Box<dyn AnyScenario> {
    let service = fencepost_consul_explore::service();
    let (name, text) = service.scenarios().iter().find(|(other, _)| *other == name).expect("it is in the catalogue");
    service.read(text, name).expect("scenarios are tested")
}

fn found(scenario: &dyn AnyScenario) -> Vec<Counterexample> {
    let outcomes = scenario.check(&Options::default()).expect("no internal error");
    let found = outcomes.into_iter().filter_map(|outcome| {
        let trace = outcome.trace?.as_any().downcast_ref::<Trace<Consul>>().expect("a scenario of Consul").clone();
        Some(Counterexample { scenario: scenario.name().to_owned(), property: outcome.finding.property.name(), trace })
    });
    found.collect()
}

/// The counterexamples of the violated promises of a suite.
pub fn counterexamples(suite: Suite) -> Vec<Counterexample> {
    let names = fencepost_consul_explore::service().scenarios().iter().map(|(name, _)| scenario(name));
    let meant = names.filter(|scenario| scenario.description().suite == suite);
    let judged = meant.map(|scenario| scenario.judging(&|promise| promise.expect == Expect::Violated));
    judged.filter(|scenario| !scenario.promises().is_empty()).flat_map(|scenario| found(&*scenario)).collect()
}

/// Every violated promise of Consul's scenarios, by scenario and promise.
pub fn violated() -> Vec<(String, &'static str)> {
    let names = fencepost_consul_explore::service().scenarios().iter().map(|(name, _)| scenario(name));
    let promises = names.flat_map(|scenario| {
        let violated = scenario.promises().iter().filter(|promise| promise.expect == Expect::Violated);
        violated.map(|promise| (scenario.name().to_owned(), promise.property.name())).collect::<Vec<_>>()
    });
    promises.collect()
}

/// The counterexample of a promise of a scenario; with a fault that is built into the model, if one is named.
pub fn counterexample(name: &str, property: &str, mutation: Option<Mutation>) -> Trace<Consul> {
    let judged = scenario(name).mutated(mutation).judging(&|promise| promise.property.name() == property);
    found(&*judged).pop().expect("a counterexample").trace
}
