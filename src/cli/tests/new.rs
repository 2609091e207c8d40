//! `fencepost new`: the files of each system and recipe can be read, the test compiles, nothing is overwritten, questions are answered.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use expect_test::expect_file;
use fencepost::catalogue::{self, CATALOGUE};

use crate::program::{fencepost, folder, json, stderr, stdout};

/// The test that the command writes for `our-lock`, compiled and run with the tests of the command line.
#[path = "new/tests/our_lock.rs"]
mod our_lock;

fn new(out: &Path, arguments: &[&str]) -> Output {
    fencepost(&[&["new"][..], arguments, &["--out", out.to_str().expect("text")]].concat())
}

/// The command with these lines typed into it.
fn typed(out: &Path, arguments: &[&str], lines: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(["new", "--ask", "--out", out.to_str().expect("text")])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

/// Each system alone, and each with each of its recipes that the command offers for it.
fn systems_and_recipes() -> Vec<(&'static str, Option<String>)> {
    let mut all: Vec<(&str, Option<String>)> = CATALOGUE.systems().map(|system| (system, None)).collect();
    for service in CATALOGUE.services() {
        let schema = service.schema("/definitions");
        let settings = schema["properties"]["service"]["allOf"][0]["$ref"].as_str().expect("a reference");
        let recipes = &schema.pointer(&settings[1..]).expect("the settings")["properties"]["recipe"]["enum"];
        for recipe in recipes.as_array().into_iter().flatten() {
            all.extend(service.systems().iter().map(|system| (*system, recipe.as_str().map(str::to_owned))));
        }
    }
    all
}

#[test]
fn the_files_of_every_system_and_recipe_are_read_and_are_one_test_but_for_the_name() {
    let folder = folder("new-systems");
    let mut written = 0;
    let mut recipes = Vec::new();
    for (system, recipe) in systems_and_recipes() {
        let name = format!("our-{system}-{}", recipe.as_deref().unwrap_or("alone"));
        let mut arguments = vec![name.as_str(), "--system", system];
        arguments.extend(recipe.iter().flat_map(|recipe| ["--recipe", recipe.as_str()]));
        let output = new(&folder, &arguments);
        // A recipe belongs to one of the systems of its service.
        if output.status.code() == Some(2) && recipe.is_some() && stderr(&output).contains("has no recipe") {
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        let file = folder.join(format!("{name}.toml"));
        let text = fs::read_to_string(&file).expect("the scenario was written");
        let scenario = catalogue::read(&text, &name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((scenario.name(), scenario.system()), (name.as_str(), system));
        assert!(!scenario.promises().is_empty() && text.lines().filter(|line| line.starts_with('#')).count() > 10);
        let test = fs::read_to_string(folder.join(format!("tests/{}.rs", name.replace('-', "_")))).expect("a test");
        assert_eq!(test.replace(&name, "our-lock"), include_str!("new/tests/our_lock.rs"));
        written += 1;
        recipes.extend(recipe);
    }
    assert!(recipes.len() >= 19 && written >= 13 + 19, "{written}, {recipes:?}");
}

#[test]
fn the_pinned_files_are_those_that_the_command_writes() {
    let folder = folder("new-pins");
    let output = new(&folder, &["our-lock", "--system", "lease"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("fencepost check ") && said.contains("cargo test --test our_lock"), "{said}");
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("it was written");
    expect_file!["new/our-lock.toml"].assert_eq(&read("our-lock.toml"));
    expect_file!["new/tests/our_lock.rs"].assert_eq(&read("tests/our_lock.rs"));
    let file = folder.join("our-lock.toml").display().to_string();
    assert_eq!(fencepost(&["check", &file, "--quiet"]).status.code(), Some(0), "the defaults of a lease are safe");
}

#[test]
fn existing_files_are_not_overwritten() {
    let folder = folder("new-twice");
    assert_eq!(new(&folder, &["our-lock", "--system", "lease"]).status.code(), Some(0));
    let before = fs::read_to_string(folder.join("our-lock.toml")).expect("written");
    let again = new(&folder, &["our-lock", "--system", "redlock"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("our-lock.toml exists, and is not overwritten"), "{}", stderr(&again));
    assert_eq!(fs::read_to_string(folder.join("our-lock.toml")).expect("still there"), before);
    fs::remove_file(folder.join("our-lock.toml")).expect("it is there");
    let test_only = new(&folder, &["our-lock", "--system", "lease"]);
    assert_eq!(test_only.status.code(), Some(2), "the test is there still");
    assert!(!folder.join("our-lock.toml").exists());
}

#[test]
fn options_go_into_the_file_and_defaults_keep_their_ratio_to_a_duration_with_a_unit() {
    let folder = folder("new-options");
    let arguments = [
        "db-leader",
        "--system",
        "consul-lock",
        "--ttl",
        "15s",
        "--clients",
        "3",
        "--writes",
        "1",
        "--set",
        "sequencer=modify-index",
        "--message-delay",
        "7.5s",
        "--fault",
        "pauses=1",
        "--fault",
        "losses=2",
        "--promise",
        "no-lost-update",
        "--promise",
        "lock-delay=15s",
        "--json",
    ];
    let output = new(&folder, &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(json(&output).len(), 2, "a line for each file");
    let text = fs::read_to_string(folder.join("db-leader.toml")).expect("written");
    for line in [
        "clients = 3",
        "writes = 1",
        "ttl = \"15s\"",
        "renew_every = \"7.5s\"",
        "lock_delay = \"15s\"",
        "sequencer = \"modify-index\"",
        "message_delay = \"7.5s\"",
        "property = \"no-lost-update\"",
        "bound = \"15s\"",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}:\n{text}");
    }
    for fault in ["pauses = 1 ", "losses = 2 ", "# crashes = 0 "] {
        assert!(text.lines().any(|line| line.starts_with(fault)), "{fault}:\n{text}");
    }
    assert!(folder.join("tests/db_leader.rs").exists());
}

#[test]
fn bad_options_are_answered_with_what_to_write_and_nothing_is_written() {
    let folder = folder("new-bad");
    for (arguments, words) in [
        (&["our-lock"][..], "say what is shared: --system, one of `lease`"),
        (&["our-lock", "--system", "consul-lok"], "a similar value exists: 'consul-lock'"),
        (&["Our Lock", "--system", "lease"], "as our-lock"),
        (&["our-lock", "--system", "consul-lock", "--recipe", "go-lok"], "did you mean `go-lock`?"),
        (&["our-lock", "--system", "redlock", "--recipe", "go-lock"], "redlock has no recipe `go-lock`"),
        (&["our-lock", "--system", "redlock", "--ttl", "3"], "there is no setting `ttl`"),
        (&["our-lock", "--system", "lease", "--set", "leese=3"], "did you mean `lease`?"),
        (&["our-lock", "--system", "lease", "--set", "lease=long"], "`long` has an unknown unit"),
        (&["our-lock", "--system", "lease", "--fault", "crash=1"], "did you mean `crashes`?"),
        (&["our-lock", "--system", "lease", "--clients", "0"], "no whole number from 1 to 10000"),
        (&["our-lock", "--system", "lease", "--promise", "lock-delay"], "these settings do not fit together"),
        (&["our-lock", "--system", "lease", "--promise", "mutual"], "there are single-owner"),
    ] {
        let output = new(&folder, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
    assert_eq!(fs::read_dir(&folder).expect("it was made").count(), 0);
}

#[test]
fn questions_have_defaults_and_bad_answers_are_asked_again() {
    let folder = folder("new-questions");
    let output = typed(&folder, &[], "printer\nlees\nlease\n3\nfew\n2\n\n\n4\n\n1\n\n\n0\n0\n");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let asked = stderr(&output);
    for words in [
        "did you mean `lease`?",
        "`few` is no whole number from 1 to 255",
        "consul-lock            a lock on a key of Consul",
    ] {
        assert!(asked.contains(words), "{words}: {asked}");
    }
    let text = fs::read_to_string(folder.join("printer.toml")).expect("written");
    for line in
        ["clients = 3", "rounds = 2", "writes = 0", "lease = 2", "grace = 4", "message_delay = 0", "wake_delay = 1"]
    {
        assert!(text.lines().any(|other| other == line), "{line}: {text}\n{asked}");
    }
}

#[test]
fn the_end_of_the_input_ends_the_questions_and_writes_nothing() {
    let folder = folder("new-end");
    for lines in ["", "printer\n", "printer\nlease\n2\nmany\n"] {
        let output = typed(&folder, &[], lines);
        assert_eq!(output.status.code(), Some(2), "{lines:?}");
        assert!(stderr(&output).contains("the input ended before"), "{lines:?}: {}", stderr(&output));
    }
    assert_eq!(fs::read_dir(&folder).expect("it was made").count(), 0);
}
