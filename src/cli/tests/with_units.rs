//! A scenario with units: whatever is told of it has units, too.

use std::fs;
use std::path::PathBuf;

use crate::program::{fencepost, folder, stderr, stdout};

/// The client is as late as the server is patient.
const OURS: &str = "name = \"ours\"
system = \"lease\"
about = \"Ours.\"
clients = 2
rounds = 2
writes = 1

[service]
lease = \"5s\"
grace = \"2.5s\"

[synchrony]
wake_delay = \"2.5s\"

[[promise]]
property = \"mutual-exclusion\"
expect = \"violated\"
";

fn ours(name: &str, text: &str) -> (PathBuf, String) {
    let folder = folder(name);
    let file = folder.join("ours.toml");
    fs::write(&file, text).expect("writable");
    let file = file.to_str().expect("a path").to_owned();
    (folder, file)
}

/// What is told, without the sentence that says how long a tick is.
#[track_caller]
fn has_no_ticks(told: &str) {
    let found: Vec<&str> = told
        .lines()
        .filter(|line| {
            let rest = line.replace("a tick is ", "").replace("tick = ", "");
            rest.split(|c: char| !c.is_alphanumeric()).any(|word| word == "tick" || word == "ticks")
        })
        .collect();
    assert!(found.is_empty(), "{found:#?}\n{told}");
}

#[test]
fn a_verdict_its_execution_and_its_assumptions_have_units() {
    let (folder, file) = ours("units-check", OURS);
    let out = folder.join("out");
    let output = fencepost(&["check", &file, "--out", out.to_str().expect("a path")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told = stdout(&output);
    has_no_ticks(&told);
    for says in ["  - a tick is 2.5s\n", "  - a client's wake-up is late by at most 2.5s\n", "\n7.5s  client 2 "] {
        assert!(told.contains(says), "{says}: {told}");
    }
    let trace = out.join("traces/ours--mutual-exclusion.jsonl");
    let trace = trace.to_str().expect("a path");
    has_no_ticks(&stdout(&fencepost(&["replay", trace])));
    for (export, says) in [("run.mmd", ": t = 7.5s\n"), ("run.html", ">7.5s<"), ("run.perfetto.json", "\"ts\":7500002")]
    {
        let export = folder.join(export);
        let output = fencepost(&["replay", trace, "--quiet", "--export", export.to_str().expect("a path")]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let written = fs::read_to_string(&export).expect("it was written");
        assert!(written.contains(says), "{says} in {}", export.display());
    }
    let report = fs::read_to_string(out.join("report.html")).expect("there is a report");
    assert!(report.contains("late by at most 2.5s") && report.contains(">t = 7.5s<"), "the report has units");
    let simulated = stdout(&fencepost(&["simulate", &file, "--seed", "3", "--quiet"]));
    has_no_ticks(&simulated);
}

#[test]
fn a_repair_is_told_and_written_with_units() {
    let (folder, file) = ours("units-repair", OURS);
    let out = folder.join("out");
    let arguments = ["repair", &file, "--knob", "service.grace", "--edits", "1"];
    let output = fencepost(&[&arguments[..], &["--out", out.to_str().expect("a path")]].concat());
    let told = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{told}{}", stderr(&output));
    has_no_ticks(&told);
    assert!(told.contains("✓ service.grace = \"5s\" (was \"2.5s\")\n    proven, 60044 states; measured: "), "{told}");
    assert!(told.contains("s idle and "), "{told}");
    let written = fs::read_to_string(out.join("repairs/ours-1.toml")).expect("it was written");
    assert!(written.contains("grace = \"5s\"") && written.contains("wake_delay = \"2.5s\""), "{written}");
    let json = stdout(&fencepost(&[&arguments[..], &["--json", "--quiet"]].concat()));
    assert!(json.contains(r#""setting":"service.grace","before":"2.5s","after":"5s""#), "{json}");
}

#[test]
fn two_scenarios_with_ticks_of_different_lengths_are_compared_in_seconds() {
    let (folder, file) = ours("units-diff", OURS);
    let slower = folder.join("slower.toml");
    fs::write(&slower, OURS.replace("wake_delay = \"2.5s\"", "wake_delay = \"1s\"")).expect("writable");
    let output = fencepost(&["diff", &file, slower.to_str().expect("a path"), "--seeds", "20", "--max-states", "2000"]);
    let told = stdout(&output);
    assert!(told.contains("synchrony.wake_delay  \"2.5s\" → \"1s\"\n"), "{told}{}", stderr(&output));
    assert!(!told.contains("service.lease"), "it is 5 s in both: {told}");
    assert!(told.contains("length of a run, in seconds"), "{told}");
    assert!(!stderr(&output).contains("not comparable"), "{}", stderr(&output));
}

#[test]
fn a_duration_without_a_unit_among_others_is_refused() {
    let (_, file) = ours("units-plain", &OURS.replace("wake_delay = \"2.5s\"", "wake_delay = 30"));
    let output = fencepost(&["check", &file]);
    assert_eq!(output.status.code(), Some(2));
    let says = "ours.toml:13:14: synchrony.wake_delay: 30 has no unit, and other durations of this file have one: write \"30s\", or `tick = \"2.5s\"`";
    assert!(stderr(&output).contains(says), "{}", stderr(&output));
}
