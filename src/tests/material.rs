//! What random scenarios are made of.

use std::collections::BTreeSet;

use fencepost::catalogue::{self, CATALOGUE};
use fencepost::registry::random::Material;
use toml::Value;

/// Draws without a library: a test must be the same everywhere.
fn draws(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |bound| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    }
}

#[test]
fn scenarios_are_valid_small_and_the_same_for_the_same_numbers() {
    let material = Material::of(CATALOGUE);
    let mut systems = BTreeSet::new();
    for seed in 0..300 {
        let scenario = material.scenario(&mut draws(seed));
        let text = scenario.to_toml();
        assert_eq!(text, material.scenario(&mut draws(seed)).to_toml(), "{seed}");
        assert_eq!(catalogue::read(&text, "random").map(|again| *again == *scenario), Ok(true), "{seed}");
        assert!(scenario.description().clients <= 3 && scenario.description().rounds <= 2);
        systems.insert(scenario.system().to_owned());
    }
    assert!(material.systems().eq(systems.iter().map(String::as_str)), "every system is drawn: {systems:?}");
}

#[test]
fn most_scenarios_differ_from_those_of_the_catalogue() {
    let material = Material::of(CATALOGUE);
    let texts: BTreeSet<String> = (0..300).map(|seed| material.scenario(&mut draws(seed)).to_toml()).collect();
    assert!(texts.len() > 280, "{}", texts.len());
}

/// The parser knows more than the catalogue uses: settings that no scenario has are drawn as well.
#[test]
fn settings_and_variants_that_no_scenario_uses_are_known() {
    let material = Material::of(CATALOGUE);
    let values = |system, path| material.values(system, path);
    let text = |word: &str| Value::String(word.to_owned());
    assert!(values("lease", "network.cuts").contains(&text("drop")));
    assert!(values("rabbitmq-semaphore", "service.silence").contains(&text("absent")));
    assert!(!values("lease", "budget.cuts").is_empty());
    assert!(!values("lease", "synchrony.server_delay").is_empty());
}
