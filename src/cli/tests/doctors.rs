//! `fencepost doctor` with configurations as they are in the field, and without any question.

use std::fs;

use crate::program::{fencepost, folder, json, stderr, stdout};

const VAULT: &str = "storage \"consul\" {\n  path = \"vault/\"\n  session_ttl = \"20s\"\n  lock_wait_time = \"10s\"\n  colour = \"blue\"\n}\n";

/// The lines from the settings on.
fn answer(text: &str) -> &str {
    text.split_once("consul-lock, recipe").expect("the settings").1
}

#[test]
fn a_configuration_of_vault_is_answered_and_says_how_each_field_was_understood() {
    let file = folder("doctor-vault").join("vault.hcl");
    fs::write(&file, VAULT).expect("writable");
    let path = file.to_str().expect("text");
    let output = fencepost(&["doctor", "--from", path, "--pause", "1s", "--property", "keeps-lock", "--quiet"]);
    let printed = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}{printed}", stderr(&output));
    for says in [
        "read as `storage` of Vault in Consul",
        "session_ttl = \"20s\" (line 3): ttl 20s, renew-every 10s",
        "lock_wait_time (line 4): no verdict depends on it: 10s is",
        "colour (line 5): not known here",
        "lock-delay is not set: 15s",
        "✓ keeps-lock",
    ] {
        assert!(printed.contains(says), "{says}: {printed}");
    }
    // The command that it prints asks the same.
    let command =
        printed.lines().find_map(|line| line.strip_prefix("the same question: fencepost ")).expect("a command");
    let words: Vec<&str> = command.split(' ').chain(["--property", "keeps-lock", "--quiet"]).collect();
    assert_eq!(answer(&stdout(&fencepost(&words))), answer(&printed));
    let lines = json(&fencepost(&["doctor", "--from", path, "--property", "keeps-lock", "--quiet", "--json"]));
    assert_eq!(
        (&lines[0]["understood"][1]["field"], &lines[0]["understood"][1]["line"]),
        (&"session_ttl".into(), &3.into())
    );
}

#[test]
fn flags_of_consul_lock_with_a_limit_are_a_semaphore_and_no_lock_delay_helps_it() {
    let flags = "-n 3 -try 5s";
    let output =
        fencepost(&["doctor", "--consul-lock", flags, "--latency", "1s", "--property", "keeps-lock", "--quiet"]);
    let printed = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}{printed}", stderr(&output));
    assert!(printed.contains("-n = 3 (line 1): slots 3"), "{printed}");
    assert!(printed.contains("3 slots: ttl 15s, lock-delay for no slot"), "{printed}");
    let wrong = fencepost(&["doctor", "--consul-lock", "-n 3", "--property", "mutual-exclusion"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("there are slot-limit-belief, keeps-lock"), "{}", stderr(&wrong));
}

