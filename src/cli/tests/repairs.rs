//! `fencepost repair`: the smallest sets of edits, the proofs that they rest on, and the exit code.

use std::fs;

use crate::program::{fencepost, folder, json, stderr, stdout};

#[test]
fn a_lease_one_tick_too_short_is_repaired_by_one_tick_of_grace() {
    let folder = folder("repair");
    let out = folder.to_str().expect("text");
    let output = fencepost(&["repair", "lease-one-tick-less", "--quiet", "--out", out]);
    let printed = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}{printed}", stderr(&output));
    assert!(
        printed.contains(
            "lease-one-tick-less: broken: mutual-exclusion\n✓ service.grace = 2 (was 1)\n    proven, 60044 states;"
        ),
        "{printed}"
    );
    let file = folder.join("repairs/lease-one-tick-less-1.toml");
    assert!(
        fs::read_to_string(&file).expect("it was written").contains("expect = \"violated\""),
        "it is the scenario with one edit"
    );
    let again = fencepost(&["check", file.to_str().expect("text"), "--json", "--quiet"]);
    assert!(json(&again).iter().all(|line| line["verdict"] == "proven"), "{}", stdout(&again));
}

#[test]
fn without_the_setting_that_matters_there_is_no_repair_and_the_answer_says_how_much_was_tried() {
    let output =
        fencepost(&["repair", "lease-one-tick-less", "--fixed", "service.grace", "--edits", "1", "--json", "--quiet"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let lines = json(&output);
    let line = &lines[0];
    assert_eq!(
        (&line["repair"], &line["is_exhausted"], &line["undecided"]),
        (&serde_json::Value::Null, &true.into(), &0.into())
    );
    assert!(line["tried"].as_u64().is_some_and(|tried| tried > 5) && line["knobs"] == 3, "{line}");
}

/// A process that sleeps less is another world, and no repair of the lease.
#[test]
fn an_edit_that_assumes_less_of_the_world_than_the_scenario_is_no_repair() {
    let output = fencepost(&["repair", "ol08-success-4", "--knob", "service.nap", "--edits", "1", "--json", "--quiet"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let line = &json(&output)[0];
    assert_eq!((&line["repair"], &line["is_exhausted"]), (&serde_json::Value::Null, &true.into()));
    assert!(line["assume_more"].as_u64().is_some_and(|count| count >= 3), "{line}");
    let lease = fencepost(&["repair", "ol08-success-4", "--knob", "service.lease", "--json", "--quiet"]);
    let repairs = json(&lease);
    assert!(
        !repairs.is_empty() && repairs.iter().all(|line| line["repair"][0]["after"].as_i64() > Some(4)),
        "{repairs:?}"
    );
    let rests_on_naps = |line: &serde_json::Value| line["assumptions"].to_string().contains("lasts at most 4 ticks");
    assert!(repairs.iter().all(rests_on_naps), "{repairs:?}");
}

#[test]
fn an_edit_that_breaks_a_promise_that_held_is_no_repair() {
    let output = fencepost(&["repair", "f15-no-reconnect", "--edits", "1", "--quiet"]);
    assert!(stdout(&output).contains(", 3 break another, "), "{}", stdout(&output));
}

#[test]
fn a_scenario_that_is_not_decided_is_not_repaired() {
    let output = fencepost(&["repair", "lease-one-tick-less", "--max-states", "10", "--quiet"]);
    assert_eq!((output.status.code(), &*stdout(&output)), (Some(3), ""), "{}", stderr(&output));
    assert!(stderr(&output).contains("is not decided within 100 states"), "{}", stderr(&output));
}

#[test]
fn a_scenario_that_breaks_nothing_needs_no_repair_and_a_misspelt_setting_is_refused() {
    let sound = fencepost(&["repair", "lease-just-enough"]);
    assert_eq!((sound.status.code(), &*stdout(&sound)), (Some(0), "lease-just-enough: no promise is broken\n"));
    let wrong = fencepost(&["repair", "lease-one-tick-less", "--knob", "service.grase"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("did you mean `service.grace`?"), "{}", stderr(&wrong));
}

/// What a search has judged stands in its file, also when it was stopped in the middle.
#[test]
fn a_search_that_was_stopped_is_resumed_and_ends_with_the_same_result() {
    let folder = folder("resumed");
    let file = folder.join("search.jsonl");
    let search = |file: &str| {
        let fixed = ["--fixed", "service.grace", "--edits", "1", "--json"];
        let output = fencepost(&[&["repair", "lease-one-tick-less", "--resume", file], &fixed[..]].concat());
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        (stdout(&output), stderr(&output))
    };
    let path = file.to_str().expect("text");
    let (whole, said) = search(path);
    assert!(!said.contains("resumed"), "{said}");
    let text = fs::read_to_string(&file).expect("it was written");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    assert!(lines.len() > 6, "{text}");
    // Stopped after four candidates, within the line of the fifth.
    fs::write(&file, lines[..5].concat() + &lines[5][..10]).expect("writable");
    let (again, said) = search(path);
    assert!(said.contains("resumed: 4 candidates were judged before"), "{said}");
    assert_eq!((&again, &fs::read_to_string(&file).expect("it is there")), (&whole, &text));
    let foreign = fencepost(&["repair", "b01-no-fencing", "--resume", path]);
    assert_eq!(foreign.status.code(), Some(2));
    assert!(stderr(&foreign).contains("this search has another scenario"), "{}", stderr(&foreign));
    assert_eq!(fs::read_to_string(&file).expect("it is there"), text, "it is not touched");
}

/// A client that spells its session's id differently is no repair that an operator would choose.
#[test]
fn a_mistake_of_a_client_is_no_repair() {
    let output = fencepost(&["repair", "b17-release-then-stop", "--edits", "1", "--json", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = json(&output);
    let settings: Vec<_> = lines.iter().map(|line| line["repair"][0]["setting"].as_str().expect("a setting")).collect();
    assert!(settings.contains(&"service.release") && !settings.contains(&"service.acquires_in"), "{settings:?}");
}

#[test]
fn where_several_promises_are_broken_and_not_repaired_together_the_answer_names_each() {
    let knob = ["--knob", "service.guard", "--edits", "1", "--max-states", "1000000", "--quiet"];
    let output = fencepost(&[&["repair", "b01-no-fencing"][..], &knob[..]].concat());
    let printed = stdout(&output);
    let advice = "without the others: --property mutual-exclusion or --property no-lost-update\n";
    assert!(printed.ends_with(advice), "{}{printed}", stderr(&output));
    let alone = fencepost(&[&["repair", "b01-no-fencing", "--property", "no-lost-update"][..], &knob[..]].concat());
    assert!(stdout(&alone).contains("✓ service.guard = \"transaction\" (was none)"), "{}", stdout(&alone));
}
