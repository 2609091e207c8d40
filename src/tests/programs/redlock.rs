//! Redlock as its page has it, against the state machine: every scenario of the catalogue.

use fencepost::checker::Options;
use fencepost::model::fact::Fact;
use fencepost::redlock::{Redlock, RedlockPage, Retry, SCENARIOS, SERVICE};
use fencepost::{Level, Memory, Property, Scenario, View};

use super::{Verdicts, agreed, shipped, verdicts, words};

/// The scenario of the catalogue, and the same with its clients as programs.
pub(super) fn both(name: &str) -> [Scenario<Redlock>; 2] {
    let machine = shipped::<Redlock>(name);
    let program = as_programs(&machine);
    program.validate().unwrap_or_else(|error| panic!("{name}: {error}"));
    [machine, program]
}

/// The scenario with its clients as programs.
pub(super) fn as_programs(machine: &Scenario<Redlock>) -> Scenario<Redlock> {
    let nodes = if machine.system == "copied-lock" { 0 } else { machine.service.nodes };
    let (lease, drift, validity) = (machine.service.lease, machine.service.drift, machine.service.validity);
    machine.clone().programs(RedlockPage { nodes, lease, drift, validity, retry: None })
}

#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn redlock_as_its_page_has_it_gets_the_verdicts_of_the_state_machine() {
    let two = Options { workers: 2, ..Options::default() };
    for (name, _) in SCENARIOS {
        let [machine, mut program] = both(name);
        let machine = words(&verdicts(SERVICE.any(&machine), &two));
        // Where a promise is broken soon, the search goes on for the rest only: a panic would be found on the way.
        if machine.iter().all(|(_, word)| *word == "violated") {
            program.promises.retain(|promise| promise.property != Property::NoPanic);
        }
        let is_large = name.starts_with("b44") || *name == "b45-quorum";
        let program = if is_large { verdicts(SERVICE.any(&program), &two) } else { agreed(SERVICE.any(&program)) };
        assert_eq!(words(&program), machine, "{name}");
    }
}

/// The scenario in which nothing goes wrong, with a retry of programs.
fn with_retry(retry: Option<Retry>) -> Scenario<Redlock> {
    let machine = shipped::<Redlock>("redlock-no-fault");
    let page = RedlockPage {
        nodes: machine.service.nodes,
        lease: machine.service.lease,
        drift: machine.service.drift,
        validity: machine.service.validity,
        retry,
    };
    machine.programs(page)
}

/// No client is inside that two of the three nodes have refused: its first attempt was in vain.
fn none_after_a_refusal(view: &View<'_, Redlock>, refusals: &mut Memory) -> Result<(), String> {
    for fact in view.facts {
        match fact {
            Fact::Refused { client, .. } => refusals[client.place()] += 1,
            Fact::Entered { client, .. } if refusals[client.place()] >= 2 => {
                return Err(format!("{client} enters in the end"));
            }
            _ => {}
        }
    }
    Ok(())
}

#[test]
fn a_client_that_tries_again_after_a_random_delay_gets_the_lock_in_the_end() {
    let retry = Retry { times: 2, failed: 0, delay: 2 };
    let own = |retry| {
        let scenario = with_retry(retry).own_property("none-after-a-refusal", Level::Belief, none_after_a_refusal);
        verdicts(SERVICE.any(&scenario), &Options::default())
    };
    let last = |found: Verdicts| found.last().map(|(property, word, states, _)| (property.name(), *word, *states));
    assert_eq!(last(own(None)), Some(("none-after-a-refusal", "proven", 8714)));
    assert_eq!(last(own(Some(retry))), Some(("none-after-a-refusal", "violated", 61826)));
}
