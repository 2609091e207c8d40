//! `check --store`: a search that is killed, stopped or out of room resumes, and a store that is not its own is refused.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{sleep, yield_now};
use std::time::Duration;

use serde_json::Value;

use crate::program::{fencepost, folder, json, stderr, stdout};

/// The lines of a check, without what differs between two runs.
fn lines(output: &std::process::Output) -> Vec<Value> {
    let mut lines = json(output);
    for line in &mut lines {
        line.as_object_mut().expect("an object").remove("seconds");
    }
    lines
}

fn in_memory(scenario: &str) -> Vec<Value> {
    lines(&fencepost(&["check", scenario, "--json", "--quiet", "--workers", "1"]))
}

fn start(scenario: &str, store: &Path, workers: u64) -> Child {
    Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args([
            "check",
            scenario,
            "--json",
            "--quiet",
            "--max-memory",
            "1",
            "--workers",
            &workers.to_string(),
            "--store",
        ])
        .arg(store)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// Numbers that look random, from a seed.
fn drawn(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
    *seed >> 33
}

/// Kills a search this often at drawn moments, and compares what it comes to. Where it ends before, another one begins.
fn kill(scenario: &str, kills: u64, seed: u64) {
    let (expected, folder) = (in_memory(scenario), folder(&format!("killed-{scenario}-{seed}")));
    let (mut killed, mut ended, mut seed, mut store) = (0, 0_u64, seed, folder.join("0"));
    while killed < kills || ended == 0 {
        let mut child = start(scenario, &store, 1 + killed % 2);
        // Later processes have more time, so that the level that takes longest is completed on a slow machine, too.
        sleep(Duration::from_millis(5 + drawn(&mut seed) % (80 + 4 * killed)));
        // This is SIGKILL.
        child.kill().expect("a child can be killed");
        let output = child.wait_with_output().expect("it ends");
        if output.status.code().is_none() {
            killed += 1;
            continue;
        }
        assert_eq!(lines(&output), expected, "{scenario}, after {killed} kills: {}", stderr(&output));
        ended += 1;
        store = folder.join(ended.to_string());
    }
    let output = start(scenario, &store, 1).wait_with_output().expect("it ends");
    assert_eq!(lines(&output), expected, "{scenario}: {}", stderr(&output));
}

/// A scenario of which all promises hold, and one of which they break.
#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn searches_that_are_killed_50_times_come_to_the_same() {
    kill("b13-retry-then-stop", 25, 7);
    kill("b01-no-fencing", 25, 8);
}

#[test]
#[ignore = "takes minutes"]
fn searches_that_are_killed_600_times_come_to_the_same_by_hand() {
    for (seed, scenario) in
        (9..).zip(["b13-retry-then-stop", "b01-no-fencing", "b06-modify-index-cleanup", "b25-unbounded"])
    {
        kill(scenario, 150, seed);
    }
}

#[test]
fn a_disk_without_room_ends_a_search_in_order_and_with_room_it_resumes() {
    let (expected, folder) = (in_memory("b13-retry-then-stop"), folder("without-room"));
    let program = env!("CARGO_BIN_EXE_fencepost");
    let mut cut = 0;
    // No file may become larger than this number of blocks, which are half a kibibyte or a whole one.
    for blocks in [1, 20, 80] {
        let check = format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec '{program}' check b13-retry-then-stop --json --store '{}'",
            folder.join("store").display()
        );
        let output = Command::new("sh").args(["-c", &check]).output().expect("there is a shell");
        if output.status.code() == Some(2) {
            assert!(stderr(&output).contains("cannot be used"), "{blocks}: {}", stderr(&output));
            continue;
        }
        assert_eq!(output.status.code(), Some(3), "{blocks}: {}", stderr(&output));
        let by = lines(&output)[0]["cut_by"].to_string();
        assert!(by.contains("levels are complete, and the search can go on from there"), "{by}");
        assert!(stderr(&output).contains("the same command resumes the search"), "{}", stderr(&output));
        cut += 1;
    }
    assert!(cut > 0, "the limit was too high");
    let whole = fencepost(&["check", "b13-retry-then-stop", "--json", "--store", &path(&folder)]);
    assert_eq!(lines(&whole), expected, "{}", stderr(&whole));
}

