//! Runs as files: the same seed, the same bytes; found, repeated, shrunk.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{fencepost, folder, json, stderr, stdout, variant};

/// How many steps a trace file has.
fn steps(path: &Path) -> usize {
    fs::read_to_string(path).expect("it was written").lines().count() - 1
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let (first, second) = (folder("seed-1"), folder("seed-2"));
    let run = |out: &Path| {
        fencepost(&["simulate", "b01-no-fencing", "--seed", "7", "--json", "--out", out.to_str().expect("text")])
    };
    let (one, two) = (json(&run(&first)), json(&run(&second)));
    assert_eq!(one[0]["digest"], two[0]["digest"]);
    let trace =
        |folder: &Path| fs::read(folder.join("traces/b01-no-fencing--seed-7.jsonl")).expect("the trace was written");
    assert_eq!(trace(&first), trace(&second));
}

#[test]
fn traces_of_both_explorers_can_be_replayed() {
    let folder = folder("replay");
    let out = folder.to_str().expect("text");
    fencepost(&["check", "b17-release-then-stop", "--out", out]);
    fencepost(&["simulate", "b17-release-then-stop", "--seed", "3", "--scheduler", "uniform", "--out", out]);
    for name in ["b17-release-then-stop--mutual-exclusion", "b17-release-then-stop--seed-3"] {
        let path = folder.join(format!("traces/{name}.jsonl"));
        let picture = folder.join(format!("{name}.html"));
        let output = fencepost(&["replay", path.to_str().expect("text"), "--picture", picture.to_str().expect("text")]);
        let page = fs::read_to_string(picture).expect("it was drawn");
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg class=\"diagram\""));
        assert_eq!(page.matches("<li data-step=").count() + page.matches("<li class=\"broken\"").count(), steps(&path));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stdout(&output).contains("repeated to the letter"));
    }
}

