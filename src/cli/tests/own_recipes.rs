//! A program of one's own with all commands: scenario files and traces name its recipes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::program::{fencepost, folder, json, stderr, stdout};

/// The example `own_recipe`.
fn own(arguments: &[&str]) -> Output {
    example("own_recipe", arguments)
}

/// An example, which Cargo builds beside the program.
fn example(name: &str, arguments: &[&str]) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_fencepost"));
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let path: PathBuf = program.parent().expect("a folder").join("examples").join(name);
    Command::new(path).args(arguments).output().expect("the example starts")
}

/// A scenario of the lease whose clients run the recipe: a message is under way for up to a tick.
fn scenario(folder: &Path, counts_from_answer: bool) -> String {
    let head = format!(r#"{{"lease":2,"counts_from_answer":{counts_from_answer}}}"#);
    with_program(folder, "own-recipe", &head)
}

/// The same whose clients run a program with this head.
fn with_program(folder: &Path, program: &str, head: &str) -> String {
    with_table(folder, &format!("[[program]]\nname = \"{program}\"\npackage = \"own\"\nhead = '{head}'\n"))
}

/// The same with this table.
fn with_table(folder: &Path, table: &str) -> String {
    let text = format!(
        r#"name = "own"
about = "Our own recipe."
system = "lease"
clients = 2
rounds = 1

[synchrony]
message_delay = 1
wake_delay = 0
server_delay = 0

[service]
lease = 2
grace = 1

{table}
[[promise]]
property = "lease-exclusion"

[[promise]]
property = "no-panic"
"#
    );
    let path = folder.join("own.toml");
    fs::write(&path, text).expect("a file can be written");
    path.display().to_string()
}

#[test]
fn a_recipe_of_ones_own_is_checked_simulated_and_replayed_by_the_commands() {
    let folder = folder("own-recipes");
    let right = scenario(&folder, false);
    let output = own(&["check", &right, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(json(&output).iter().all(|line| line["verdict"] == "proven"), "{}", stdout(&output));
    let wrong = scenario(&folder, true);
    let out = folder.join("out").display().to_string();
    let output = own(&["check", &wrong, "--json", "--out", &out]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let finding = json(&output).into_iter().find(|line| line["property"] == "lease-exclusion").expect("it is promised");
    assert_eq!(finding["verdict"], "violated");
    let trace = finding["trace"].as_str().expect("it is written").to_owned();
    let replayed = own(&["replay", &trace]);
    assert!(stdout(&replayed).contains("lease-exclusion is violated"), "{}{}", stdout(&replayed), stderr(&replayed));
    // The recipe is not part of the trace: who does not know it says whose it is.
    let unknown = fencepost(&["replay", &trace]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("own-recipe"), "{}", stderr(&unknown));
    // The test of it makes the recipe known.
    let test = stdout(&own(&["regress", &trace]));
    let registers = "    fencepost::model::program::register::<fencepost::lease::Lease, own::OwnRecipe>();\n    fencepost::regression(";
    assert!(test.contains(registers), "{test}");
    let simulated = own(&["simulate", &right, "--seed", "7", "--quiet", "--out", &out]);
    assert_eq!(simulated.status.code(), Some(0), "{}", stderr(&simulated));
}

/// `reports/docs/programs.md` shows it.
#[test]
fn the_table_of_the_page_about_programs_names_the_example() {
    let page = include_str!("../../../reports/docs/programs.md");
    let tables: Vec<&str> = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let [table, published] = tables[..] else { panic!("{tables:?}") };
    // The program has the published clients without an example.
    let file = folder("table-of-a-published-client").join("published.toml");
    let text = "name = \"published\"\nabout = \"The Go client's lock.\"\nsystem = \"consul-lock\"\nclients = 1\nrounds = 1\n\n";
    let promise = "\n[[promise]]\nproperty = \"mutual-exclusion\"\n";
    let synchrony = "[synchrony]\nmessage_delay = 0\nwake_delay = 0\nserver_delay = 0\n\n";
    let service = "[service]\nttl = 30\nlock_delay = 30\nwatch_wait = 30\nwaiting = \"watch\"\nretry_every = 10\n\n";
    fs::write(&file, [text, synchrony, service, published, promise].concat()).expect("a file can be written");
    let output = fencepost(&["check", &file.display().to_string(), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    let wrong = with_table(&folder("table-of-the-page"), table);
    let output = own(&["check", &wrong, "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let broken = json(&output).into_iter().find(|line| line["property"] == "lease-exclusion").expect("it is promised");
    assert_eq!(broken["verdict"], "violated", "its client counts from the answer");
}

/// A program that is wrong is bad input, and no verdict; one that panics breaks a promise.
#[test]
fn a_recipe_that_is_wrong_is_refused_with_the_place_and_exit_code_2() {
    let folder = folder("faulty-recipes");
    for (mistake, says) in [
        ("reads-clock", "it is not deterministic. Told the same as before"),
        ("counts-in-static", "it is not deterministic. Told the same as before"),
        ("hides-value", "its text leaves out something that `Debug` shows, which is lost between laps"),
        ("never-waits", "it goes on without waiting"),
    ] {
        let file = with_program(&folder, "faulty-recipe", &format!(r#"{{"mistake":"{mistake}"}}"#));
        let output = example("faulty_recipe", &["check", &file, "--quiet"]);
        assert_eq!(output.status.code(), Some(2), "{mistake}: {}{}", stdout(&output), stderr(&output));
        let told = stderr(&output);
        assert!(told.contains("the program `faulty-recipe` cannot be explored") && told.contains(says), "{told}");
        assert!(told.contains("head of the lap: {\"mistake\":") && !told.contains("internal"), "{told}");
    }
    let file = with_program(&folder, "faulty-recipe", r#"{"mistake":"panics"}"#);
    let out = folder.join("out").display().to_string();
    let output = example("faulty_recipe", &["check", &file, "--json", "--out", &out]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let finding = json(&output).into_iter().find(|line| line["property"] == "no-panic").expect("it is promised");
    assert_eq!(finding["verdict"], "violated");
    let replayed = example("faulty_recipe", &["replay", finding["trace"].as_str().expect("it is written")]);
    assert!(stdout(&replayed).contains("the lock is gone"), "{}", stdout(&replayed));
}

/// The published clients are known to the program itself: a scenario file names one, with its settings as its head.
#[test]
fn a_published_client_stands_in_a_scenario_file() {
    let folder = folder("published-clients");
    let lock = |wait: &str| {
        format!(
            r#"{{"terms":{{"ttl":2,"lock_delay":1,"behavior":"release"}},"wait":{wait},"retry_every":1,"renew_after_error":1,"monitor_retries":0,"monitor_retry_every":1,"session":null,"wait_index":0}}"#
        )
    };
    let file = |head: String| {
        let text = format!(
            r#"name = "published"
about = "The Go client's lock, line by line."
system = "consul-lock"
clients = 2
rounds = 1

[synchrony]
message_delay = 0
wake_delay = 0
server_delay = 0

[[program]]
name = "go-lock"
package = "fencepost_consul"
head = '{head}'

[[promise]]
property = "mutual-exclusion"
"#
        );
        let path = folder.join("published.toml");
        fs::write(&path, text).expect("a file can be written");
        path.display().to_string()
    };
    let output = fencepost(&["check", &file(lock("2")), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    assert_eq!(json(&output)[0]["verdict"], "proven");
    let output = fencepost(&["check", &file(lock("\"two\""))]);
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    assert!(stderr(&output).contains("go-lock") && stderr(&output).contains("invalid type"), "{}", stderr(&output));
}

#[test]
fn the_shipped_catalogue_is_listed_beside_ones_own_recipes() {
    let output = own(&["list", "b01-no-fencing", "--json"]);
    assert_eq!(json(&output)[0]["scenario"], "b01-no-fencing");
    assert_eq!(own(&["check", "nonsense"]).status.code(), Some(2));
}

/// The numbers and flags of a program are changed, too, and each side of a boundary is a file that `check` agrees with.
#[test]
fn the_doctor_says_how_far_settings_of_a_recipe_of_ones_own_may_be_changed() {
    let folder = folder("own-doctor");
    let wrong = scenario(&folder, true);
    let sides = folder.join("sides");
    let output = own(&["doctor", "scenario", &wrong, "--json", "--quiet", "--write", &sides.display().to_string()]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let lines = json(&output);
    let line = lines.iter().find(|line| line["property"] == "lease-exclusion").expect("it is promised");
    assert_eq!(line["verdict"], "broken");
    let changes: Vec<(&str, &str, i64, i64)> = line["boundaries"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|boundary| boundary["other"] == "kept")
        .map(|boundary| {
            let word = |name: &str| boundary[name].as_str().expect("a text");
            let number = |name: &str| boundary[name].as_i64().expect("a number");
            (word("setting"), word("direction"), number("same_to"), number("other_from"))
        })
        .collect();
    let expected = [
        ("program.0.head.counts_from_answer", "down", 1, 0),
        ("program.0.head.lease", "down", 2, 1),
        ("service.grace", "up", 1, 2),
        ("service.lease", "up", 2, 3),
        ("synchrony.message_delay", "down", 1, 0),
    ];
    assert_eq!(changes, expected);
    let files = line["files"].as_array().expect("they are written");
    assert_eq!(files.len(), 2 * expected.len());
    for file in files {
        let checked = own(&["check", file.as_str().expect("a path"), "--quiet"]);
        assert_eq!(checked.status.code(), Some(0), "{file}: {}{}", stdout(&checked), stderr(&checked));
    }
}

#[test]
fn the_doctor_refuses_what_a_scenario_does_not_have() {
    let folder = folder("own-doctor-refused");
    let file = scenario(&folder, false);
    for (arguments, says) in [
        (&["--setting", "service.ttl"][..], "`service.ttl` is no duration of this scenario"),
        (&["--property", "no-lost-update"], "does not promise `no-lost-update`"),
    ] {
        let output = own(&[&["doctor", "scenario", &file], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
    let stopped = own(&["doctor", "scenario", &file, "--max-states", "20", "--quiet"]);
    assert_eq!(stopped.status.code(), Some(3));
    assert!(stdout(&stopped).contains("? lease-exclusion: unknown: the search was stopped by --max-states 20"));
}

/// Durations are found by what doubles on a finer clock, also where they are 0; numbers that are none are left alone.
#[test]
fn a_scenario_of_the_catalogue_has_boundaries_in_its_durations() {
    let asked = ["doctor", "scenario", "b01-pause-bounded", "--property", "mutual-exclusion", "--json", "--quiet"];
    let line = &json(&fencepost(&asked))[0];
    let boundaries = line["boundaries"].as_array().expect("a list");
    let delay = boundaries.iter().find(|boundary| boundary["setting"] == "service.lock_delay").expect("it is changed");
    assert_eq!((&delay["direction"], &delay["same_to"], &delay["other_from"]), (&"down".into(), &1.into(), &0.into()));
    assert_eq!(delay["other"], "broken");
    let names: std::collections::BTreeSet<&str> =
        boundaries.iter().filter_map(|boundary| boundary["setting"].as_str()).collect();
    assert!(names.contains("service.ttl") && !names.iter().any(|name| name.starts_with("clocks.")), "{names:?}");
}
