//! The same scenario with other settings.

use fencepost::catalogue;
use fencepost::model::scenario::Axis;

#[test]
fn detectors_drop_settings_they_lack_and_equal_variants_appear_once() {
    let base = catalogue::named("dial-bounded").expect("it is in the catalogue");
    let axes = ["detector=none,gossip,ttl,both", "ttl/renewal=1/1,2/1"].map(|axis| axis.parse().unwrap());
    let varied = base.vary(&axes);
    let settings: Vec<String> = varied.iter().map(|varied| varied.settings.join(", ")).collect();
    assert_eq!(
        settings,
        [
            "detector = none",
            "detector = gossip",
            "ttl = 1, renew_every = 1, detector = ttl",
            "ttl = 1, renew_every = 1, detector = both",
            "ttl = 2, renew_every = 1, detector = ttl",
            "ttl = 2, renew_every = 1, detector = both",
        ]
    );
    let text = varied[1].scenario.as_ref().unwrap().to_toml();
    assert!(!text.contains("ttl =") && text.contains("serf-health") && !text.contains("self-limiting"), "{text}");
}

#[test]
fn every_combination_comes_once_and_impossible_ones_say_why() {
    let base = catalogue::named("dial-bounded").expect("it is in the catalogue");
    let axes = [
        "service.ttl/service.renew_every=none/none,1/1",
        "service.health.checks=[],[\"serf-health\"]",
        "service.belief=until-told,nonsense",
    ];
    let axes: Vec<Axis> = axes.iter().map(|axis| axis.parse().unwrap()).collect();
    let varied = base.vary(&axes);
    assert_eq!(varied.len(), 8);
    assert_eq!(
        varied[2].settings,
        ["no ttl", "no renew_every", "checks = [\"serf-health\"]", "belief = \"until-told\""]
    );
    let error = varied[5].scenario.as_ref().unwrap_err().to_string();
    assert!(error.contains("nonsense"), "{error}");
    assert!(varied[4].scenario.is_ok());
    for odd in ["ttl", "ttl=", "a/b=1", "a.=1"] {
        assert!(odd.parse::<Axis>().is_err(), "{odd}");
    }
}
