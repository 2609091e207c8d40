//! `fencepost diff`: differences in settings, promises and measured liveness, and what they do to the exit code.

use serde_json::Value;

use crate::program::{fencepost, folder, json, stderr, stdout, variant};

/// The lines of one kind.
fn of_kind(lines: &[Value], kind: &str) -> Vec<Value> {
    lines.iter().filter(|line| line["kind"] == kind).cloned().collect()
}

/// The change in each promise.
fn changes(lines: &[Value]) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().expect("a word").to_owned();
    of_kind(lines, "promise").iter().map(|line| (word(&line["property"]), word(&line["change"]))).collect()
}

#[test]
fn a_lost_promise_is_shown_with_a_shortest_execution_of_the_second_scenario() {
    let output = fencepost(&["diff", "lease-just-enough", "lease-one-tick-less"]);
    let printed = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{}{printed}", stderr(&output));
    for part in [
        "A: lease-just-enough (lease)\nB: lease-one-tick-less (lease)\n",
        "  service.grace                    2 → 1\n",
        "  promise.mutual-exclusion.expect  \"proven\" → \"violated\"\n",
        "✗ lost       mutual-exclusion  A: proven, ",
        "✓ kept       single-owner ",
        "lost: lease-one-tick-less: mutual-exclusion is violated",
        "✗ mutual-exclusion is violated: client 1 and client 2 are both inside",
        "measured over the seeds 0..200 of each, by the scheduler realistic, up to 60 ticks a run; not proven:",
    ] {
        assert!(printed.contains(part), "“{part}” is not in:\n{printed}");
    }
    let back = fencepost(&["diff", "lease-one-tick-less", "lease-just-enough"]);
    assert_eq!(back.status.code(), Some(0), "{}", stderr(&back));
    assert!(stdout(&back).contains("+ gained     mutual-exclusion") && !stdout(&back).contains("lost"));
}

#[test]
fn a_scenario_is_compared_with_itself_under_other_settings() {
    let output = fencepost(&["diff", "lease-just-enough", "--vary", "service.grace=1", "--seeds", "20"]);
    let printed = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{}{printed}", stderr(&output));
    for part in [
        "A: lease-just-enough (lease)\nB: lease-just-enough (lease), with other settings\n",
        "settings that differ:\n  service.grace  2 → 1\n",
        "✗ lost       mutual-exclusion  A: proven, ",
    ] {
        assert!(printed.contains(part), "“{part}” is not in:\n{printed}");
    }
    for (arguments, says) in [
        (&["--vary", "service.grace=1,2"][..], "--vary: B has one value of each setting"),
        (&["--vary", "service.grase=1"], "unknown field `grase`"),
        (&["lease-one-tick-less", "--vary", "service.grace=1"], "cannot be used with"),
        (&[], "required"),
    ] {
        let refused = fencepost(&[&["diff", "lease-just-enough"], arguments].concat());
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&refused).contains(says), "{arguments:?}: {}", stderr(&refused));
    }
}

