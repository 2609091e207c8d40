//! `consul lock`, the guides of Consul and the Go client's lock in the scenarios of the catalogue that use them: the same verdicts as
//! the recipes with settings.

use fencepost::checker::Options;
use fencepost::consul::{
    Consul, ConsulMessage, ElectionGuide, GoLock, GoSemaphore, LockCommand, LockUnit, Request, SERVICE, SemaphoreGuide,
};
use fencepost::model::process::Message;
use fencepost::model::world::Action;
use fencepost::sim::{Settings, ready, walk};
use fencepost::{Property, Scenario, Ticks};

use super::{Verdicts, shipped, verdicts, words};

/// The scenario with its clients as programs, whose durations are those of the scenario.
pub(super) fn as_programs(name: &str) -> Scenario<Consul> {
    with_timeout(name, Ticks::ZERO)
}

/// The same, where `consul lock` has this `-timeout`.
pub(super) fn with_timeout(name: &str, timeout: Ticks) -> Scenario<Consul> {
    let machine = shipped::<Consul>(name);
    let (settings, terms) = (machine.service.clone(), machine.service.terms());
    // Without a wait a query is held for ever, and a wait of 0 is none: C-BLK-2.
    let (wait, retry_every) = (settings.watch_wait.unwrap_or_default(), settings.retry_every);
    let mut lock = GoLock::with(terms, 1);
    (lock.wait, lock.retry_every, lock.renew_after_error) = (wait, retry_every, retry_every);
    let limit = settings.semaphore.as_ref().map_or(1, |semaphore| semaphore.limits[0]);
    let mut semaphore = GoSemaphore::with(terms, limit, 1);
    (semaphore.wait, semaphore.renew_after_error) = (wait, retry_every);
    match (&settings.job, name) {
        (Some(job), _) => {
            let monitor = settings.monitor.expect("the command watches its key");
            let unit = match settings.semaphore {
                None => LockUnit::Lock(lock.monitored(monitor.retries, monitor.retry_every)),
                Some(_) => LockUnit::Semaphore(semaphore.monitored(monitor.retries, monitor.retry_every)),
            };
            let command = LockCommand { unit, grace: job.grace, killed: job.killed };
            machine.programs(command.timeout(timeout))
        }
        (None, "consul-go-lock-cut-off") => machine.programs(lock),
        (None, "consul-go-semaphore") => machine.programs(semaphore),
        (None, "consul-semaphore-guide") => machine.programs(SemaphoreGuide::with(terms, limit, retry_every)),
        (None, _) => machine.programs(ElectionGuide::with(terms, retry_every)),
    }
}

/// The two forms get the same verdicts.
fn compare(names: &[&str]) {
    let two = Options { workers: 2, ..Options::default() };
    for name in names {
        let mut program = as_programs(name);
        program.validate().unwrap_or_else(|error| panic!("{name}: {error}"));
        let machine = words(&verdicts(SERVICE.any(&shipped::<Consul>(name)), &two));
        // Where a promise is broken soon, the search goes on for the rest only: a panic would be found on the way.
        if machine.iter().all(|(_, word)| *word == "violated") {
            program.promises.retain(|promise| promise.property != Property::NoPanic);
        }
        let found = verdicts(SERVICE.any(&program), &two);
        assert_eq!(words(&found), machine, "{name}");
    }
}

#[test]
fn the_election_and_the_command_get_the_verdicts_of_the_recipes() {
    compare(&["consul-leader-election", "consul-leader-election-sooner", "consul-lock-command-short-delay"]);
}

#[test]
#[ignore = "takes minutes: cargo test --tests -- --ignored"]
fn so_they_do_where_the_state_space_is_large() {
    compare(&["consul-semaphore-guide", "consul-lock-command", "consul-go-lock-cut-off"]);
}

/// Their sessions have no TTL, and are not renewed.
#[test]
fn a_killed_shell_and_a_killed_group_get_the_verdicts_of_the_recipes() {
    compare(&["b12-kill-group", "b12-kill-group-equal", "b12-kill-shell"]);
}

/// How often the clients ask the server to renew a session, in twenty executions.
fn renewals(scenario: &Scenario<Consul>) -> usize {
    let of_seed = |seed| {
        let settings = Settings { seed, ..Settings::default() };
        let actions = walk(&ready(scenario, &settings), &settings).actions;
        let renews = |action: &&Action<Consul>| match action {
            Action::Deliver(envelope) => {
                matches!(envelope.message, Message::Service(ConsulMessage::Request(_, Request::RenewSession(_))))
            }
            _ => false,
        };
        actions.iter().filter(renews).count()
    };
    (0..20).map(of_seed).sum()
}

/// With a TTL it is.
#[test]
fn c_lck_2_a_session_without_a_ttl_is_not_renewed() {
    for name in ["b12-kill-group", "b12-kill-group-semaphore"] {
        assert_eq!(renewals(&as_programs(name)), 0, "{name}");
    }
    for name in ["consul-lock-command", "consul-go-semaphore"] {
        assert_ne!(renewals(&as_programs(name)), 0, "{name}");
    }
}

fn alone(mut scenario: Scenario<Consul>, property: Property) -> Verdicts {
    scenario.promises.retain(|promise| promise.property == property);
    verdicts(SERVICE.any(&scenario), &Options { workers: 2, ..Options::default() })
}

/// That two clients believe in one slot is found soon.
#[test]
fn a_killed_group_with_a_slot_breaks_what_the_recipe_breaks() {
    let belief = |scenario| alone(scenario, Property::SlotLimitBelief);
    let program = belief(as_programs("b12-kill-group-semaphore"));
    assert_eq!(program, [(Property::SlotLimitBelief, "violated", 5_162, 10_449)]);
    assert_eq!(words(&program), words(&belief(shipped("b12-kill-group-semaphore"))));
}

/// The server gives no slot to two, in the whole space.
#[test]
#[ignore = "takes five minutes: .ci/long"]
fn a_killed_group_with_a_slot_keeps_the_limit_at_the_server_by_hand() {
    let limit = |scenario| alone(scenario, Property::SlotLimit);
    let program = limit(as_programs("b12-kill-group-semaphore"));
    assert_eq!(program, [(Property::SlotLimit, "proven", 19_006_904, 90_821_804)]);
    assert_eq!(words(&program), words(&limit(shipped("b12-kill-group-semaphore"))));
}

/// That two clients believe in one slot is found long before the whole space of the program is searched.
#[test]
#[ignore = "takes half a minute: .ci/long"]
fn the_go_semaphore_on_a_dead_link_gets_the_verdict_of_the_recipe_by_hand() {
    let belief = |scenario| alone(scenario, Property::SlotLimitBelief);
    let program = belief(as_programs("consul-go-semaphore"));
    assert_eq!(program, [(Property::SlotLimitBelief, "violated", 186_281, 501_538)]);
    assert_eq!(words(&program), words(&belief(shipped("consul-go-semaphore"))));
}

/// The server gives no slot to two, in the whole space.
#[test]
#[ignore = "takes minutes: .ci/long"]
fn the_go_semaphore_on_a_dead_link_keeps_the_limit_at_the_server_by_hand() {
    let limit = |scenario| alone(scenario, Property::SlotLimit);
    let program = limit(as_programs("consul-go-semaphore"));
    assert_eq!(program, [(Property::SlotLimit, "proven", 2_760_517, 10_552_570)]);
    assert_eq!(words(&program), words(&limit(shipped("consul-go-semaphore"))));
}
