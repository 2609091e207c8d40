//! What an accepted certificate rests on: what is believed here and not checked.

use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;

/// The laws that are tested by walks, and the code that both programs share.
const LAWS: [&str; 7] = [
    "the model: `enabled`, `step`, `observe` and the services say what can happen and what a promise is; no execution begins otherwise",
    "clamping: instants further in the past than the horizon of the scenario are equivalent, and so is what `settle` drops of a server",
    "renaming: processes notice of indexes, tenures and ids of sessions only their order, and of calls that a client counts only which are the \
     same; every such value is visited (`Normal`)",
    "closed calls: a client that counts its calls ignores a message on a call of its own that it has forgotten",
    "lateness: where the scenario bounds no delay, any delay is possible; where it does, no time passes while something is overdue",
    "unit ticks: with closed guards and whole constants, whole ticks reach every order of events that matters",
    "whether goals are reached is not checked: a promise can hold because nothing happens",
];

/// What is believed where a promise is about endless executions.
const FAIRNESS: &str =
    "fairness: time goes on, and what the scenario calls fair happens; actions of one shape are one class";

/// What a certificate of a scenario rests on, as sentences: first what the scenario assumes.
pub(crate) fn trusted<S: Service>(scenario: &Scenario<S>) -> Vec<String> {
    let assumed = scenario.assumptions().into_iter().map(|assumption| assumption.sentence);
    let is_endless = scenario.promises.iter().any(|promise| promise.property.is_about_endless_runs(promise.bound));
    let laws = LAWS.iter().copied().chain(is_endless.then_some(FAIRNESS));
    assumed.chain(laws.map(str::to_owned)).collect()
}