#[test]
fn a_mistake_in_a_configuration_is_a_usage_error_with_its_place() {
    let file = folder("doctor-mistakes").join("vault.hcl");
    fs::write(&file, VAULT.replace("\"20s\"", "\"20\"")).expect("writable");
    let path = file.to_str().expect("text");
    let output = fencepost(&["doctor", "--from", path]);
    assert_eq!((output.status.code(), &*stdout(&output)), (Some(2), ""));
    assert!(stderr(&output).contains("vault.hcl:3:17: `session_ttl` has no unit"), "{}", stderr(&output));
    for arguments in [
        &["doctor", "--consul-lock", "-limit 3"][..],
        &["doctor", "--from", "nowhere.hcl"],
        &["doctor", "--from", path, "--recipe", "go-lock"],
        &["doctor", "consul-lock", "--slots", "0"],
        &["doctor", "consul-lock", "--slots", "2", "--fencing"],
    ] {
        assert_eq!(fencepost(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn without_a_question_and_without_a_terminal_it_says_what_to_ask() {
    for arguments in [&["doctor"][..], &["doctor", "--pause", "20s"], &["doctor", "--json"]] {
        let output = fencepost(arguments);
        assert_eq!((output.status.code(), &*stdout(&output)), (Some(2), ""), "{arguments:?}");
        assert!(stderr(&output).contains("fencepost doctor consul-lock --ttl 15s"), "{}", stderr(&output));
    }
}

#[test]
fn bounds_that_were_not_given_are_said_before_any_verdict() {
    let file = folder("doctor-bounds").join("vault.hcl");
    fs::write(&file, VAULT).expect("writable");
    let path = file.to_str().expect("text");
    let options = folder("doctor-bounds-options").join("lock.json");
    fs::write(&options, "{\"Key\": \"a\", \"SessionTTL\": \"20s\"}").expect("writable");
    let options = options.to_str().expect("text");
    let asked = ["--property", "mutual-exclusion", "--quiet"];
    for source in [&["--from", path][..], &["--from", options], &["--consul-lock", "jobs/backup"], &["consul-lock"]] {
        let printed = stdout(&fencepost(&[&["doctor"], source, &asked].concat()));
        let (before, verdict) = printed.split_once("\n✓").unwrap_or_else(|| panic!("{source:?}: {printed}"));
        for says in
            ["WARNING: not given, and taken as 0: pause, latency, drift", "pause 0s: no client ever stands still"]
        {
            assert!(before.contains(says), "{source:?}: {says}: {printed}");
        }
        assert!(verdict.contains("it holds for pause up to "), "{source:?}: {printed}");
    }
    let lines = json(&fencepost(&[&["doctor", "--from", path, "--pause", "1s", "--json"], &asked[..]].concat()));
    let bounds: Vec<_> = lines[0]["not_given"].as_array().expect("an array").iter().map(|one| &one["bound"]).collect();
    assert_eq!(bounds, ["latency", "drift"]);
    assert!(lines[0]["not_given"][0]["kept_to"].is_string(), "{lines:?}");
    // A bound that was given, be it 0, is no assumption of ours.
    let given = ["doctor", "--from", path, "--pause", "0s", "--latency", "0s", "--drift", "0ppm"];
    let printed = stdout(&fencepost(&[&given, &asked[..]].concat()));
    assert!(!printed.contains("not given") && printed.contains("✓ mutual-exclusion"), "{printed}");
}

#[test]
fn a_misspelt_recipe_is_answered_with_the_one_that_is_meant() {
    let output = fencepost(&["doctor", "consul-lock", "--recipe", "go-loc"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("a similar value exists: 'go-lock'") && said.contains("leader-election"), "{said}");
}

/// The settings of an election, and options that are those of a lock.
#[test]
fn an_election_is_answered_and_its_mistakes_are_said() {
    let property = ["--property", "mutual-exclusion", "--quiet"];
    let bounds = [&["--pause", "0s", "--latency", "1s", "--drift", "0ppm"], &property[..]].concat();
    let printed = stdout(&fencepost(&[&["doctor", "client-go"], &bounds[..]].concat()));
    for says in [
        "client-go: lease 15s, renew-deadline 10s, retry-period 2s",
        "✓ mutual-exclusion",
        "latency 1s: kept up to 2.9s, broken at 3s",
        "links to the store may be cut at any time, and heal",
    ] {
        assert!(printed.contains(says), "{says}: {printed}");
    }
    let released = fencepost(&[&["doctor", "client-go", "--release", "--json"], &bounds[..]].concat());
    assert_eq!(released.status.code(), Some(1));
    let lines = json(&released);
    assert_eq!((&lines[0]["property"], &lines[0]["verdict"]), (&"mutual-exclusion".into(), &"broken".into()));
    assert!(lines[0]["repairs"][0]["change"].as_str().is_some_and(|change| change.contains("ReleaseOnCancel off")));
    assert!(lines[0]["scenario"].is_null() && lines[0]["execution"].is_array(), "it was arranged in exact durations");
    for (arguments, says) in [
        (&["doctor", "client-go", "--lease", "10s"][..], "it must be longer than the renew deadline"),
        (&["doctor", "client-go", "--ttl", "15s"], "unexpected argument '--ttl'"),
        (&["doctor", "--ttl", "15s", "client-go"], "options of an election come after its name"),
        (&["doctor", "client-go", "--property", "keeps-lock"], "there are mutual-exclusion, keeps-lease"),
    ] {
        let output = fencepost(arguments);
        assert_eq!((output.status.code(), &*stdout(&output)), (Some(2), ""), "{arguments:?}");
        assert!(stderr(&output).contains(says), "{says}: {}", stderr(&output));
    }
}

/// Every file says by its name what `check` finds in it, and nothing in it is out of reach.
#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn every_written_file_comes_out_as_its_name_says() {
    let lost = ["--ttl", "20s", "--pause", "20s", "--latency", "0s", "--drift", "0ppm"];
    let kept = ["--pause", "1s", "--latency", "0s", "--drift", "0ppm"];
    let lock = |bounds: &[&'static str]| [&["consul-lock", "--belief", "self-limiting"], bounds].concat();
    let election = ["client-go", "--pause", "0s", "--latency", "1s", "--drift", "0ppm"];
    for (name, settings, property, broken) in [
        ("kept", lock(&kept), "mutual-exclusion", false),
        ("keeps", lock(&kept), "keeps-lock", false),
        ("lost", lock(&lost), "keeps-lock", true),
        ("leads", election.to_vec(), "mutual-exclusion", false),
    ] {
        let folder = folder(&format!("doctor-written-{name}"));
        let out = folder.to_str().expect("text");
        let asked = ["--property", property, "--write", out, "--json", "--quiet"];
        let lines = json(&fencepost(&[&["doctor"], &settings[..], &asked[..]].concat()));
        assert_eq!(lines[0]["verdict"], if broken { "broken" } else { "kept" });
        let files: Vec<_> =
            lines[0]["files"].as_array().expect("files").iter().filter_map(|file| file.as_str()).collect();
        let scenarios: Vec<&str> = files.into_iter().filter(|file| file.ends_with(".toml")).collect();
        assert!(scenarios.len() > 2, "{scenarios:?}");
        for file in scenarios {
            let is_broken = file.ends_with("-broken.toml") || broken && file.ends_with("-as-asked.toml");
            let output = fencepost(&["check", file, "--json", "--quiet"]);
            assert_eq!(output.status.code(), Some(0), "{file}: {}", stdout(&output));
            let verdicts: Vec<_> = json(&output).iter().map(|line| line["verdict"].clone()).collect();
            assert_eq!(verdicts, [if is_broken { "violated" } else { "proven" }], "{file}");
        }
    }
}

const SCENARIO: &str = "name = \"ours\"\nsystem = \"consul-lock\"\nabout = \"Ours.\"\nclients = 2\n\n[service]\nrecipe = \"go-lock\"\nttl = \"20s\"\nrenew_every = \"10s\"\n\n[synchrony]\nmessage_delay = \"1200ms\"\nwake_delay = \"1s\"\n\n[[promise]]\nproperty = \"mutual-exclusion\"\n";

#[test]
fn a_scenario_file_of_a_known_client_is_answered_like_its_settings() {
    let file = folder("doctor-scenario").join("ours.toml");
    fs::write(&file, SCENARIO).expect("writable");
    let path = file.to_str().expect("text");
    let asked = ["--property", "mutual-exclusion", "--quiet"];
    let printed = stdout(&fencepost(&[&["doctor", path], &asked[..]].concat()));
    for says in
        ["read as the scenario `ours`", "service.ttl = 20s (line 8): ttl 20s", "pause 1s, latency 200ms", "✓ mutual"]
    {
        assert!(printed.contains(says), "{says}: {printed}");
    }
    assert!(
        printed.contains("WARNING: not given, and taken as 0: drift\n"),
        "the file has the other bounds: {printed}"
    );
    let command =
        printed.lines().find_map(|line| line.strip_prefix("the same question: fencepost ")).expect("a command");
    let words: Vec<&str> = command.split(' ').chain(asked).collect();
    assert_eq!(answer(&stdout(&fencepost(&words))), answer(&printed));
    let stricter = fencepost(&[&["doctor", "--from", path, "--pause", "2s"], &asked[..]].concat());
    assert!(stdout(&stricter).contains("pause 2s, latency 200ms"), "{}", stderr(&stricter));
}

#[test]
fn a_scenario_that_is_not_judged_is_refused_with_what_is() {
    let file = folder("doctor-scenarios").join("ours.toml");
    let path = file.to_str().expect("text");
    for (from, to, says) in [
        (
            "recipe = \"go-lock\"",
            "recipe = \"semaphore-guide\"",
            "system: [service.semaphore] belongs to the system `consul-semaphore`",
        ),
        ("recipe = \"go-lock\"", "belief = \"self-limiting\"", "and this file has no recipe"),
        (
            "wake_delay",
            "server_delay = 0\nwake_delay",
            "synchrony.server_delay: `doctor` judges servers that may be as late",
        ),
        ("message_delay = \"1200ms\"\n", "", "set synchrony.message_delay"),
        ("\"1200ms\"", "\"200ms\"", "200ms is less than wake_delay"),
        ("ttl = \"20s\"", "ttl = \"20s\"\nunlock = \"delete\"", "in which this has its default"),
        ("[[promise]]", "[budget]\nlosses = 1\n\n[[promise]]", "no faults but one false alarm"),
        (
            "\"consul-lock\"",
            "\"etcd-mutex\"",
            "not `etcd-mutex`; `fencepost doctor etcd --from FILE` judges a session of etcd",
        ),
    ] {
        assert!(SCENARIO.contains(from), "{from}");
        fs::write(&file, SCENARIO.replacen(from, to, 1)).expect("writable");
        let output = fencepost(&["doctor", path]);
        assert_eq!((output.status.code(), &*stdout(&output)), (Some(2), ""), "{to}");
        assert!(stderr(&output).contains(says), "{says}: {}", stderr(&output));
    }
    let ticks = "name = \"ours\"\nsystem = \"consul-lock\"\nabout = \"Ours.\"\nclients = 2\n\n[service]\nttl = 3\n\n[[promise]]\nproperty = \"mutual-exclusion\"\n";
    fs::write(&file, ticks).expect("writable");
    assert!(stderr(&fencepost(&["doctor", path])).contains("`doctor` judges seconds: write durations with units"));
    let name = fencepost(&["doctor", "b01-no-fencing"]);
    assert_eq!(name.status.code(), Some(2));
    assert!(stderr(&name).contains("write `consul-lock`, or the path of a scenario file"), "{}", stderr(&name));
}

#[test]
fn a_session_of_etcd_is_kept_by_its_margin_and_broken_without_one() {
    let asked = |options: &[&str]| fencepost(&[&["doctor", "etcd", "--quiet"], options].concat());
    let stops = ["--stop", "before-expiry", "--margin", "5s", "--latency", "200ms", "--drift", "200ppm", "--pause"];
    let kept = asked(&[&stops[..], &["1s"]].concat());
    assert_eq!(kept.status.code(), Some(0), "{}", stderr(&kept));
    assert!(stdout(&kept).contains("✓ mutual-exclusion"), "{}", stdout(&kept));
    let broken = asked(&[&stops[..], &["5s"]].concat());
    assert_eq!(broken.status.code(), Some(1), "{}", stdout(&broken));
    let done = asked(&["--recipe", "etcd-election", "--ttl", "10s"]);
    assert_eq!(done.status.code(), Some(1), "{}", stderr(&done));
    assert!(stdout(&done).contains("stop = before-expiry with margin = "), "{}", stdout(&done));
    // The same settings do not lose a session: a TTL of 2 s does, where messages take longer.
    assert!(stdout(&done).contains("✓ keeps-lock"), "{}", stdout(&done));
    let lost = asked(&["--ttl", "2s", "--latency", "500ms", "--property", "keeps-lock"]);
    assert_eq!(lost.status.code(), Some(1), "{}", stderr(&lost));
    assert!(stdout(&lost).contains("expires, and its client lives"), "{}", stdout(&lost));
    let command = asked(&["--etcdctl", "etcdctl lock jobs ./job", "--property", "mutual-exclusion"]);
    assert_eq!(command.status.code(), Some(1), "{}", stderr(&command));
    let same = "the same question: fencepost doctor etcd --recipe etcd-mutex --ttl 10s --stop never --dial-timeout 2s";
    assert!(stdout(&command).contains(same), "{}", stdout(&command));
    let wrong = asked(&["--ttl", "1s"]);
    assert_eq!((wrong.status.code(), stderr(&wrong).contains("--ttl: etcd raises 1s to 2s")), (Some(2), true));
}
