//! B-01 and B-20 side by side: over a grid of TTL, lock-delay and detector, no setting keeps both `mutual-exclusion` and
//! `eventually-acquired` where pauses have no bound; where they have one, some do, proven.

use fencepost::catalogue;
use fencepost_checker::Options;
use fencepost_model::scenario::Axis;

const GRID: [&str; 3] = [
    "service.ttl/service.renew_every/service.belief=none/none/until-told,1/1/self-limiting",
    "service.lock_delay=0,3",
    "service.health.checks=[],[\"serf-health\"]",
];

/// For each setting of the grid, the words of both verdicts.
fn verdicts(name: &str) -> Vec<String> {
    let base = catalogue::named(name).expect("it is in the catalogue");
    let axes: Vec<Axis> = GRID.iter().map(|axis| axis.parse().expect("it is an axis")).collect();
    base.vary(&axes)
        .into_iter()
        .map(|varied| {
            let scenario = varied.scenario.expect("every setting of the grid is possible");
            let outcomes = scenario.check(&Options::default()).expect("no internal error");
            outcomes.iter().map(|outcome| outcome.finding.verdict.word()).collect::<Vec<_>>().join(" ")
        })
        .collect()
}

/// Without a TTL: what gossip thinks of a node says nothing about the process on it, so a lock whose holder has died stays
/// lost; and gossip that errs takes a lock from a holder that lives.
const NO_TTL: [&str; 4] = ["proven violated", "violated violated", "proven violated", "violated violated"];

#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn without_a_bound_on_pauses_no_setting_keeps_both_promises() {
    let (without, with) = (NO_TTL.as_slice(), ["violated proven"; 4]);
    assert_eq!(verdicts("dial-unbounded"), [without, &with].concat());
}

#[test]
fn with_a_bound_on_pauses_some_settings_keep_both_promises() {
    let with = ["proven proven", "violated proven", "proven proven", "proven proven"];
    assert_eq!(verdicts("dial-bounded"), [NO_TTL.as_slice(), &with].concat());
}
