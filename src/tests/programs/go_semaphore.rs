//! The Go client's semaphore as a program, line by line, against the recipe `go-semaphore` with its settings.

use fencepost::checker::Options;
use fencepost::consul::{
    self, Behavior, BeliefRule, Consul, GoSemaphore, Monitor, RenewalErrors, SERVICE, Semaphore, Waiting,
};
use fencepost::model::scenario::{Cutting, Links, Ways};
use fencepost::{Property, Scenario, Ticks};

use super::{verdicts, words};

/// The recipe `go-semaphore` with one slot on a small clock: a TTL of 2, a wait of 2, a retry after 1.
fn small() -> Scenario<Consul> {
    let settings = |consul: &mut consul::Settings| {
        (consul.ttl, consul.renew_every, consul.lock_delay) = (Some(Ticks::new(2)), Some(Ticks::new(1)), Ticks::new(1));
        consul.behavior = Behavior::Delete;
        (consul.renewal_errors, consul.belief) = (RenewalErrors::RetryForTtl, BeliefRule::ByMonitor);
        (consul.waiting, consul.watch_wait, consul.retry_every) = (Waiting::Watch, Some(Ticks::new(2)), Ticks::new(1));
        consul.monitor = Some(Monitor::default());
        consul.semaphore = Some(Semaphore { limits: vec![1], ..Semaphore::default() });
    };
    let scenario = Scenario::<Consul> { system: "consul-semaphore".to_owned(), ..Scenario::new("small-go-semaphore") };
    scenario.service(settings).message_delay(0).wake_delay(0).server_delay(0)
}

fn as_program(scenario: Scenario<Consul>) -> Scenario<Consul> {
    let mut recipe = GoSemaphore::with(scenario.service.terms(), 1, 1);
    recipe.wait = Ticks::new(2);
    scenario.programs(recipe)
}

/// In each of these worlds the two forms get the same verdicts.
#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn the_go_semaphore_line_by_line_gets_the_verdicts_of_the_recipe() {
    let crash = small().budget(|budget| budget.crashes = 1);
    let dead_link = Scenario {
        network: Links { cuts: Cutting::Drop, ways: Ways::Both, ..Links::default() },
        ..small().budget(|budget| budget.cuts = 1)
    };
    let kept = [Property::SlotLimitBelief, Property::SlotLimit, Property::SessionConsistency];
    let worlds = [
        ("nothing fails", small(), &kept[..], "proven"),
        ("a crash", crash, &kept[..], "proven"),
        // Its whole space is large; the promise is broken long before.
        ("a dead link", dead_link, &kept[..1], "violated"),
    ];
    let two = Options { workers: 2, ..Options::default() };
    for (world, scenario, promises, belief) in worlds {
        let scenario = promises.iter().fold(scenario, |scenario, property| scenario.promise(*property));
        let machine = words(&verdicts(SERVICE.any(&scenario), &two));
        let mut program = as_program(scenario);
        program.promises.retain(|promise| belief == "proven" || promise.property != Property::NoPanic);
        let program = verdicts(SERVICE.any(&program), &two);
        assert_eq!(words(&program), machine, "{world}");
        assert_eq!((program[0].0, program[0].1), (Property::SlotLimitBelief, belief), "{world}");
    }
}