#[test]
fn a_search_with_a_limit_says_that_a_higher_one_resumes_it() {
    let folder = folder("higher-limit");
    let check =
        |limit: &str| fencepost(&["check", "b13-retry-then-stop", "--store", &path(&folder), "--max-states", limit]);
    let bounded = check("50");
    assert_eq!(bounded.status.code(), Some(3), "{}", stderr(&bounded));
    assert!(
        stderr(&bounded).contains("the same command with a higher limit resumes the search"),
        "{}",
        stderr(&bounded)
    );
    let whole = check("100000");
    assert!(!stderr(&whole).contains("higher limit"), "{}", stderr(&whole));
    let goes_on = "fencepost: b13-retry-then-stop: goes on after ";
    assert!(!stderr(&bounded).contains(goes_on) && stderr(&whole).contains(goes_on), "{}", stderr(&whole));
    // A search that has ended does not go on.
    let again = check("100000");
    assert_eq!((stdout(&again), stderr(&again).contains(goes_on)), (stdout(&whole), false), "{}", stderr(&again));
}

fn path(folder: &Path) -> String {
    folder.join("store").display().to_string()
}

#[test]
fn memory_does_not_stop_a_search_on_disk_and_levels_do() {
    let (expected, folder) = (in_memory("b01-pause-bounded"), folder("limits"));
    for depth in ["3", "9"] {
        let output =
            fencepost(&["check", "b01-pause-bounded", "--json", "--store", &path(&folder), "--max-depth", depth]);
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        let in_memory = fencepost(&["check", "b01-pause-bounded", "--json", "--max-depth", depth]);
        assert_eq!(lines(&output), lines(&in_memory));
    }
    let limited = ["check", "b01-pause-bounded", "--json", "--store", &path(&folder), "--max-memory", "1"];
    assert_eq!(lines(&fencepost(&limited)), expected);
    // It has ended: what the store says is the result.
    assert_eq!(lines(&fencepost(&limited)), expected);
}

#[test]
fn a_store_of_another_search_is_refused_and_kept() {
    let folder = folder("refused");
    let store = path(&folder);
    let check =
        |more: &[&str]| fencepost(&[&["check", "b01-pause-bounded", "--quiet", "--store", &store], more].concat());
    assert_eq!(check(&[]).status.code(), Some(0));
    for (more, difference) in [
        (&["--symmetry", "off"][..], "--symmetry is on there, and off here"),
        (&["--unheard", "on"], "--unheard is off there, and on here"),
        (&["--partial-order"], "--partial-order is off there, and on here"),
        (&["--subsumption"], "--subsumption"),
        (&["--property", "no-lost-update"], "the list of promises is"),
        (&["--engine", "stateright"], "keeps its states in memory"),
    ] {
        let output = check(more);
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert!(stderr(&output).contains(difference), "{more:?}: {}", stderr(&output));
    }
    assert_eq!(check(&[]).status.code(), Some(0), "the store is as it was");
    // Without its manifest it is not taken for an empty one.
    let manifest = folder.join("store/b01-pause-bounded/together/manifest.json");
    let kept = fs::read(&manifest).expect("it is there");
    fs::remove_file(&manifest).expect("it can be removed");
    let output = check(&[]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("`manifest.json` is not as it was written"), "{}", stderr(&output));
    fs::write(&manifest, kept).expect("it can be written");
    assert_eq!(check(&[]).status.code(), Some(0), "nothing else was removed");
    fs::write(folder.join("letter.txt"), "Dear reader").expect("a file can be written");
    let output = fencepost(&["check", "b01-pause-bounded", "--store", &folder.display().to_string()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("is not a store: it contains `letter.txt`"), "{}", stderr(&output));
}

#[test]
fn a_store_in_use_is_refused() {
    let folder = folder("in-use");
    let store = folder.join("store");
    let mut child = start("b01-one-pause", &store, 1);
    let manifest = store.join("b01-one-pause/together/manifest.json");
    while !manifest.exists() {
        assert_eq!(child.try_wait().expect("it can be asked"), None, "it ended before it wrote anything");
        yield_now();
    }
    let output = fencepost(&["check", "b01-one-pause", "--store", &store.display().to_string()]);
    child.kill().expect("a child can be killed");
    child.wait().expect("it ends");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("is in use by another process"), "{}", stderr(&output));
}

