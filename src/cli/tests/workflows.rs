//! The page about GitHub Actions: its commands run as they stand there.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::{fencepost, folder, stderr, stdout, text_of};

#[test]
fn the_commands_of_the_page_about_github_actions_succeed() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reports/docs/github-actions.md");
    let page = fs::read_to_string(page).expect("the page");
    let folder = folder("workflow");
    let ledger = text_of("b01-no-fencing").replacen("name = \"b01-no-fencing\"", "name = \"ledger\"", 1);
    fs::create_dir_all(folder.join("locks")).expect("writable");
    for file in ["locks/ledger.toml", "before.toml"] {
        fs::write(folder.join(file), &ledger).expect("writable");
    }
    let [file, out] = ["before.toml", "."].map(|name| folder.join(name).display().to_string());
    assert_eq!(fencepost(&["check", &file, "--out", &out, "--quiet"]).status.code(), Some(0));
    let trace = "ledger--no-lost-update.jsonl";
    fs::rename(folder.join("traces").join(trace), folder.join(trace)).expect("it was written");
    let program = Path::new(env!("CARGO_BIN_EXE_fencepost")).parent().expect("a folder");
    let path: OsString = env::join_paths(
        [program.to_owned()].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())),
    )
    .expect("a path");
    let is_command = |line: &&str| line.starts_with("fencepost ") && !line.starts_with("fencepost =");
    let commands = page.lines().map(str::trim).filter(is_command);
    let mut names = Vec::new();
    for command in commands {
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(&folder)
            .env("PATH", &path)
            .output()
            .expect("there is a shell");
        assert!(output.status.success(), "{command}: {}{}", stdout(&output), stderr(&output));
        names.push(command.split(' ').nth(1).expect("a command"));
    }
    assert_eq!(names, ["replay", "replay", "regress", "check", "diff"]);
    for file in ["run.svg", "out/verdicts.md", "out/verdicts.xml", "out/report.html"] {
        assert!(folder.join(file).exists(), "{file}");
    }
}
