//! `consul lock -timeout` as a program: when it gives up, when it waits longer, and what it changes for those that wait.

use fencepost::checker::Options;
use fencepost::consul::{
    self, Behavior, Consul, GoLock, GoSemaphore, Killed, LockCommand, LockUnit, SERVICE, Semaphore,
};
use fencepost::model::fact::Fact;
use fencepost::model::scenario::{Cutting, Links, Ways};
use fencepost::model::world::Action;
use fencepost::{Level, Memory, Property, Scenario, Ticks, View};

use super::guides::with_timeout;
use super::verdicts;

/// Two commands and nothing that fails, on a small clock: a TTL of 2, a lock-delay of 1, a retry after 3. With a timeout in ticks; 0:
/// without one.
fn lock(timeout: i64) -> Scenario<Consul> {
    let scenario = consul::lock("lock-timeout").scenario().service(|consul| {
        (consul.ttl, consul.renew_every) = (Some(Ticks::new(2)), Some(Ticks::new(1)));
        consul.lock_delay = Ticks::new(1);
    });
    let scenario = scenario.message_delay(0).wake_delay(0).server_delay(0);
    let mut lock = GoLock::with(scenario.service.terms(), 1);
    (lock.retry_every, lock.wait) = (Ticks::new(3), Ticks::new(2));
    with(scenario, LockUnit::Lock(lock.monitored(0, Ticks::new(1))), timeout)
}

/// The same with a semaphore that has one slot. A real `-n 1` is a lock: two slots would need a third command to be full.
fn semaphore(timeout: i64) -> Scenario<Consul> {
    let scenario = Scenario::<Consul> { system: "consul-semaphore".to_owned(), ..lock(0) }.service(|consul| {
        consul.behavior = Behavior::Delete;
        consul.semaphore = Some(Semaphore { limits: vec![1], ..Semaphore::default() });
    });
    let mut semaphore = GoSemaphore::with(scenario.service.terms(), 1, 1);
    semaphore.wait = Ticks::new(2);
    with(scenario, LockUnit::Semaphore(semaphore.monitored(0, Ticks::new(1))), timeout)
}

fn with(scenario: Scenario<Consul>, unit: LockUnit, timeout: i64) -> Scenario<Consul> {
    let command = LockCommand { unit, grace: Ticks::new(1), killed: Killed::Group };
    let mut scenario = scenario.programs(command.timeout(Ticks::new(timeout)));
    scenario.promises.clear();
    scenario
}

/// The link between a client and the servers is cut, and what is on it is lost.
fn dead_link(scenario: Scenario<Consul>) -> Scenario<Consul> {
    let network = Links { cuts: Cutting::Drop, ways: Ways::Both, ..Links::default() };
    Scenario { network, ..scenario }.budget(|budget| budget.cuts = 1)
}

/// No client that waits for the lock stops waiting before it is inside.
fn none_gives_up(view: &View<'_, Consul>, waiting: &mut Memory) -> Result<(), String> {
    for (place, waits) in waiting.iter_mut().enumerate() {
        let is = |client: fencepost::model::ids::ClientId| client.place() == place;
        let waited = std::mem::replace(waits, view.after.waiting().any(is).into());
        if waited == 1 && *waits == 0 && !view.after.inside().any(is) {
            return Err(format!("client {} gives up", place + 1));
        }
    }
    Ok(())
}

/// No client enters after it has waited for a tick.
fn enters_at_once(view: &View<'_, Consul>, ticks: &mut Memory) -> Result<(), String> {
    let late = view.facts.iter().find_map(|fact| match fact {
        Fact::Entered { client, .. } if ticks[client.place()] > 0 => Some(client),
        _ => None,
    });
    late.map_or(Ok(()), |client| Err(format!("{client} enters after a wait")))?;
    for (place, waited) in ticks.iter_mut().enumerate() {
        let waits = view.after.waiting().any(|client| client.place() == place);
        let passes = matches!(view.action, Action::Advance(_));
        *waited = u32::from(waits && (passes || *waited > 0));
    }
    Ok(())
}

/// What a search says of the only own property: the verdict, the steps of the execution, and the last sentence.
fn judged(scenario: &Scenario<Consul>) -> (&'static str, usize, String) {
    let outcomes = SERVICE.any(scenario).check(&Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let own = outcomes.into_iter().find(|outcome| matches!(outcome.finding.property, Property::Own(_)));
    let verdict = own.expect("it has an own property").finding.verdict;
    let steps = verdict.story().map_or(0, |story| story.steps.len());
    let last = verdict.story().and_then(|story| story.steps.last()?.violations.first().cloned());
    (verdict.word(), steps, last.map(|violation| violation.message).unwrap_or_default())
}

#[test]
fn a_command_with_a_timeout_gives_up_while_another_one_holds_the_lock() {
    let own = |scenario: Scenario<Consul>| scenario.own_property("none-gives-up", Level::Belief, none_gives_up);
    assert_eq!(judged(&own(lock(2))), ("violated", 27, "client 2 gives up".to_owned()));
}

#[test]
fn a_command_with_a_timeout_gets_the_lock_in_time() {
    let own = |scenario: Scenario<Consul>| scenario.own_property("enters-at-once", Level::Belief, enters_at_once);
    assert_eq!(judged(&own(lock(2))), ("violated", 22, "client 2 enters after a wait".to_owned()));
}

/// With a timeout of 5 s, which are 2 ticks.
#[test]
fn a_timeout_does_not_save_a_lock_delay_that_is_too_short() {
    let mut program = with_timeout("consul-lock-command-short-delay", Ticks::new(2));
    program.promises.retain(|promise| promise.property == Property::MutualExclusion);
    let found = verdicts(SERVICE.any(&program), &Options::default());
    assert_eq!(found, [(Property::MutualExclusion, "violated", 5_494, 13_941)]);
}

#[test]
#[ignore = "takes a minute: .ci/long"]
fn with_a_timeout_the_lock_keeps_its_promises_by_hand() {
    let found = verdicts(SERVICE.any(&lock(2).promise(Property::MutualExclusion)), &Options::default());
    assert_eq!(found, [(Property::MutualExclusion, "proven", 564_761, 3_028_179)]);
}

/// A holder may work for ever. Those that wait for it do so without a timeout, and with one where the servers do not answer: the wait ends at
/// the servers, and a client whose link is dead is told nothing.
#[test]
#[ignore = "takes minutes: .ci/long"]
fn with_a_timeout_no_command_waits_for_ever_where_the_servers_answer_by_hand() {
    let progress =
        |scenario: Scenario<Consul>| verdicts(SERVICE.any(&scenario.promise(Property::Progress)), &Options::default());
    assert_eq!(progress(lock(0)), [(Property::Progress, "violated", 727_724, 3_852_070)]);
    assert_eq!(progress(lock(2)), [(Property::Progress, "proven", 1_129_450, 6_056_092)]);
    assert_eq!(progress(dead_link(lock(2))), [(Property::Progress, "violated", 3_339_450, 18_573_771)]);
}

#[test]
#[ignore = "takes half a minute: .ci/long"]
fn a_semaphore_with_a_timeout_gets_its_slot_in_time_by_hand() {
    let own = |scenario: Scenario<Consul>| scenario.own_property("enters-at-once", Level::Belief, enters_at_once);
    assert_eq!(judged(&own(semaphore(2))), ("violated", 28, "client 2 enters after a wait".to_owned()));
}