/// What a check of promises about endless executions comes to, and how it ends.
fn endless(scenario: &str, more: &[&str]) -> (Vec<Value>, Option<i32>) {
    let check = ["check", scenario, "--json", "--quiet", "--property", "eventually-acquired"];
    let output = fencepost(&[&check, more].concat());
    (lines(&output), output.status.code())
}

#[test]
fn state_graphs_are_the_same_on_disk_with_any_number_of_threads() {
    let folder = folder("graphs");
    let store = path(&folder);
    for scenario in ["e13-error", "e13-close", "f25-not-durable"] {
        let in_memory = endless(scenario, &["--workers", "1"]);
        assert_eq!(in_memory.1, Some(0));
        for workers in ["1", "2", "5"] {
            assert_eq!(endless(scenario, &["--workers", workers]), in_memory);
            assert_eq!(endless(scenario, &["--workers", workers, "--store", &store]), in_memory);
            let limited = ["--workers", workers, "--max-states", "300"];
            assert_eq!(endless(scenario, &limited), endless(scenario, &[&limited[..], &["--store", &store]].concat()));
        }
        let left = fs::read_dir(folder.join("store").join(scenario).join("_graph")).expect("it is there").count();
        assert_eq!(left, 0, "{scenario}: the edges are removed");
    }
}

#[test]
fn a_state_graph_that_a_killed_process_left_is_begun_again_and_a_foreign_file_is_refused() {
    let folder = folder("graph-killed");
    let graph = folder.join("store/b43-from-1-and-1/_graph");
    let check = ["check", "b43-from-1-and-1", "--property", "eventually-acquired", "--store"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(check)
        .args([&path(&folder), "--quiet"])
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    while !graph.join("edges").exists() {
        assert_eq!(child.try_wait().expect("it can be asked"), None, "it ended before it wrote anything");
        yield_now();
    }
    child.kill().expect("a child can be killed");
    child.wait().expect("it ends");
    assert!(graph.join("edges").exists());
    let store = path(&folder);
    let again = endless("b43-from-1-and-1", &["--store", &store]);
    assert_eq!(again, endless("b43-from-1-and-1", &[]));
    fs::write(graph.join("letter.txt"), "Dear reader").expect("a file can be written");
    let output = fencepost(&[&check[..], &[&store]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("`letter.txt`"), "{}", stderr(&output));
}

#[test]
fn a_state_graph_that_a_limit_cuts_is_judged_as_far_as_it_goes() {
    let cut = |scenario, states| {
        let (found, code) = endless(scenario, &["--max-states", states]);
        (found[0]["verdict"].to_string(), found[0]["states"].as_u64(), code)
    };
    // The whole graph has 740 states.
    assert_eq!(cut("e23-b", "246"), ("\"violated\"".to_owned(), Some(375), Some(0)));
    assert_eq!(cut("e23-b", "20").0, "\"bounded\"");
    assert_eq!(cut("e13-close", "50"), ("\"bounded\"".to_owned(), Some(77), Some(3)));
}

#[test]
fn a_disk_without_room_ends_a_state_graph_in_order() {
    let (folder, program) = (folder("graph-without-room"), env!("CARGO_BIN_EXE_fencepost"));
    let check = format!(
        "trap '' XFSZ; ulimit -f 100; exec '{program}' check b43-from-1-and-1 --property eventually-acquired --json --store '{}'",
        path(&folder)
    );
    let output = Command::new("sh").args(["-c", &check]).output().expect("there is a shell");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let by = lines(&output)[0]["cut_by"].to_string();
    assert!(by.contains("an error of the store"), "{by}");
    assert!(!stderr(&output).contains("resumes the search"), "{}", stderr(&output));
}
