//! Durations with units in scenario files.

use fencepost_consul::Consul;
use fencepost_model::scenario::{Scenario, ScenarioError, from_toml};
use fencepost_model::time::Ticks;
use fencepost_model::units::Duration;

fn read(head: &str, service: &str, rest: &str) -> Result<Scenario<Consul>, ScenarioError> {
    let text = format!(
        "name = \"ours\"\nsystem = \"consul-lock\"\nabout = \"Ours.\"\nclients = 2\n{head}\n[service]\n{service}\n\n{rest}\n[[promise]]\nproperty = \"mutual-exclusion\"\n"
    );
    from_toml(&text, "ours.toml")
}

fn tick(scenario: &Scenario<Consul>) -> String {
    scenario.tick.map_or("none".to_owned(), |tick| tick.to_string())
}

#[test]
fn the_longest_tick_is_chosen_of_which_every_duration_is_a_multiple() {
    let service = "ttl = \"15s\"\nrenew_every = \"7.5s\"\nlock_delay = \"15s\"\nbelief = \"self-limiting\"";
    let scenario = read("", service, "[synchrony]\nwake_delay = \"22.5s\"\n").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(tick(&scenario), "7.5s");
    assert_eq!((scenario.service.ttl, scenario.service.lock_delay), (Some(Ticks::new(2)), Ticks::new(2)));
    assert_eq!(scenario.synchrony.wake_delay, Some(Ticks::new(3)));
    let assumed: Vec<String> = scenario.assumptions().iter().map(|assumption| assumption.sentence.clone()).collect();
    assert!(assumed.iter().any(|sentence| sentence == "a tick is 7.5s"), "{assumed:?}");
    // Written and read again it is the same, and so is a finer one.
    let text = scenario.to_toml();
    assert_eq!(from_toml::<Consul>(&text, "again.toml"), Ok(scenario.clone()));
    assert_eq!(scenario.refined(3).tick, Some(Duration::of_nanoseconds(2_500_000_000)));
}

#[test]
fn a_tick_that_is_given_is_taken_and_nothing_is_rounded() {
    let scenario = read("tick = \"1s\"", "ttl = \"15s\"\nlock_delay = 3", "").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((scenario.service.ttl, scenario.service.lock_delay), (Some(Ticks::new(15)), Ticks::new(3)));
    for (head, service, line, says) in [
        (
            "tick = \"1s\"",
            "ttl = \"20.2s\"",
            7,
            "20.2s is no whole number of ticks of 1s: write 20s or 21s, or `tick = \"200ms\"`",
        ),
        ("", "ttl = \"15sec\"", 7, "unknown unit `sec`"),
        ("", "ttl = \"15\"", 7, "`15` has no unit"),
        ("tick = 1", "ttl = 2", 5, "write \"1s\""),
        ("tick = \"0s\"", "ttl = 2", 5, "would stop time"),
        ("tick = \"4s\"", "recipe = \"go-lock\"", 7, "of the recipe's durations"),
    ] {
        let error = read(head, service, "").expect_err(says);
        assert!(error.to_string().contains(says), "{error}");
        let line = if service.contains("recipe") { error.line } else { line };
        assert_eq!(error.line, line, "{error}");
    }
}

#[test]
fn a_recipe_is_taken_in_the_ticks_of_the_file() {
    let scenario = read("", "recipe = \"go-lock\"\nttl = \"20s\"", "").unwrap_or_else(|error| panic!("{error}"));
    let settings = &scenario.service;
    let counts =
        [settings.renew_every, settings.watch_wait, settings.lock_delay_max].map(|ticks| ticks.map(Ticks::count));
    assert_eq!(tick(&scenario), "2.5s", "the recipe renews every 7.5 s and retries after 5 s");
    assert_eq!((settings.ttl, counts), (Some(Ticks::new(8)), [Some(3), Some(6), Some(24)]));
    assert_eq!((settings.lock_delay, settings.retry_every), (Ticks::new(6), Ticks::new(2)));
    // What the file has itself need not fit the recipe.
    let own = "recipe = \"lock-command\"\nttl = \"16s\"\nrenew_every = \"8s\"\nlock_delay = \"16s\"\nlock_delay_max = \"60s\"\nwatch_wait = \"16s\"\nretry_every = \"4s\"\n[service.monitor]\nretry_every = \"4s\"\n[service.job]\ngrace = \"8s\"";
    let scenario = read("tick = \"4s\"", own, "").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scenario.service.monitor.expect("it has one").retries, 3, "a count is no duration");
    assert_eq!(scenario.service.job.expect("it has one").grace, Ticks::new(2));
}
