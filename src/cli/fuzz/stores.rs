//! Stores of sweeps: databases with damaged bytes, and whole ones with strange values.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Refused, fuzz};
use crate::commands::sweep::look_through;
use crate::commands::{Arguments, Command, sweep};
use clap::Parser;

/// A store of a few runs.
fn store(folder: &Path) -> PathBuf {
    let file = folder.join("whole.sqlite");
    let store = file.to_str().expect("text");
    let words =
        ["fencepost", "sweep", "b17-release-then-stop", "--seeds", "12", "--actions", "40", "--json", "--quiet"];
    let arguments = Arguments::parse_from(words.into_iter().chain(["--store", store]));
    let Some(Command::Sweep(options)) = &arguments.command else { panic!("it is a sweep") };
    sweep::run(options, &arguments.common).expect("a sweep of a few runs");
    file
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("fencepost-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

const PLACES: [&str; 8] =
    ["table ", "header", "application_id", "user_version", "is no store", "is empty", "has format", "locked"];

#[test]
fn mutated_stores_are_used_or_refused() {
    let folder = folder("stores");
    let whole = fs::read(store(&folder)).expect("it was written");
    let damaged = folder.join("fuzzed.sqlite");
    fuzz("stores", 1, &[whole], &PLACES, |bytes| -> Refused {
        fs::write(&damaged, bytes).expect("a file can be written");
        let result = look_through(&damaged).map_err(|error| error.to_string());
        let _ = fs::remove_file(folder.join("fuzzed.sqlite-journal"));
        result
    });
    fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn strange_values_in_a_store_are_refused_with_table_and_row() {
    let folder = folder("values");
    let whole = store(&folder);
    let file = folder.join("fuzzed.sqlite");
    for (change, place) in [
        ("UPDATE run SET setting = 7 WHERE number = 3", "table run, row 4"),
        ("UPDATE run SET setting = -1 WHERE number = 3", "table run, row 4"),
        ("UPDATE run SET seed = 99 WHERE number = 0", "table run, row 1"),
        ("UPDATE run SET number = 9223372036854775807 WHERE number = 11", "table run"),
        ("UPDATE run SET digest = x'ff' WHERE number = 2", "table run, row 3"),
        ("UPDATE run SET digest = 'other' WHERE number = 11", "table run, the last row"),
        ("DELETE FROM run WHERE number = 4", "table run"),
        ("DELETE FROM plan", "table plan"),
        ("DROP TABLE run", "table run"),
        ("DROP TABLE violation", "table violation"),
        ("UPDATE plan SET after = 9223372036854775807", "table plan"),
        ("UPDATE plan SET first = 5, after = 2", "table plan"),
        ("UPDATE plan SET json = '{}'", "table plan, json"),
        ("UPDATE plan SET json = replace(json, '\"seeds\":[0,12]', '\"seeds\":[5,5]')", "`seeds`"),
        (
            "UPDATE plan SET json = replace(json, '\"seeds\":[0,12]', '\"seeds\":[0,18446744073709551615]')",
            "table plan",
        ),
        ("UPDATE plan SET json = replace(json, '\"refinement\":1000', '\"refinement\":0')", "`refinement`"),
        ("UPDATE plan SET json = replace(json, '\"clients\":null', '\"clients\":0')", "`clients`"),
        ("INSERT INTO violation VALUES (3, 'nonsense', 1, 'm')", "table violation"),
        ("INSERT OR REPLACE INTO violation VALUES (3, 'mutual-exclusion', -1, 'm')", "table violation"),
    ] {
        fs::copy(&whole, &file).expect("a file can be copied");
        let database = rusqlite::Connection::open(&file).expect("it is a database");
        database.execute_batch(change).unwrap_or_else(|error| panic!("{change}: {error}"));
        drop(database);
        let message = look_through(&file).expect_err(change).to_string();
        assert!(message.contains("fuzzed.sqlite") && message.contains(place), "{change}: {message}");
    }
    fs::remove_dir_all(folder).expect("it is ours");
}
