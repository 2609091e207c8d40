//! Durations with units in scenario files.

use fencepost_consul::Consul;
use fencepost_model::scenario::{Drift, Scenario, ScenarioError, from_toml, text_in_units};
use fencepost_model::time::Ticks;
use fencepost_model::trace::perform;
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
    // So are other durations.
    for (kind, says) in [
        ("wake-delay", "a client's wake-up is late by at most 22.5s"),
        ("session-ttl", "sessions have a TTL of 15s, which the server multiplies by 2"),
        ("lock-delay", "the lock-delay is 15s"),
    ] {
        let found = scenario.assumptions().into_iter().find(|assumption| assumption.kind == kind);
        assert_eq!(found.expect(kind).sentence, says);
    }
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

#[test]
fn a_plain_number_among_units_is_refused_where_it_is_a_duration_and_the_file_has_no_tick() {
    let units = "ttl = \"15s\"";
    for (service, rest, line, says) in [
        (
            "lock_delay = 3",
            "",
            8,
            "service.lock_delay: 3 has no unit, and other durations of this file have one: write \"3s\", or `tick = \"15s\"`",
        ),
        ("lock_delay = \"15s\"", "[synchrony]\nmessage_delay = 1\n", 11, "synchrony.message_delay: 1 has no unit"),
        ("lock_delay = \"15s\"", "[clocks]\noffsets = [0, 1]\n", 11, "clocks.offsets.1: 1 has no unit"),
        (
            "lock_delay = \"15s\"",
            "[service.monitor]\nretry_every = 2\n",
            11,
            "service.monitor.retry_every: 2 has no unit",
        ),
        (
            "lock_delay = \"15s\"",
            "[[promise]]\nproperty = \"eventually-acquired\"\nbound = 12\n",
            12,
            "promise.0.bound: 12 has no unit",
        ),
    ] {
        let error = read("", &format!("{units}\n{service}"), rest).expect_err(says);
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(error.line, line, "{error}");
        // With a tick of its own, they are ticks.
        let with_tick = read("tick = \"5s\"", &format!("{units}\n{service}"), rest);
        assert!(with_tick.as_ref().err().is_none_or(|error| !error.message.contains("has no unit")), "{with_tick:?}");
    }
    // Counts are no durations, and 0 is 0 in every unit.
    let counts = "ttl = \"15s\"\nttl_multiplier = 2\nlock_delay = 0\nrenew_every = \"7.5s\"";
    let scenario = read("", counts, "[budget]\npauses = 1\n[synchrony]\nwake_delay = 0\n");
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((tick(&scenario).as_str(), scenario.service.ttl_multiplier), ("7.5s", 2));
}

#[test]
fn a_file_is_written_with_units_and_reads_the_same() {
    let service = "ttl = \"15s\"\nrenew_every = \"7.5s\"\nlock_delay = \"15s\"\nbelief = \"self-limiting\"";
    let rest = "[synchrony]\nwake_delay = \"22.5s\"\n";
    let scenario = read("", service, rest).unwrap_or_else(|error| panic!("{error}"));
    let paths = scenario.duration_paths();
    for path in ["service.ttl", "service.renew_every", "service.lock_delay", "synchrony.wake_delay"] {
        assert!(paths.iter().any(|known| known == path), "{path}: {paths:?}");
    }
    assert!(!paths.iter().any(|path| path == "service.ttl_multiplier"), "{paths:?}");
    let text = text_in_units(&scenario.to_toml(), &paths, scenario.tick.expect("it has one"));
    assert!(text.contains("ttl = \"15s\"") && text.contains("wake_delay = \"22.5s\""), "{text}");
    assert_eq!(from_toml::<Consul>(&text, "again.toml"), Ok(scenario));
}

