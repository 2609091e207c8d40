//! A program of one's own with all commands: scenario files and traces name its recipes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::program::{fencepost, folder, json, stderr, stdout};

/// The example `own_recipe`, which Cargo builds beside the program.
fn own(arguments: &[&str]) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_fencepost"));
    let name = format!("own_recipe{}", std::env::consts::EXE_SUFFIX);
    let path: PathBuf = program.parent().expect("a folder").join("examples").join(name);
    Command::new(path).args(arguments).output().expect("the example starts")
}

/// A scenario of the lease whose clients run the recipe: a message is under way for up to a tick.
fn scenario(folder: &Path, counts_from_answer: bool) -> String {
    let head = format!(r#"{{"lease":2,"counts_from_answer":{counts_from_answer}}}"#);
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

[[program]]
name = "own-recipe"
package = "own"
head = '{head}'

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
    let simulated = own(&["simulate", &right, "--seed", "7", "--quiet", "--out", &out]);
    assert_eq!(simulated.status.code(), Some(0), "{}", stderr(&simulated));
}

#[test]
fn the_shipped_catalogue_is_listed_beside_ones_own_recipes() {
    let output = own(&["list", "b01-no-fencing", "--json"]);
    assert_eq!(json(&output)[0]["scenario"], "b01-no-fencing");
    assert_eq!(own(&["check", "nonsense"]).status.code(), Some(2));
}
