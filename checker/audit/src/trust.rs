//! What an accepted certificate rests on: what is believed here and not checked.

use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;

use crate::certificate::Certified;
use crate::witness::is_endless;

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

/// What is believed where clients change places.
const SYMMETRY: &str = "symmetry: a service that treats two clients alike (`are_alike`) and clients that start alike know them by name only, and so do \
                        the promises; every name is visited";

/// What a certificate of a scenario rests on, as sentences: first what an earlier run has checked, then what the scenario assumes.
pub(crate) fn trusted<S: Service>(certified: &Certified<S>, scenario: &Scenario<S>, from: usize) -> Vec<String> {
    let assumed = scenario.assumptions().into_iter().map(|assumption| assumption.sentence);
    let has_orders = certified.witnesses.iter().any(|witness| !witness.order.is_empty());
    let more = is_endless(scenario).then_some(FAIRNESS).into_iter().chain(has_orders.then_some(SYMMETRY));
    let before = (from > 0).then(|| format!("an earlier run: it has checked the first {from} worlds of this file"));
    before.into_iter().chain(assumed).chain(LAWS.into_iter().chain(more).map(str::to_owned)).collect()
}