#[test]
fn differences_promises_losses_and_measures_are_json_lines() {
    let folder = folder("diff-json");
    let out = folder.to_str().expect("text");
    let output =
        fencepost(&["diff", "lease-just-enough", "lease-one-tick-less", "--json", "--out", out, "--seeds", "20"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let lines = json(&output);
    let differences = of_kind(&lines, "difference");
    let grace = differences.iter().find(|line| line["path"] == "service.grace").expect("it differs");
    assert_eq!((&grace["a"], &grace["b"], &grace["is_text"]), (&2.into(), &1.into(), &false.into()));
    assert!(differences.iter().any(|line| line["path"] == "about" && line["is_text"] == true));
    assert!(!differences.iter().any(|line| line["path"] == "clients"), "clients are equal");
    assert_eq!(changes(&lines)[0], ("mutual-exclusion".to_owned(), "lost".to_owned()));
    let [loss] = &of_kind(&lines, "loss")[..] else { panic!("one promise is lost") };
    let steps = loss["steps"].as_array().expect("a list");
    let checked = json(&fencepost(&["check", "lease-one-tick-less", "--property", "mutual-exclusion", "--json"]));
    assert_eq!(checked[0]["steps"], steps.len(), "the execution is as short as that of `check`");
    assert!(steps.last().is_some_and(|step| step["violations"].as_array().is_some_and(|all| all.len() == 1)));
    let replayed = fencepost(&["replay", loss["trace"].as_str().expect("it was written"), "--quiet"]);
    assert_eq!(replayed.status.code(), Some(0), "{}", stderr(&replayed));
    let measures = of_kind(&lines, "measure");
    let named: Vec<&str> = measures.iter().filter_map(|line| line["measure"].as_str()).collect();
    assert_eq!(named, ["entries", "handover", "idle", "length", "requests"]);
    assert_eq!((&measures[0]["a"]["values"], &measures[0]["seeds_to"]), (&20.into(), &20.into()));
}

#[test]
fn a_bounded_or_vacuous_verdict_leaves_a_promise_undecided() {
    let output = fencepost(&["diff", "lease-just-enough", "lease-one-tick-less", "--max-states", "5", "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let lines = json(&output);
    assert!(changes(&lines).iter().all(|(_, change)| change == "undecided"), "{:?}", changes(&lines));
    assert!(of_kind(&lines, "loss").is_empty());
    assert_eq!(of_kind(&lines, "promise")[0]["a"]["cut_by"], "--max-states 5");
    let alone = variant(&folder("diff-vacuous"), "b03-ack-before-release", "clients = 2", "clients = 1");
    let output = fencepost(&["diff", "b03-ack-before-release", &alone, "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let lines = json(&output);
    assert!(changes(&lines).iter().all(|(_, change)| change == "undecided"), "{:?}", changes(&lines));
    assert_eq!(of_kind(&lines, "promise")[0]["b"]["missing_goals"][0], "contended");
}

#[test]
fn a_promise_of_one_scenario_is_judged_in_the_other_as_well() {
    let folder = folder("diff-promise-left-out");
    let promise = "[[promise]]\nproperty = \"mutual-exclusion\"\nexpect = \"proven\"\n";
    let without = variant(&folder, "lease-just-enough", promise, "");
    let output = fencepost(&["diff", "lease-just-enough", &without, "--property", "mutual-exclusion"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("states, although not promised\n"), "{}", stdout(&output));
    let less = std::fs::read_to_string(&without).expect("just written").replace("grace = 2", "grace = 1");
    std::fs::write(&without, less).expect("writable");
    let output = fencepost(&["diff", "lease-just-enough", &without, "--property", "mutual-exclusion", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let lines = json(&output);
    assert_eq!(of_kind(&lines, "promise")[0]["b"]["is_promised"], false);
    assert_eq!(of_kind(&lines, "loss").len(), 1);
}

#[test]
fn scenarios_of_different_services_are_compared() {
    let output = fencepost(&["diff", "lease-just-enough", "b42-ascending", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let lines = json(&output);
    let system = of_kind(&lines, "difference").into_iter().find(|line| line["path"] == "system").expect("it differs");
    assert_eq!(system["a"], "lease");
    let promises = of_kind(&lines, "promise");
    let exclusion = promises.iter().find(|line| line["property"] == "mutual-exclusion").expect("the lease promises it");
    assert_eq!((&exclusion["change"], &exclusion["b"]["verdict"]), (&"lost".into(), &Value::Null));
    assert!(exclusion["b"]["why"].as_str().is_some_and(|why| !why.is_empty()), "{exclusion}");
    assert!(of_kind(&lines, "loss").iter().all(|loss| loss["property"] != "mutual-exclusion"));
}

#[test]
fn a_scenario_does_not_differ_from_itself() {
    let output = fencepost(&["diff", "lease-just-enough", "lease-just-enough"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = stdout(&output);
    assert!(printed.contains("\nno field differs\n") && !printed.contains("lost"), "{printed}");
    for line in printed.lines().filter(|line| line.trim_start().starts_with("change")) {
        assert!(line.split_whitespace().skip(1).all(|cell| ["+0", "–"].contains(&cell)), "{line}");
    }
    assert_eq!(printed, stdout(&fencepost(&["diff", "lease-just-enough", "lease-just-enough"])));
}

#[test]
fn measured_runs_have_the_clients_rounds_and_scheduler_of_the_options() {
    let entries = |options: &[&str]| {
        let output = fencepost(&[&["diff", "lease-just-enough", "lease-no-lateness", "--json"], options].concat());
        let lines = json(&output);
        let measure = of_kind(&lines, "measure").into_iter().next().expect("entries come first");
        (measure["a"]["p50"].as_f64().expect("a number"), measure["scheduler"].as_str().map(str::to_owned))
    };
    let (usual, scheduler) = entries(&["--seeds", "30"]);
    assert_eq!(scheduler.as_deref(), Some("realistic"));
    assert!(entries(&["--seeds", "30", "--rounds", "5", "--storm", "600"]).0 > usual);
    assert_eq!(entries(&["--seeds", "5", "--scheduler", "uniform"]).1.as_deref(), Some("uniform"));
}

#[test]
fn ticks_of_different_lengths_are_not_compared() {
    let folder = folder("diff-ticks");
    let slow = variant(&folder, "lease-just-enough", "clients = 2", "clients = 2\ntick = \"1s\"");
    let output = fencepost(&["diff", "lease-just-enough", &slow, "--seeds", "10"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("a tick is of no stated length in A and 1s in B"), "{}", stderr(&output));
    let changes = stdout(&output).lines().filter(|line| line.trim_start().starts_with("change")).count();
    assert_eq!(changes, 2, "only counts are comparable:\n{}", stdout(&output));
}

#[test]
fn a_comparison_needs_two_scenarios_and_a_promise_that_one_of_them_makes() {
    for (arguments, says) in [
        (&["lease-just-enough"][..], "required"),
        (&["lease-just-enough", "nonsense"], "there is no scenario"),
        (&["lease-just-enough", "B-01"], "several scenarios"),
        (&["lease-just-enough", "lease-one-tick-less", "--property", "progress"], "neither lease-just-enough nor"),
        (&["lease-just-enough", "lease-one-tick-less", "--seeds", "9..9"], "no seed"),
        (&["lease-just-enough", "lease-one-tick-less", "--seeds", "90000000"], "of them at most"),
    ] {
        let output = fencepost(&[&["diff"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stdout(&output));
        assert!(stderr(&output).contains(says), "{arguments:?}: {}", stderr(&output));
    }
}