#[test]
fn a_trace_edited_into_nonsense_is_refused_and_the_step_is_named() {
    let folder = folder("nonsense");
    let path = folder.join("traces/b17-release-then-stop--mutual-exclusion.jsonl");
    fencepost(&["check", "b17-release-then-stop", "--out", folder.to_str().expect("text")]);
    let good = fs::read_to_string(&path).expect("the trace was written");
    let lines: Vec<&str> = good.lines().collect();
    let without = |place: usize| [&lines[..place], &lines[place + 1..]].concat().join("\n");
    for (bad, says) in [
        (without(3), "step 3"),
        (good.replacen("client 1 is asked to take the lock", "client 9 is asked to take the lock", 1), "step 1"),
        (good.replacen("\"acquire\"", "\"fly\"", 1), "step 1"),
        (good.replacen("client 1 enters", "client 1 leaves", 1), "other facts"),
        (good.replacen("\"digest\":\"", "\"digest\":\"f", 1), "digest"),
        (without(lines.len() - 1), "digest"),
        (good.replacen("\"fencepost_trace\":2", "\"fencepost_trace\":99", 1), "format 99"),
        ("no trace at all".to_owned(), "line 1"),
        (String::new(), "line 1"),
    ] {
        fs::write(&path, &bad).expect("a file can be written");
        let output = fencepost(&["replay", path.to_str().expect("text")]);
        assert_eq!(output.status.code(), Some(2), "{says}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "“{says}” is not in: {}", stderr(&output));
    }
}

#[test]
fn a_hunt_finds_the_same_smallest_seed_with_one_thread_and_with_two_and_simulate_repeats_it() {
    let line = |jobs: &str| {
        let output = fencepost(&["hunt", "b17-release-then-stop", "--json", "--jobs", jobs]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    assert_eq!(line("1"), line("2"));
    let found: serde_json::Value = serde_json::from_str(&line("1")).expect("an object");
    let seed = found["seed"].as_u64().expect("a seed");
    assert_eq!(found["seeds_tried"], seed + 1);
    assert_eq!(found["violations"][0]["property"], "mutual-exclusion");
    let again = json(&fencepost(&["simulate", "b17-release-then-stop", "--seed", &seed.to_string(), "--json"]));
    assert_eq!(again[0]["digest"], found["digest"]);
    assert_eq!(again[0]["violations"], found["violations"]);
}

#[test]
fn a_hunt_that_finds_nothing_says_that_it_proves_nothing() {
    let output = fencepost(&["hunt", "b17-stop-then-release", "--seeds", "10..30"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).contains("20 seeds break nothing. That proves nothing"), "{}", stdout(&output));
    let output = fencepost(&["hunt", "b17-stop-then-release", "--timeout", "0", "--json"]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(json(&output)[0]["seed"], serde_json::Value::Null);
}

#[test]
fn a_hunt_for_a_promise_that_is_not_made_is_refused() {
    for more in [vec![], vec!["--keep-going"]] {
        let output = fencepost(&[vec!["hunt", "b17-release-then-stop", "--property", "slot-limit"], more].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("b17-release-then-stop does not promise `slot-limit`"), "{}", stderr(&output));
    }
}

#[test]
fn a_shrunk_trace_is_a_trace_and_cannot_be_shrunk_further() {
    let folder = folder("shrink");
    let out = folder.to_str().expect("text");
    fencepost(&["hunt", "b46-compare-and-delete", "--property", "MX-B", "--scheduler", "uniform", "--out", out]);
    let traces = folder.join("traces");
    let found = fs::read_dir(&traces).expect("a trace was written").next().expect("one").expect("readable").path();
    let shrink = |path: &Path| {
        let output = fencepost(&["shrink", path.to_str().expect("text"), "--property", "MX-B", "--json", "--out", out]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        json(&output).remove(0)
    };
    let first = shrink(&found);
    assert!(first["steps_after"].as_u64() < first["steps_before"].as_u64(), "{first}");
    let path = PathBuf::from(first["trace"].as_str().expect("a path"));
    assert_eq!(fencepost(&["replay", path.to_str().expect("text"), "--quiet"]).status.code(), Some(0));
    let text = fs::read_to_string(&path).expect("it was written");
    assert!(text.contains("\"clients\":2"), "two of the three clients are enough");
    let again = shrink(&path);
    assert_eq!(again["steps_after"], first["steps_after"]);
    assert_eq!(again["digest"], first["digest"]);
    let told = stdout(&fencepost(&["shrink", path.to_str().expect("text"), "--property", "MX-B", "--quiet"]));
    assert!(told.contains("steps, passages of time not counted; none was found to be needless\n"), "{told}");
}

#[test]
fn a_trace_that_breaks_nothing_cannot_be_shrunk() {
    let folder = folder("unbroken");
    fencepost(&["simulate", "b17-stop-then-release", "--seed", "1", "--out", folder.to_str().expect("text")]);
    let trace = folder.join("traces/b17-stop-then-release--seed-1.jsonl");
    let output = fencepost(&["shrink", trace.to_str().expect("text")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("breaks no promise"), "{}", stderr(&output));
}

#[test]
fn an_endless_run_is_told_replayed_and_not_shrunk() {
    let folder = folder("endless");
    let out = folder.display().to_string();
    let output = fencepost(&["check", "b14-renew-after-loss", "--property", "LV", "--out", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = stdout(&output);
    assert!(printed.contains("an endless counterexample: 13 steps, then a cycle of 10"), "{printed}");
    assert!(printed.contains("the following steps repeat for ever"), "{printed}");
    let trace = folder.join("traces/b14-renew-after-loss--eventually-acquired.jsonl");
    let trace = trace.display().to_string();
    assert_eq!(fencepost(&["replay", &trace, "--quiet"]).status.code(), Some(0));
    // A round trip that does not lead back to where it set out is no endless run.
    let text = fs::read_to_string(&trace).expect("the trace is there");
    fs::write(&trace, text.replacen("\"from\":13", "\"from\":12", 1)).expect("a file can be written");
    let output = fencepost(&["replay", &trace, "--quiet"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("do not lead back to their first state"), "{}", stderr(&output));
    let output = fencepost(&["replay", &trace, "--realign", "--json"]);
    assert_eq!((output.status.code(), json(&output)[0]["diverges_at"].as_u64()), (Some(1), Some(23)));
    fs::write(&trace, text).expect("a file can be written");
    let output = fencepost(&["replay", &trace, "--realign", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(json(&output)[0]["violations"][0]["property"], "eventually-acquired");
    let output = fencepost(&["hunt", "b14-renew-after-loss", "--property", "LV", "--quiet", "--out", &out]);
    let printed = stdout(&output);
    assert!(printed.contains("reproduce it with") && !printed.contains("make it shorter"), "{printed}");
    let output = fencepost(&["check", "--from", &format!("{trace}@3"), "--property", "LV"]);
    assert!(stderr(&output).contains("only an endless run breaks `eventually-acquired`"), "{}", stderr(&output));
    let output = fencepost(&["shrink", &trace]);
    assert_eq!(
        (output.status.code(), stderr(&output).contains("endless executions cannot be shrunk")),
        (Some(2), true)
    );
}

#[test]
fn a_run_becomes_a_test_that_fails_when_the_bug_is_repaired() {
    let folder = folder("regress");
    let out = folder.to_str().expect("text");
    fencepost(&["check", "b17-release-then-stop", "--out", out]);
    let path = folder.join("traces/b17-release-then-stop--mutual-exclusion.jsonl");
    let lines = json(&fencepost(&["regress", path.to_str().expect("text"), "--json"]));
    let test = lines[0]["test"].as_str().expect("text");
    assert!(test.starts_with("#[test]\nfn b17_release_then_stop_breaks_mutual_exclusion() {"), "{test}");
    let mut strings = test.split("r#\"\n").skip(1).map(|rest| rest.split("\n\"#").next().expect("an end"));
    let (scenario, script) = (strings.next().expect("the scenario"), strings.next().expect("the script"));
    assert!(script.lines().last().is_some_and(|line| line.contains("✗ mutual-exclusion")), "{script}");
    fencepost::regression(scenario, script);
    // Stopping before the release repairs it, and the test says so.
    let repaired = scenario.replace("release-first", "stop-first");
    assert_ne!(repaired, scenario);
    let panic =
        std::panic::catch_unwind(|| fencepost::regression(&repaired, script)).expect_err("it happens otherwise");
    let message = panic.downcast_ref::<String>().expect("a message");
    assert!(message.contains("line "), "{message}");
}

#[test]
fn a_run_is_realigned_when_the_model_has_changed_since() {
    let folder = folder("realign");
    let out = folder.to_str().expect("text");
    fencepost(&["check", "b17-release-then-stop", "--out", out]);
    let path = folder.join("traces/b17-release-then-stop--mutual-exclusion.jsonl");
    let file = path.to_str().expect("text");
    let same = json(&fencepost(&["replay", file, "--realign", "--json"]));
    assert!(same[0]["diverges_at"].is_null() && same[0]["left_out"].as_array().is_some_and(Vec::is_empty));
    // The same run in a model in which holders stop before they release.
    let text = fs::read_to_string(&path).expect("it was written");
    let changed = text.replace("release-first", "stop-first");
    fs::write(&path, changed).expect("it can be written");
    assert_eq!(fencepost(&["replay", file]).status.code(), Some(2), "it cannot be repeated to the letter");
    let output = fencepost(&["replay", file, "--realign", "--json", "--out", out]);
    assert_eq!(output.status.code(), Some(1));
    let found = &json(&output)[0];
    assert!(found["diverges_at"].as_u64().is_some_and(|step| step > 1), "{found}");
    let now = found["trace"].as_str().expect("what happens now was written");
    assert_eq!(fencepost(&["replay", now, "--quiet"]).status.code(), Some(0));
}

#[test]
fn a_trace_with_a_wrong_digest_number_and_fact_is_corrected_by_realign() {
    let folder = folder("corrected");
    let out = folder.to_str().expect("text");
    fencepost(&["check", "b17-release-then-stop", "--out", out]);
    let path = folder.join("traces/b17-release-then-stop--mutual-exclusion.jsonl");
    let file = path.to_str().expect("text");
    let right = fs::read_to_string(&path).expect("it was written");
    let digest = right.split("\"digest\":\"").nth(1).and_then(|rest| rest.get(..8)).expect("a header has a digest");
    let mut wrong = right.replace(digest, "00000000").replacen("\"step\":2,", "\"step\":77,", 1);
    wrong = wrong.replacen("\"facts\":[\"", "\"facts\":[\"it is said that ", 1);
    fs::write(&path, wrong).expect("it can be written");
    assert_eq!(fencepost(&["replay", file]).status.code(), Some(2));
    let printed = stdout(&fencepost(&["replay", file, "--realign"]));
    assert!(printed.contains("write what happens now into a trace with: --out DIR"), "{printed}");
    fencepost(&["replay", file, "--realign", "--quiet", "--out", out]);
    let corrected = folder.join("traces/b17-release-then-stop--mutual-exclusion--realigned.jsonl");
    assert_eq!(fs::read_to_string(&corrected).expect("it was written"), right);
    let output = fencepost(&["replay", corrected.to_str().expect("text"), "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn a_finding_in_a_scenario_file_is_reproduced_from_that_file() {
    let folder = folder("hunt in a file");
    let file = variant(&folder, "b01-no-fencing", "lock_delay = ", "lock_delay = ");
    let output = fencepost(&["hunt", &file, "--storm", "40", "--show", "0"]);
    let printed = stdout(&output);
    let line =
        printed.lines().find(|line| line.starts_with("reproduce it with: ")).expect("a hunt that finds something");
    assert!(line.contains(&format!("fencepost simulate '{file}' --seed ")) && line.ends_with(" --storm 40"), "{line}");
    let seed = line.split("--seed ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a seed");
    let again = stdout(&fencepost(&["simulate", &file, "--seed", seed, "--storm", "40", "--show", "0"]));
    let digest = |text: &str| text.split("digest ").nth(1).map(|rest| rest[..16].to_owned());
    assert_eq!(digest(&again), digest(&printed));
    let nothing = stdout(&fencepost(&["hunt", &file, "--seeds", "1", "--property", "no-lost-update"]));
    assert!(
        nothing.contains("reproduce it with") || nothing.contains(&format!("`fencepost check '{file}'`")),
        "{nothing}"
    );
}

#[test]
fn a_hunt_that_keeps_going_finds_a_seed_for_each_promise() {
    let arguments =
        ["hunt", "b06-lock-index-cleanup", "--keep-going", "--scheduler", "priorities", "--seeds", "3000", "--json"];
    let output = fencepost(&arguments);
    assert_eq!(output.status.code(), Some(0));
    let lines = json(&output);
    assert_eq!(lines.len(), 3, "it makes three promises");
    let found = lines.iter().filter(|line| line["seed"].is_u64()).count();
    assert!(found >= 1, "{lines:?}");
}

#[test]
fn a_violation_that_branches_off_a_harmless_run_is_found_and_replayed() {
    let folder = folder("around");
    let out = folder.to_str().expect("text");
    fencepost(&["simulate", "b17-release-then-stop", "--seed", "1", "--out", out]);
    let run = folder.join("traces/b17-release-then-stop--seed-1.jsonl").display().to_string();
    let from = |step: &str, steps: &str| {
        let moment = format!("{run}@{step}");
        fencepost(&["check", "--from", &moment, "--steps", steps, "--json", "--out", out])
    };
    let found = from("14", "6");
    assert_eq!(found.status.code(), Some(0), "{}", stderr(&found));
    let line = &json(&found)[0];
    assert_eq!((&line["verdict"], &line["steps"]), (&"violated".into(), &19.into()));
    let trace = line["trace"].as_str().expect("it was written");
    assert_eq!(fencepost(&["replay", trace, "--quiet"]).status.code(), Some(0));
    // It says something about --from only.
    let output = fencepost(&["check", "b17-release-then-stop", "--steps", "4"]);
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    // A search without a violation is not a proof.
    let nothing = from("14", "2");
    assert_eq!(nothing.status.code(), Some(3));
    let line = &json(&nothing)[0];
    assert_eq!(line["verdict"], "bounded");
    assert_eq!(line["cut_by"], "--steps 2 (begun after step 14, with time passing from deadline to deadline)");
    for (moment, says) in [
        (run.clone(), "a trace file and a step"),
        (format!("{run}@many"), "`many` is not the number of a step"),
        (format!("{run}@1000"), "the run has 67 steps, and none after 1000"),
        ("nowhere.jsonl@3".to_owned(), "nowhere.jsonl cannot be read"),
    ] {
        let output = fencepost(&["check", "--from", &moment]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(says), "“{says}” is not in: {}", stderr(&output));
    }
}

#[test]
fn seeds_that_are_tried_for_coverage_are_all_tried_and_counted() {
    let arguments = ["hunt", "b17-release-then-stop", "--coverage", "--check-determinism", "--seeds", "200"];
    let line = &json(&fencepost(&[&arguments[..], &["--json"]].concat()))[0];
    assert_eq!((&line["seed"], &line["seeds_tried"]), (&3.into(), &4.into()));
    assert_eq!((&line["coverage"]["seeds"], &line["coverage"]["outlines"]), (&200.into(), &62.into()));
    let printed = stdout(&fencepost(&arguments));
    assert!(printed.contains("200 seeds show 62 worlds in outline; 1 of them show"), "{printed}");
    let output = fencepost(&["simulate", "b17-release-then-stop", "--seed", "3", "--check-determinism", "--quiet"]);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_schedulers_are_compared_by_how_many_seeds_they_need() {
    let folder = folder("schedulers");
    let out = folder.to_str().expect("text");
    let lines = json(&fencepost(&["schedulers", "B-17", "--seeds", "100", "--json", "--out", out]));
    let hits: Vec<_> = lines.iter().map(|line| (line["scheduler"].clone(), line["seeds"].clone())).collect();
    let expected = [("uniform", 20), ("realistic", 18), ("swarm", 10), ("priorities", 57)];
    assert_eq!(hits, expected.map(|(name, seeds)| (name.into(), seeds.into())));
    let table = fs::read_to_string(folder.join("schedulers.md")).expect("it was written");
    assert!(table.contains("| B-17 | b17-release-then-stop | mutual-exclusion | 7 | 6 | 4 | 19 |"), "{table}");
    let output = fencepost(&["schedulers", "b17-stop-then-release"]);
    assert_eq!(output.status.code(), Some(2), "nothing is expected to break there");
}
