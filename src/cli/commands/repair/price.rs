//! What a repair costs in liveness, measured over seeds. Samples, and no proof.

use fencepost::AnyScenario;
use fencepost::model::finding::Measurement;
use fencepost::sim::{SchedulerKind, Settings};

/// The maximum number of actions of a measured run.
const ACTIONS_MAX: u64 = 1_000_000;

/// What runs measure; in ticks of the scenario.
#[derive(Copy, Clone, PartialEq, PartialOrd, Debug)]
pub struct Price {
    /// The time during which a slot was free and a client waited, for each entry.
    pub idle: f64,
    /// The requests to the service, for each entry.
    pub requests: f64,
    /// False expiries: sessions that ended by themselves while their client was alive, in 1,000 ticks of a client; none if the service
    /// has no sessions.
    pub false_expiries: Option<f64>,
}

/// The price of a scenario; none if it cannot be simulated, or if no client ever enters.
pub fn price(scenario: &dyn AnyScenario, seeds: u64) -> Option<Price> {
    let scheduler = SchedulerKind::Realistic;
    let refinement = scheduler.refinement();
    let settings = Settings {
        scheduler,
        refinement,
        actions_max: ACTIONS_MAX,
        ends_with_storm: true,
        measures: true,
        ..Settings::default()
    };
    scenario.can_be_simulated(&settings).ok()?;
    let mut sum = Measurement::default();
    for seed in 0..seeds {
        let run = scenario.summarize(&Settings { seed, ..settings.clone() });
        let measured = run.measurement.filter(|_| run.actions < ACTIONS_MAX)?;
        sum.add(&measured);
    }
    let ticks = |time: i64| time as f64 / refinement as f64;
    let each = |count: f64| count / sum.entries as f64;
    (sum.entries > 0).then(|| Price {
        idle: each(ticks(sum.idle)),
        requests: each(sum.requests as f64),
        false_expiries: (sum.sessions > 0).then(|| sum.mistakes as f64 * 1000.0 / ticks(sum.watched)),
    })
}
