//! Certificates on the command line: written where a proof is.

use std::fs;

use crate::program::{fencepost, folder, stderr, stdout};

#[test]
fn a_certificate_is_written() {
    let folder = folder("certificates");
    let file = folder.join("fenced.jsonl").display().to_string();
    let written = fencepost(&["check", "lease-late-write-fenced", "--certificate", &file]);
    assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
    assert!(stdout(&written).contains("check it with: fencepost-audit "), "{}", stdout(&written));
    let text = fs::read_to_string(&file).expect("it was written");
    assert!(text.starts_with("{\"fencepost_certificate\":2,"), "{}", text.lines().next().unwrap_or_default());
}

#[test]
fn without_a_proof_no_file_is_written() {
    let folder = folder("no-certificates");
    let file = folder.join("none.jsonl").display().to_string();
    for (arguments, code, says) in [
        (&["lease-duplicates"][..], 2, "none is proven"),
        (&["lease-just-enough", "--max-states", "100"], 3, "no certificate is written: `mutual-exclusion` is bounded"),
        (&["lease-just-enough", "lease-late-write"], 2, "a certificate is about one scenario"),
        (&["lease-late-write", "--partial-order"], 2, "--partial-order"),
        (&["lease-late-write", "--subsumption"], 2, "--subsumption"),
    ] {
        let output = fencepost(&[&["check", "--certificate", &file], arguments].concat());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{arguments:?}: {}", stderr(&output));
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 0, "{arguments:?}");
    }
    // Before a search is for nothing.
    let nowhere = folder.join("nowhere/none.jsonl").display().to_string();
    let output = fencepost(&["check", "lease-just-enough", "--certificate", &nowhere]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(2), String::new()), "{}", stderr(&output));
    assert!(stderr(&output).contains("none.jsonl cannot be written"), "{}", stderr(&output));
    let output = fencepost(&["check", "lease-just-enough", "--certificate", &folder.display().to_string()]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(2), String::new()), "{}", stderr(&output));
    // An older one is left as it is, and that is said.
    fs::write(&file, "older").expect("writable");
    let output = fencepost(&["check", "--certificate", &file, "lease-just-enough", "--max-states", "100"]);
    assert!(stderr(&output).contains("none.jsonl is of an earlier run"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "older");
}
