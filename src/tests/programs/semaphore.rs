//! The persistent semaphore and the message as a mutex as programs, step by step, against the state machines: every scenario of the
//! catalogue of RabbitMQ.

use fencepost::checker::Options;
use fencepost::model::ids::ClientId;
use fencepost::rabbitmq::{Connections, MessageMutex, RabbitMq, SCENARIOS, SERVICE, SlotAdministrator, SlotTaker};
use fencepost::{Property, Scenario};

use super::{shipped, verdicts, words};

/// The scenario of the catalogue, with its clients and administrators as programs.
pub(super) fn program(name: &str) -> Scenario<RabbitMq> {
    as_programs(&shipped(name)).expect("its clients share no connection")
}

/// The scenario with its clients as programs; none: a program shares no connection.
pub(super) fn as_programs(scenario: &Scenario<RabbitMq>) -> Option<Scenario<RabbitMq>> {
    let (settings, retries) = (&scenario.service, scenario.budget.retries);
    if settings.connections == Connections::Shared {
        return None;
    }
    if scenario.system == "rabbitmq-mutex" {
        return Some(scenario.clone().programs(MessageMutex::of(settings)));
    }
    let takers = scenario.clone().programs(SlotTaker::of(settings, retries));
    let with_administrator = |scenario: Scenario<RabbitMq>, place: usize| {
        let client = ClientId::of(usize::from(scenario.clients) + place);
        let recipe = SlotAdministrator::of(&scenario.service, place, retries);
        scenario.program(client, recipe)
    };
    Some((0..settings.administration.does.len()).fold(takers, with_administrator))
}

/// Those whose programs have a hundred thousand states or more.
const LARGE: [&str; 13] = [
    "b37-pause-minority",
    "b42-ascending-random-start",
    "b43-from-0-and-0",
    "b43-from-0-and-1",
    "b43-from-1-and-1",
    "f12-wait-bounded",
    "f15-no-reconnect",
    "f15-reconnecting-administrator",
    "f17-no-reconnect",
    "f17-overshoot-races-addition",
    "f25-durable",
    "f43-slot-deleted",
    "rabbitmq-semaphore-3",
];

/// Programs and state machines have the same verdicts, and no program panics.
fn compare(names: impl Iterator<Item = &'static str>) -> usize {
    let two = Options { workers: 2, ..Options::default() };
    let mut compared = 0;
    for name in names {
        let machine = shipped::<RabbitMq>(name);
        let Some(program) = as_programs(&machine) else { continue };
        program.validate().unwrap_or_else(|error| panic!("{name}: {error}"));
        let program = verdicts(SERVICE.any(&program), &two);
        assert_eq!(words(&program), words(&verdicts(SERVICE.any(&machine), &two)), "{name}");
        let no_panic = program.iter().find(|(property, ..)| *property == Property::NoPanic).expect("it is promised");
        // Vacuous where no client ever enters.
        assert!(["proven", "vacuous"].contains(&no_panic.1), "{name}: {}", no_panic.1);
        compared += 1;
    }
    compared
}

#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn the_semaphore_step_by_step_gets_the_verdicts_of_the_state_machines() {
    let small = SCENARIOS.iter().map(|(name, _)| *name).filter(|name| !LARGE.contains(name));
    // All but the two in which several threads share a connection.
    assert_eq!(compare(small), SCENARIOS.len() - LARGE.len() - 2);
}

#[test]
#[ignore = "takes four minutes: .ci/long"]
fn so_it_does_where_the_state_space_is_large_by_hand() {
    assert_eq!(compare(LARGE.into_iter()), LARGE.len());
}

#[test]
fn a_program_that_would_share_a_connection_is_refused() {
    let scenario = shipped::<RabbitMq>("f31-shared-connection");
    let recipe = SlotTaker::of(&scenario.service, 0);
    let error = scenario.programs(recipe).validate().expect_err("it has its own").to_string();
    assert!(error.contains("shares none"), "{error}");
}
