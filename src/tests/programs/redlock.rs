//! Redlock as its page has it, against the state machine: every scenario of the catalogue.

use fencepost::checker::Options;
use fencepost::redlock::{Redlock, RedlockPage, SCENARIOS, SERVICE};
use fencepost::{Property, Scenario};

use super::{agreed, shipped, verdicts, words};

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
    machine.clone().programs(RedlockPage { nodes, lease, drift, validity })
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