#[test]
fn a_script_and_a_prefix_have_units() {
    let service = "ttl = \"15s\"\nlock_delay = \"15s\"\nbelief = \"self-limiting\"";
    let head = "tick = \"7.5s\"\nprefix = [\"client 1 is asked to take the lock\", \"15s pass\"]";
    let scenario = read(head, service, "").unwrap_or_else(|error| panic!("{error}"));
    let script = "scenario ours\nclient 2 is asked to take the lock\n22.5s pass\n1 tick passes\n";
    let performed = perform(script, &scenario).unwrap_or_else(|error| panic!("{error}"));
    let lines: Vec<&str> =
        performed.lines().filter(|line| line.ends_with("pass") || line.ends_with("passes")).collect();
    assert_eq!(lines, ["22.5s pass", "7.5s passes"]);
    assert_eq!(perform(&performed, &scenario), Ok(performed.clone()), "what is recorded can be performed");
    assert_eq!(scenario.observed().now.ticks(), 2, "the prefix lets two ticks pass");
    let refined = scenario.refined(7);
    assert_eq!((refined.tick, refined.observed().now.ticks()), (None, 14), "a seventh of a tick has no name");
    let error = perform("scenario ours\n2s pass\n", &scenario).expect_err("it is no whole number of ticks");
    assert!(error.to_string().starts_with("line 2: “2s pass” is not possible here"), "{error}");
}

#[test]
fn a_rate_is_the_skew_that_it_adds_up_to_over_the_longest_span_rounded_up() {
    let service = "ttl = \"15s\"\nrenew_every = \"7.5s\"\nlock_delay = \"15s\"\nbelief = \"self-limiting\"";
    let of = |head: &str, clocks: &str| read(head, service, &format!("[clocks]\n{clocks}\n"));
    for (head, clocks, tick_is, skew, slips) in [
        ("", "rate = \"200ppm\"", "7.5s", 1, 2),
        ("tick = \"2ms\"", "rate = \"200ppm\"", "2ms", 2, 4),
        ("tick = \"1ms\"", "rate = \"200ppm\"\nstep = \"2ms\"", "1ms", 4, 4),
        ("", "rate = \"0ppm\"", "7.5s", 0, 0),
        ("", "rate = \"1000000ppm\"", "7.5s", 2, 4),
        // A larger one stays.
        ("", "rate = \"200ppm\"\nskew = \"22.5s\"", "7.5s", 3, 6),
        // So does a larger budget, and a smaller one would leave executions out.
        ("", "rate = \"200ppm\"\n[budget]\nslips = 5", "7.5s", 1, 5),
        ("", "rate = \"200ppm\"\n[budget]\nslips = 1", "7.5s", 1, 2),
    ] {
        let scenario = of(head, clocks).unwrap_or_else(|error| panic!("{clocks}: {error}"));
        assert_eq!(tick(&scenario), tick_is);
        assert_eq!((scenario.clocks.skew.count(), scenario.budget.slips), (skew, slips), "{head} {clocks}");
        assert_eq!(scenario.clocks.drift, Drift::SlowClients);
        let again = from_toml::<Consul>(&scenario.to_toml(), "again.toml");
        assert_eq!(again.as_ref(), Ok(&scenario), "{head} {clocks}");
        assert!(scenario.refined(3).validate().is_ok() && scenario.refined(7).validate().is_ok());
    }
    let told = of("", "rate = \"200ppm\"").expect("it is right").assumptions();
    let told = told.into_iter().find(|assumption| assumption.kind == "clock-skew").expect("it is told").sentence;
    assert_eq!(
        told,
        "clients' clocks are slower: each falls behind by at most 7.5s in the whole execution, 7.5s at a time (200ppm over 15s, the longest span that is compared, is 3ms); rates are explored at this resolution"
    );
    for (clocks, says) in [
        ("rate = \"200\"", "is no rate: write it as 200ppm"),
        ("rate = \"200ppm\"\nstep = 0", "`clocks.step` is at least 1 tick"),
    ] {
        let error = of("", clocks).expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    }
    let fine = of("tick = \"1us\"", "rate = \"200ppm\"").expect_err("there are too many slips").to_string();
    assert!(fine.contains("clocks.rate: this takes 6000 slips"), "{fine}");
    let ticks = read("", "ttl = 2\nlock_delay = 2\nbelief = \"self-limiting\"", "[clocks]\nrate = \"200ppm\"\n");
    let ticks = ticks.expect_err("it has no tick").to_string();
    assert!(ticks.contains("ours.toml:12:8: clocks.rate: a rate needs durations with units"), "{ticks}");
}
