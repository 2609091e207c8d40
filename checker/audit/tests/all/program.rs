//! The program `fencepost-audit`: what it prints, and its exit codes.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::{certificate, scenario};

/// Its exit code, what it prints, and its message.
fn audit(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fencepost-audit")).args(arguments).output().expect("it is built");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A file of this test.
fn file(name: &str, text: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("audit-program");
    fs::create_dir_all(&folder).expect("writable");
    fs::write(folder.join(name), text).expect("writable");
    folder.join(name).display().to_string()
}

#[test]
fn a_certificate_is_audited_by_a_program_of_its_own() {
    let text = certificate("lease-late-write-fenced");
    let fenced = file("fenced.jsonl", &text);
    let same = file("same.toml", &scenario("lease-late-write-fenced").to_toml());
    for arguments in [&[&fenced[..]][..], &[&fenced, &same]] {
        let (code, shown, message) = audit(arguments);
        assert_eq!(code, Some(0), "{message}");
        assert!(shown.starts_with("lease-late-write-fenced: certified: mutual-exclusion, no-lost-update\n"), "{shown}");
        assert!(shown.contains("not checked, but believed:"), "{shown}");
    }
    for (name, says) in [
        ("lease-just-enough", "refused: it is about the scenario `lease-late-write-fenced`"),
        ("b03-fencing", "refused: it is about `lease-late-write-fenced`, and the other file is of another service"),
    ] {
        let other = file(&format!("{name}.toml"), &scenario(name).to_toml());
        let (code, shown, message) = audit(&[&fenced, &other]);
        assert_eq!((code, &shown[..]), (Some(1), ""), "{message}");
        assert!(message.contains(says), "{message}");
    }
    let (code, shown, message) = audit(&[&fenced, &same, "--from", "100"]);
    assert_eq!(code, Some(0), "{message}");
    assert!(
        shown.contains("believed:\n    an earlier run: it has checked the first 100 worlds of this file"),
        "{shown}"
    );
    for (from, says) in [
        ("478", "it has 478 worlds, and none behind the first 478"),
        ("all", "--from all: it needs a number of worlds"),
    ] {
        let (code, _, message) = audit(&[&fenced, "--from", from]);
        assert_eq!(code, Some(2), "{message}");
        assert!(message.contains(says), "{message}");
    }
    let damaged = file("damaged.jsonl", &text[..text.len() / 2]);
    let (code, _, message) = audit(&[&damaged]);
    assert_eq!(code, Some(2));
    assert!(message.contains("no certificate that this program can read: line "), "{message}");
}

#[test]
fn bad_usage_is_answered_with_the_usage() {
    for (arguments, code) in
        [(&[][..], 2), (&["a", "b", "c"], 2), (&["a", "--wrong"], 2), (&["a", "--from"], 2), (&["--help"], 0)]
    {
        let (is, shown, message) = audit(arguments);
        assert_eq!(is, Some(code), "{arguments:?}");
        assert!((shown + &message).contains("usage: fencepost-audit CERTIFICATE"), "{arguments:?}");
    }
    let (code, _, message) = audit(&["missing.jsonl"]);
    assert_eq!(code, Some(2));
    assert!(message.contains("missing.jsonl cannot be read"), "{message}");
}
