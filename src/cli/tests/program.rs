//! The program as a test starts it, and what it says.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fencepost::catalogue;

/// A folder of its own for one test, under Cargo's folder for such things.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder can be made");
    path
}

pub fn fencepost(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fencepost")).args(arguments).output().expect("the program starts")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

pub fn json(output: &Output) -> Vec<serde_json::Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).expect("a JSON object on each line")).collect()
}

pub fn text_of(scenario: &str) -> &'static str {
    catalogue::files().find(|(name, _)| *name == scenario).expect("it is in the catalogue").1
}

/// Writes a variant of a scenario of the catalogue and returns the file's name.
pub fn variant(folder: &Path, scenario: &str, from: &str, to: &str) -> String {
    let text = text_of(scenario);
    assert!(text.contains(from), "{scenario} has no `{from}`");
    let path = folder.join("scenario.toml");
    fs::write(&path, text.replacen(from, to, 1)).expect("a file can be written");
    path.display().to_string()
}
