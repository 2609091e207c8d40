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

#[test]
fn an_edit_that_keeps_no_longer_the_promises_that_held_or_assumes_more_is_no_repair() {
    let output = fencepost(&["repair", "b18-serf-health", "--json", "--quiet", "--edits", "1"]);
    for line in json(&output).iter().filter(|line| line["repair"].is_array()) {
        let settings: Vec<&str> =
            line["repair"].as_array().expect("edits").iter().filter_map(|edit| edit["setting"].as_str()).collect();
        assert!(
            settings.iter().all(|setting| !setting.starts_with("budget.") && !setting.starts_with("synchrony.")),
            "{line}"
        );
        assert!(line["proven"].as_array().is_some_and(|proven| !proven.is_empty()), "{line}");
    }
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
}

#[test]
fn a_scenario_that_breaks_nothing_needs_no_repair_and_a_misspelt_setting_is_refused() {
    let sound = fencepost(&["repair", "lease-just-enough"]);
    assert_eq!((sound.status.code(), &*stdout(&sound)), (Some(0), "lease-just-enough: no promise is broken\n"));
    let wrong = fencepost(&["repair", "lease-one-tick-less", "--knob", "service.grase"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("did you mean `service.grace`?"), "{}", stderr(&wrong));
}
