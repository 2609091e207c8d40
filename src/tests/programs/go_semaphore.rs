//! The Go client's semaphore as a program, line by line, against the recipe `go-semaphore` with its settings.

use fencepost::checker::Options;
use fencepost::consul::{self, Behavior, Belief, Consul, GoSemaphore, Monitor, RenewalErrors, Semaphore, Waiting};
use fencepost::{Property, Scenario, Ticks};

use super::{verdicts, words};

/// The recipe `go-semaphore` on a small clock: a TTL of 2, a wait of 2, a retry after 1.
pub(super) fn small(limit: u8) -> Scenario<Consul> {
    let settings = |consul: &mut consul::Settings| {
        (consul.ttl, consul.renew_every, consul.lock_delay) = (Some(Ticks::new(2)), Some(Ticks::new(1)), Ticks::new(1));
        consul.behavior = Behavior::Delete;
        (consul.renewal_errors, consul.belief) = (RenewalErrors::RetryForTtl, Belief::ByMonitor);
        (consul.waiting, consul.watch_wait, consul.retry_every) = (Waiting::Watch, Some(Ticks::new(2)), Ticks::new(1));
        consul.monitor = Some(Monitor::default());
        consul.semaphore = Some(Semaphore { limits: vec![limit], ..Semaphore::default() });
    };
    let scenario = Scenario::<Consul> { system: "consul-semaphore".to_owned(), ..Scenario::new("small-go-semaphore") };
    scenario.service(settings).message_delay(0).wake_delay(0).server_delay(0)
}

pub(super) fn as_program(scenario: Scenario<Consul>, limit: u8) -> Scenario<Consul> {
    let mut recipe = GoSemaphore::with(scenario.service.terms(), limit, 1);
    recipe.wait = Ticks::new(2);
    scenario.programs(recipe)
}

/// In each of these worlds the two forms get the same verdicts.
#[test]
fn the_go_semaphore_line_by_line_gets_the_verdicts_of_the_recipe() {
    let worlds = [("nothing fails", small(1)), ("a crash", small(1).budget(|budget| budget.crashes = 1))];
    let two = Options { workers: 2, ..Options::default() };
    for (world, scenario) in worlds {
        let scenario = scenario
            .promise(Property::SlotLimitBelief)
            .promise(Property::SlotLimit)
            .promise(Property::SessionConsistency);
        let machine = words(&verdicts(&scenario, &two));
        let program = verdicts(&as_program(scenario, 1), &two);
        assert_eq!(words(&program), machine, "{world}");
        assert_eq!((program[0].0, program[0].1), (Property::SlotLimitBelief, "proven"), "{world}");
    }
}
