//! Importance splitting against runs from the start.

use fencepost::catalogue;
use fencepost_model::finding::{Property, Split};
use fencepost_sim::{Profile, Settings};

#[test]
fn splitting_and_plain_runs_estimate_the_same_probability() {
    let scenario = catalogue::named("b01-no-fencing").expect("it is in the catalogue");
    let stall = "stall = { at_least = 100, alpha = 1.0, at_most = 20000 }";
    let settings =
        Settings { profile: toml::from_str::<Profile>(stall).unwrap(), ends_with_storm: true, ..Settings::default() };
    let promise = Property::MutualExclusion;
    let is_unsafe = |seed: &u64| {
        let summarize = scenario.summarize(&Settings { seed: *seed, ..settings.clone() });
        summarize.violations.iter().any(|violation| violation.property == promise)
    };
    let runs = 20_000;
    let direct = (0..runs).filter(is_unsafe).count() as f64 / runs as f64;
    let estimates: Vec<f64> = (0..20)
        .map(|seed| scenario.split(&Settings { seed, ..settings.clone() }, promise, 500))
        .map(|split| if split.stages.len() < 3 { 0.0 } else { product(&split) })
        .collect();
    let mean = estimates.iter().sum::<f64>() / 20.0;
    let variance = estimates.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / 19.0;
    let deviation = (variance / 20.0 + direct / runs as f64).sqrt();
    assert!(direct > 0.001, "{direct}: too rare for the comparison to say anything");
    assert!((mean - direct).abs() < 3.0 * deviation, "{mean} by splitting, {direct} directly, ± {deviation}");
}

fn product(split: &Split) -> f64 {
    split.stages.iter().map(|stage| stage.reached as f64 / stage.tried as f64).product()
}

#[test]
fn the_same_seed_splits_the_same() {
    let scenario = catalogue::named("consul-record").expect("it is in the catalogue");
    let settings = Settings { seed: 7, ends_with_storm: true, ..Settings::default() };
    let split = || scenario.split(&settings, Property::MutualExclusion, 50);
    assert_eq!(split(), split());
    assert!(split().stages[0].tried == 50);
}
