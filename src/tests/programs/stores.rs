//! The recipes of the stores as programs, against the state machine: every scenario of the catalogue that they can run.

use fencepost::checker::Options;
use fencepost::model::ids::ClientId;
use fencepost::stores::{
    HolderRecords, Patience, RankedSemaphore, SCENARIOS, SERVICE, Sequence, SequenceQueue, Settings, Stores, TokenPool,
};
use fencepost::{Property, Scenario, Ticks};

use super::{agreed, shipped, verdicts, words};

/// The scenario of the catalogue, with its clients as programs.
pub(super) fn program(name: &str) -> Scenario<Stores> {
    as_programs(&shipped(name)).expect("it writes no timestamps")
}

/// The scenario with its clients as programs; none: clients that write timestamps are no programs.
pub(super) fn as_programs(scenario: &Scenario<Stores>) -> Option<Scenario<Stores>> {
    let Settings { limit, retry_every, give_back, joins, nodes, .. } = scenario.service.clone();
    let patience = Patience { wait: scenario.service.patience, retries: scenario.budget.retries };
    let (slots, scenario) = (u16::from(limit), scenario.clone());
    match &*scenario.system {
        "token-pool" => {
            let reaps = scenario.service.stale_after.is_some();
            Some(scenario.programs(TokenPool {
                limit: slots,
                retry_every,
                patience,
                reaps,
                give_back,
                is_refused: false,
            }))
        }
        "ranked-semaphore" if scenario.service.sequence == Sequence::Timestamps => None,
        "ranked-semaphore" => Some(scenario.programs(RankedSemaphore { limit, retry_every, patience, joins })),
        "holder-records" => {
            let written = scenario.service.ttls.clone();
            let ttl = |client: u16| {
                let own = written.get(usize::from(client) - 1).copied().filter(|ttl| *ttl > Ticks::ZERO);
                own.or(scenario.service.without_ttl)
            };
            let recipe = |client| HolderRecords { limit: slots, retry_every, ttl: ttl(client) };
            let clients = 1..=scenario.clients;
            if clients.clone().all(|client| ttl(client) == ttl(1)) {
                return Some(scenario.clone().programs(recipe(1)));
            }
            let with = |scenario: Scenario<Stores>, client| scenario.program(ClientId(client), recipe(client));
            Some(clients.fold(scenario.clone(), with))
        }
        "sequence-queue" => Some(scenario.programs(SequenceQueue { limit, retry_every, patience, nodes, node: None })),
        system => panic!("there is no program for {system}"),
    }
}

#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn the_recipes_of_the_stores_get_the_verdicts_of_the_state_machine() {
    let mut compared = 0;
    for (name, _) in SCENARIOS {
        let machine = shipped::<Stores>(name);
        let Some(program) = as_programs(&machine) else { continue };
        program.validate().unwrap_or_else(|error| panic!("{name}: {error}"));
        let program = agreed(SERVICE.any(&program));
        assert_eq!(words(&program), words(&verdicts(SERVICE.any(&machine), &Options::default())), "{name}");
        let no_panic = program.iter().find(|(property, ..)| *property == Property::NoPanic).expect("it is promised");
        assert_eq!(no_panic.1, "proven", "{name}");
        compared += 1;
    }
    // All but the two with timestamps.
    assert_eq!(compared, SCENARIOS.len() - 2);
}

#[test]
fn a_program_that_would_read_a_clock_is_refused() {
    let scenario = shipped::<Stores>("b34-timestamps-late");
    let recipe = HolderRecords { limit: 1, retry_every: Ticks::new(1), ttl: None };
    let error = scenario.programs(recipe).validate().expect_err("it has no clock").to_string();
    assert!(error.contains("no clock"), "{error}");
}
