//! Sweeps: stopped at any moment and resumed, split into shards and merged, always with the same result.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::program::{fencepost, folder, json, stderr, stdout};

const WHAT: [&str; 7] =
    ["b01-no-fencing", "--vary", "service.ttl=1,2", "--vary", "service.lock_delay=0,1", "--seeds", "600"];

fn sweep(store: &Path, more: &[&str]) -> std::process::Output {
    let store = store.to_str().expect("text");
    fencepost(&[&["sweep"], &WHAT[..], &["--store", store, "--quiet"], more].concat())
}

fn merge(into: &Path, parts: &[PathBuf]) -> std::process::Output {
    let parts: Vec<&str> = parts.iter().map(|part| part.to_str().expect("text")).collect();
    fencepost(&[&["merge", into.to_str().expect("text"), "--quiet"], &parts[..]].concat())
}

/// Text of the table of a finished store.
fn table(store: &Path) -> String {
    let csv = store.with_extension("csv");
    let (store, file) = (store.to_str().expect("text"), csv.to_str().expect("text"));
    let output = fencepost(&["sweep", "--store", store, "--csv", file, "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    fs::read_to_string(csv).expect("it was written")
}

#[test]
fn a_sweep_that_was_killed_at_any_moment_comes_to_the_same_as_one_that_was_not() {
    let folder = folder("killed");
    let (whole, killed) = (folder.join("whole.sqlite"), folder.join("killed.sqlite"));
    assert_eq!(sweep(&whole, &[]).status.code(), Some(0));
    let mut kills = 0;
    for wait in [3, 1, 9, 27, 5, 40, 14, 60, 20, 33].into_iter().cycle().take(40) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fencepost"))
            .args(["sweep"])
            .args(WHAT)
            .args(["--store", killed.to_str().expect("text"), "--quiet"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it can be started");
        sleep(Duration::from_millis(wait));
        if child.try_wait().expect("it can be asked").is_some() {
            break;
        }
        child.kill().expect("it can be killed");
        child.wait().expect("it is gone");
        kills += 1;
    }
    assert!(kills > 2, "it was too fast to be killed");
    assert_eq!(sweep(&killed, &[]).status.code(), Some(0));
    assert_eq!(table(&killed), table(&whole));
    let (one, other) = (folder.join("one.sqlite"), folder.join("other.sqlite"));
    assert_eq!(merge(&one, &[whole]).status.code(), Some(0));
    assert_eq!(merge(&other, &[killed]).status.code(), Some(0));
    assert_eq!(fs::read(one).expect("it is there"), fs::read(other).expect("it is there"));
}

#[test]
fn the_parts_of_a_sweep_come_to_the_same_bytes_however_many_there_are() {
    let folder = folder("shards");
    let merged = |of: u32| {
        let parts: Vec<PathBuf> = (1..=of).map(|part| folder.join(format!("{part}-of-{of}.sqlite"))).collect();
        for (part, file) in (1..).zip(&parts) {
            let output = sweep(file, &["--shard", &format!("{part}/{of}")]);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        }
        let into = folder.join(format!("merged-{of}.sqlite"));
        let output = merge(&into, &parts.into_iter().rev().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        fs::read(into).expect("it was made")
    };
    let (one, two, many) = (merged(1), merged(2), merged(64));
    assert!(one == two && two == many, "{} {} {}", one.len(), two.len(), many.len());
    let part = |name: &str| folder.join(format!("{name}.sqlite"));
    for (parts, says) in [
        (vec!["1-of-2", "2-of-2", "1-of-2"], "1-of-2.sqlite is named twice"),
        (vec!["1-of-2"], "the runs 1200 to 2399 are in none of the parts"),
        (vec!["2-of-2"], "the runs 0 to 1199 are in none of the parts"),
        (vec!["1-of-2", "2-of-2", "40-of-64"], "are in another part, too"),
        (vec!["1-of-2", "merged-2"], "its runs from 0 on are in another part, too"),
    ] {
        let output = merge(&part("wrong"), &parts.into_iter().map(part).collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(says), "“{says}” is not in: {}", stderr(&output));
        assert!(!part("wrong").exists());
    }
}

#[test]
fn a_sweep_is_summed_up_and_told_as_a_table() {
    let folder = folder("summed");
    let store = folder.join("all.sqlite");
    let printed = stdout(&sweep(&store, &[]));
    assert!(printed.starts_with("ttl = 1, lock_delay = 0: of 600 runs mutual-exclusion broken by "), "{printed}");
    let file = store.to_str().expect("text");
    let lines = json(&fencepost(&["sweep", "--store", file, "--json"]));
    assert_eq!(lines.len(), 4);
    let broken = lines[0]["violated"]["mutual-exclusion"].as_u64().expect("a number");
    let table = table(&store);
    let mut rows = table.lines();
    assert_eq!(rows.next(), Some("ttl,lock_delay,seed,actions,ticks,at_rest,digest,mutual-exclusion,no-lost-update"));
    assert_eq!(table.lines().count(), 2401);
    let column = |row: &str, place: usize| row.split(',').nth(place).expect("a column").to_owned();
    let counted = rows.filter(|row| row.starts_with("1,0,") && !column(row, 7).is_empty()).count();
    assert_eq!(counted as u64, broken);
    // A row names a run that can be replayed.
    let row = table.lines().find(|row| row.starts_with("2,1,17,")).expect("a row");
    let run =
        ["simulate", "b01-no-fencing", "--vary", "service.ttl=2", "--vary", "service.lock_delay=1", "--seed", "17"];
    assert_eq!(json(&fencepost(&[&run[..], &["--json"]].concat()))[0]["digest"], column(row, 6));
    let output = fencepost(&["simulate", "b01-no-fencing", "--vary", "service.ttl=1,2", "--seed", "17"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("`fencepost sweep` takes several"), "{}", stderr(&output));
}

#[test]
fn a_foreign_folder_is_not_touched_by_a_sweep() {
    let folder = folder("stores");
    let store = folder.join("some.sqlite");
    let text = |path: &Path| path.to_str().expect("text").to_owned();
    let name = text(&store);
    let small = |more: &[&str]| {
        fencepost(&[&["sweep", "b17-release-then-stop", "--seeds", "20", "--store", &name, "--quiet"], more].concat())
    };
    assert_eq!(small(&[]).status.code(), Some(0));
    let before = fs::read(&store).expect("it is there");
    let other = folder.join("notes.txt");
    fs::write(
        &other,
        "These are notes, and there are enough of them to fill the header of a database file, which has 100 bytes.",
    )
    .expect("it can be written");
    let missing = folder.join("missing.sqlite");
    for (output, says) in [
        (small(&["--storm", "5"]), "holds another sweep"),
        (small(&["--shard", "1/2"]), "holds another sweep"),
        (fencepost(&["sweep", "--store", &text(&other)]), "is no store of a sweep"),
        (fencepost(&["sweep", "b17-release-then-stop", "--store", &text(&other)]), "is no store of a sweep"),
        (fencepost(&["sweep", "--store", &text(&missing)]), "cannot be opened"),
        (fencepost(&["sweep", "--store", &name, "--storm", "5"]), "leave the options out"),
        (small(&["--vary", "service.ttl=0"]), "no setting is possible"),
        (small(&["--shard", "3/2"]), "a part of how many, as 2/8"),
        (merge(&store, std::slice::from_ref(&store)), "is there already"),
    ] {
        assert_eq!(output.status.code(), Some(2), "{says}: {}", stdout(&output));
        assert!(stderr(&output).contains(says), "“{says}” is not in: {}", stderr(&output));
    }
    assert_eq!(fs::read(&store).expect("it is there"), before);
    assert!(fs::read_to_string(&other).expect("it is there").starts_with("These are notes"));
    // Nothing is done again, and nothing is added.
    assert_eq!(small(&[]).status.code(), Some(0));
    assert_eq!(fs::read(&store).expect("it is there"), before);
}
