//! Completion scripts and manual pages.

use std::fs;
use std::process::Command;

use crate::program::{fencepost, folder, json, stderr, stdout};

/// The names of the commands, as the help lists them.
pub fn commands() -> Vec<String> {
    let help = stdout(&fencepost(&["--help"]));
    let listed = help.split_once("\nCommands:\n").expect("a list of commands").1.split("\n\n").next().expect("a part");
    let names = listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).filter(|name| name != "help").collect()
}

#[test]
fn every_shell_gets_a_script_that_knows_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = fencepost(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{shell}: {}", stderr(&output));
        let script = stdout(&output);
        for command in commands() {
            assert!(script.contains(&command), "{shell}: {command}");
        }
        assert!(script.contains("max-states"), "{shell} completes options");
    }
    for arguments in [&["completions"][..], &["completions", "tcsh"], &["completions", "bash", "--json"]] {
        assert_eq!(fencepost(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

/// What bash offers after these words.
#[cfg(unix)]
fn offered(script: &str, words: &[&str]) -> Vec<String> {
    let last = words.len() - 1;
    let (current, before) = (words[last], words[last - 1]);
    let line = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
    let ask = format!(
        ". '{script}'; COMP_WORDS=({line}); COMP_CWORD={last}; _fencepost fencepost '{current}' '{before}'; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let output = Command::new("bash").args(["--norc", "-c", &ask]).output().expect("there is bash");
    stdout(&output).lines().map(str::to_owned).collect()
}

#[cfg(unix)]
#[test]
fn bash_completes_commands_options_and_names_of_scenarios() {
    if Command::new("bash").arg("--version").output().is_err() {
        return;
    }
    let script = folder("completions").join("fencepost.bash");
    fs::write(&script, stdout(&fencepost(&["completions", "bash"]))).expect("writable");
    let script = script.to_str().expect("text");
    assert_eq!(offered(script, &["fencepost", "chec"]), ["check"]);
    assert_eq!(offered(script, &["fencepost", "check", "--max-st"]), ["--max-states"]);
    assert_eq!(offered(script, &["fencepost", "check", "b01-pause-e"]), ["b01-pause-equal"]);
    assert_eq!(offered(script, &["fencepost", "diff", "lease-j"]), ["lease-just-enough"]);
    assert_eq!(offered(script, &["fencepost", "check", "mine.to"]), [""], "then bash completes files");
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = folder("manual");
    let out = folder.to_str().expect("text");
    let output = fencepost(&["man", "--out", out, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = |name: &str| fs::read_to_string(folder.join(format!("{name}.1"))).unwrap_or_else(|_| panic!("{name}.1"));
    assert!(page("fencepost").starts_with(".ie") && page("fencepost").contains(".TH fencepost 1"));
    for command in commands() {
        let text = page(&format!("fencepost-{command}"));
        assert!(text.contains(".SH SYNOPSIS") && text.contains(&command), "{command}");
    }
    assert!(page("fencepost-diff").contains("Exit codes: 0 no promise is lost"));
    assert!(page("fencepost-serve-consul").contains("SYNOPSIS"), "commands below a command have pages as well");
    let lines = json(&output);
    assert_eq!(lines.len(), fs::read_dir(&folder).expect("it was made").count());
    assert!(lines.iter().all(|line| fs::exists(line["file"].as_str().expect("a file")).is_ok_and(|exists| exists)));
    let nowhere = fencepost(&["man"]);
    assert_eq!((nowhere.status.code(), stderr(&nowhere).contains("--out DIR")), (Some(2), true));
}
