//! The Go client's lock as a program, line by line, against the recipe `go-lock` with its settings.

use fencepost::checker::Options;
use fencepost::consul::{self, BeliefRule, Consul, GoLock, Monitor, OnLoss, Reads, RenewalErrors, SERVICE, Waiting};
use fencepost::model::scenario::{Cutting, Links, Ways};
use fencepost::{Property, Scenario, Ticks};

use super::{agreed, verdicts, words};

/// The scenario with the Go client's lock as its clients' program. Its sessions have the terms of the scenario.
pub(super) fn go_lock(scenario: Scenario<Consul>, ticks_per_second: i64) -> Scenario<Consul> {
    let terms = scenario.service.terms();
    scenario.programs(GoLock::with(terms, ticks_per_second))
}

/// The recipe `go-lock` on a small clock: a TTL of 2, a wait of 2, a retry after 1.
fn small() -> Scenario<Consul> {
    let settings = |consul: &mut consul::Settings| {
        (consul.ttl, consul.renew_every, consul.lock_delay) = (Some(Ticks::new(2)), Some(Ticks::new(1)), Ticks::new(1));
        (consul.renewal_errors, consul.belief) = (RenewalErrors::RetryForTtl, BeliefRule::ByMonitor);
        (consul.waiting, consul.watch_wait, consul.retry_every) =
            (Waiting::ReadThenWatch, Some(Ticks::new(2)), Ticks::new(1));
        consul.monitor = Some(Monitor { on_loss: OnLoss::Keep, reads: Reads::Consistent, ..Monitor::default() });
    };
    Scenario::<Consul>::new("small-go-lock").service(settings).message_delay(0).wake_delay(0).server_delay(0)
}

fn as_program(scenario: Scenario<Consul>) -> Scenario<Consul> {
    let terms = scenario.service.terms();
    let mut recipe = GoLock::with(terms, 1);
    (recipe.wait, recipe.retry_every) = (Ticks::new(2), Ticks::new(1));
    scenario.programs(recipe)
}

/// In each of these worlds the two forms get the same verdicts, in both engines.
#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn the_go_lock_line_by_line_gets_the_verdicts_of_the_recipe() {
    let promises = |scenario: Scenario<Consul>| {
        scenario.promise(Property::MutualExclusion).promise(Property::SingleOwner).promise(Property::SessionConsistency)
    };
    let dead_link = |scenario: Scenario<Consul>| Scenario {
        network: Links { cuts: Cutting::Drop, ways: Ways::Both, ..Links::default() },
        ..scenario.budget(|budget| budget.cuts = 1)
    };
    agreed(SERVICE.any(&as_program(promises(small()))));
    let worlds = [
        ("nothing fails", small(), "proven"),
        ("a crash", small().budget(|budget| budget.crashes = 1), "proven"),
        ("a dead link", dead_link(small()), "violated"),
    ];
    for (world, scenario, exclusion) in worlds {
        let machine = verdicts(SERVICE.any(&promises(scenario.clone())), &Options::default());
        let program = verdicts(SERVICE.any(&as_program(promises(scenario))), &Options::default());
        assert_eq!(words(&program), words(&machine), "{world}");
        assert_eq!((program[0].0, program[0].1), (Property::MutualExclusion, exclusion), "{world}");
    }
}
