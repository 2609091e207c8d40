//! Rounds without end: no client of any service counts them.

use fencepost::model::scenario::UNLIMITED;
use fencepost::{AnyScenario, catalogue};

/// The numbers of rounds that a world shows, in JSON.
fn rounds(world: &serde_json::Value, found: &mut Vec<u64>) {
    match world {
        serde_json::Value::Object(entries) => {
            for (name, value) in entries {
                match value.as_u64().filter(|_| name == "rounds" || name == "looks") {
                    Some(number) => found.push(number),
                    None => rounds(value, found),
                }
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| rounds(value, found)),
        _ => {}
    }
}

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
struct Draw(u64);

impl Draw {
    /// A number below `count`.
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % count as u64).expect("it is below a length")
    }
}

/// A random execution of the scenario without an end of its rounds; the numbers of rounds in its last world.
fn after_a_walk(scenario: &dyn AnyScenario, draw: &mut Draw) -> Option<Vec<u64>> {
    fencepost::with_scenario!(scenario, scenario => {
        let mut endless = scenario.clone();
        endless.rounds = UNLIMITED;
        if endless.validate().is_err() {
            return None;
        }
        let (mut world, mut enabled) = (endless.start(), Vec::new());
        for _ in 0..300 {
            endless.enabled(&world, &mut enabled);
            if enabled.is_empty() {
                break;
            }
            endless.step(&mut world, &enabled[draw.below(enabled.len())]);
        }
        let mut found = Vec::new();
        rounds(&serde_json::to_value(&world.clients).expect("it is plain data"), &mut found);
        Some(found)
    })
}

#[test]
fn no_client_counts_rounds_without_end() {
    let mut draw = Draw(1);
    let all = catalogue::all();
    let endless: Vec<Vec<u64>> = all.iter().filter_map(|scenario| after_a_walk(&**scenario, &mut draw)).collect();
    assert!(endless.len() + 20 > all.len(), "{} of {} scenarios may be without end", endless.len(), all.len());
    let counted = endless.iter().filter(|found| found.iter().any(|number| *number != u64::from(UNLIMITED))).count();
    assert_eq!(counted, 0, "scenarios in which a client counts its rounds");
    assert!(endless.iter().all(|found| !found.is_empty()), "a client that shows no rounds");
}

#[test]
fn files_say_unlimited() {
    let text = |rounds: &str| {
        let text = catalogue::named("lease-just-enough").expect("it is there").to_toml();
        text.replace("rounds = 2", rounds)
    };
    let read = catalogue::read(&text("rounds = \"unlimited\""), "file").expect("it is a scenario");
    assert!(read.to_toml().contains("rounds = \"unlimited\""));
    let error = |rounds: &str| catalogue::read(&text(rounds), "file").expect_err("it is wrong").to_string();
    for wrong in ["rounds = 255", "rounds = \"endless\"", "rounds = -1"] {
        assert!(error(wrong).contains("expected a whole number from 0 to 254"), "{}", error(wrong));
    }
    assert!(error("rounds = 0").contains("with 0 rounds no client asks for the lock"));
}
