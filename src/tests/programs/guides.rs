//! `consul lock`, the guides of Consul and the Go client's lock in the scenarios of the catalogue that use them: the same verdicts as
//! the recipes with settings. Of `consul-go-semaphore` the promise that breaks is compared. The other one needs the whole space, which is
//! too large: `go_semaphore` has it on a smaller clock.

use fencepost::checker::Options;
use fencepost::consul::{Consul, ElectionGuide, GoLock, GoSemaphore, LockCommand, LockUnit, SERVICE, SemaphoreGuide};
use fencepost::{Property, Scenario, Ticks};

use super::{Verdicts, shipped, verdicts, words};

/// The scenario with its clients as programs, whose durations are those of the scenario.
fn as_programs(name: &str) -> Scenario<Consul> {
    with_timeout(name, Ticks::ZERO)
}

/// The same, where `consul lock` has this `-timeout`.
pub(super) fn with_timeout(name: &str, timeout: Ticks) -> Scenario<Consul> {
    let machine = shipped::<Consul>(name);
    let (settings, terms) = (machine.service.clone(), machine.service.terms());
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

#[test]
#[ignore = "takes minutes: .ci/long"]
fn a_killed_group_gets_the_verdicts_of_the_recipe_by_hand() {
    compare(&["b12-kill-group", "b12-kill-group-equal"]);
}

/// Their spaces as programs are not known to end: more than eight minutes on two cores.
#[test]
#[ignore = "takes many minutes: .ci/long"]
fn a_killed_shell_and_a_semaphore_get_the_verdicts_of_the_recipes_by_hand() {
    compare(&["b12-kill-shell", "b12-kill-group-semaphore"]);
}

fn of_go_semaphore(property: Property, scenario: Scenario<Consul>) -> Verdicts {
    let mut alone = scenario;
    alone.promises.retain(|promise| promise.property == property);
    verdicts(SERVICE.any(&alone), &Options { workers: 2, ..Options::default() })
}

/// That two clients believe in one slot is found long before the whole space of the program is searched.
#[test]
#[ignore = "takes half a minute: .ci/long"]
fn the_go_semaphore_on_a_dead_link_gets_the_verdict_of_the_recipe_by_hand() {
    let belief = |scenario| of_go_semaphore(Property::SlotLimitBelief, scenario);
    let program = belief(as_programs("consul-go-semaphore"));
    assert_eq!(program, [(Property::SlotLimitBelief, "violated", 186_281, 501_538)]);
    assert_eq!(words(&program), words(&belief(shipped("consul-go-semaphore"))));
}

/// The server gives no slot to two, in the whole space.
#[test]
#[ignore = "takes minutes: .ci/long"]
fn the_go_semaphore_on_a_dead_link_keeps_the_limit_at_the_server_by_hand() {
    let limit = |scenario| of_go_semaphore(Property::SlotLimit, scenario);
    let program = limit(as_programs("consul-go-semaphore"));
    assert_eq!(program, [(Property::SlotLimit, "proven", 2_760_517, 10_552_570)]);
    assert_eq!(words(&program), words(&limit(shipped("consul-go-semaphore"))));
}
