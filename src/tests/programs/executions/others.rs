//! The persistent semaphore of RabbitMQ, Redlock, mutex and election of etcd, the lease and the recipes of the stores, in every scenario of
//! the catalogue: state machines do what programs do.

use fencepost::Scenario;
use fencepost::etcd::{self, Etcd, Reads};
use fencepost::lease::{self, Lease};
use fencepost::model::service::Service;
use fencepost::model::world::Action;
use fencepost::rabbitmq::{self, RabbitMq};
use fencepost::redlock::{self, Redlock};
use fencepost::stores::{self, Stores};

use super::super::{redlock as page, semaphore, shipped, stores as recipes, with_programs};
use super::{do_the_same, refused};

/// What both forms do is the same message.
fn as_it_is<S: Service>(action: Action<S>) -> Action<S> {
    action
}

#[test]
fn the_persistent_semaphore_and_its_state_machines_do_the_same() {
    let mut compared = 0;
    for (name, _) in rabbitmq::SCENARIOS {
        let machine = shipped::<RabbitMq>(name);
        // A program shares no connection.
        let Some(program) = semaphore::as_programs(&machine) else { continue };
        do_the_same(&machine, &program, as_it_is, 20);
        compared += 1;
    }
    assert_eq!(compared, rabbitmq::SCENARIOS.len() - 2);
}

#[test]
fn redlock_and_its_state_machine_do_the_same() {
    for (name, _) in redlock::SCENARIOS {
        let machine = shipped::<Redlock>(name);
        do_the_same(&machine, &page::as_programs(&machine), as_it_is, 20);
    }
}

#[test]
fn the_client_of_the_lease_and_its_state_machine_do_the_same() {
    for (name, _) in lease::SCENARIOS {
        do_the_same(&shipped::<Lease>(name), &with_programs(name), as_it_is, 40);
    }
}

#[test]
fn the_recipes_of_the_stores_and_their_state_machine_do_the_same() {
    for (name, _) in stores::SCENARIOS {
        let machine = shipped::<Stores>(name);
        // Clients that write timestamps are no programs.
        let Some(program) = recipes::as_programs(&machine) else { continue };
        do_the_same(&machine, &program, as_it_is, 40);
    }
}

/// Where they part at the end of a client: the process of a program ends with its last round, and the renewals of a session with it that it has
/// not closed.
const ETCD_ENDS: [&str; 2] = ["e21-by-name", "e21-compares"];

#[test]
fn mutex_and_election_of_etcd_and_their_state_machines_do_the_same() {
    let mut compared = 0;
    for (name, _) in etcd::SCENARIOS.iter().filter(|(name, _)| !ETCD_ENDS.contains(name)) {
        let mut machine = shipped::<Etcd>(name);
        // Where contenders read the holder, a third party does that for programs.
        let Some(program) = etcd::as_programs(&machine).filter(|_| machine.service.reads == Reads::Never) else {
            continue;
        };
        // The `Close` of a program gives up after T (E-CC-6).
        machine.service.limits_close = machine.service.closes_session;
        do_the_same(&machine, &program, as_it_is, 20);
        compared += 1;
    }
    assert_eq!(compared, 89);
}

/// Whether a state machine with another setting is told, with the step.
fn is_told<S: Service>(machine: &Scenario<S>, program: &Scenario<S>, change: impl FnOnce(&mut S::Settings)) -> bool {
    let mut other = machine.clone();
    change(&mut other.service);
    refused(&other, program, as_it_is, (40, 100)).is_some_and(|told| told.starts_with("execution "))
}

#[test]
fn a_state_machine_that_does_something_else_is_told() {
    let machine = shipped::<RabbitMq>("f36-lease");
    let program = semaphore::as_programs(&machine).expect("it has its own connections");
    assert!(is_told(&machine, &program, |settings| settings.verify_every = None), "the semaphore");
    let machine = shipped::<Redlock>("b44-clock-jump");
    assert!(is_told(&machine, &page::as_programs(&machine), |settings| settings.lease = None), "Redlock");
    let machine = shipped::<Lease>("lease-just-enough");
    let later = |settings: &mut lease::Settings| settings.retry_every = settings.retry_every.times(2);
    assert!(is_told(&machine, &with_programs("lease-just-enough"), later), "the lease");
    let machine = shipped::<Etcd>("e10-waiting");
    let program = etcd::as_programs(&machine).expect("its users read nothing");
    assert!(is_told(&machine, &program, |settings| settings.closes_session = false), "the election");
    let machine = shipped::<Stores>("b34-atomic");
    let program = recipes::as_programs(&machine).expect("it writes no timestamps");
    assert!(is_told(&machine, &program, |settings| settings.limit += 1), "the ranked semaphore");
}
