//! Certificates on the command line: written where a proof is, and audited.

use std::fs;

use crate::program::{fencepost, folder, stderr, stdout};

#[test]
fn a_certificate_is_written_and_audited() {
    let folder = folder("certificates");
    let file = folder.join("fenced.jsonl").display().to_string();
    let written = fencepost(&["check", "lease-late-write-fenced", "--certificate", &file]);
    assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
    assert!(stdout(&written).contains("check it with: fencepost audit"), "{}", stdout(&written));
    for scenario in [None, Some("lease-late-write-fenced")] {
        let audited = fencepost(&[&["audit", &file][..], &scenario.into_iter().collect::<Vec<_>>()].concat());
        assert_eq!(audited.status.code(), Some(0), "{}", stderr(&audited));
        let text = stdout(&audited);
        assert!(text.starts_with("lease-late-write-fenced: certified: mutual-exclusion, no-lost-update\n"), "{text}");
        assert!(text.contains("not checked, but believed:"), "{text}");
    }
    let other = fencepost(&["audit", &file, "lease-just-enough"]);
    assert_eq!(other.status.code(), Some(1), "{}", stderr(&other));
    assert!(
        stdout(&other).contains("refused: it is about the scenario `lease-late-write-fenced`"),
        "{}",
        stdout(&other)
    );
    let text = fs::read_to_string(&file).expect("it was written");
    fs::write(&file, &text[..text.len() / 2]).expect("writable");
    let damaged = fencepost(&["audit", &file]);
    assert_eq!(damaged.status.code(), Some(2));
    assert!(stderr(&damaged).contains("no certificate that this program can read: line "), "{}", stderr(&damaged));
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
    ] {
        let output = fencepost(&[&["check", "--certificate", &file], arguments].concat());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{arguments:?}: {}", stderr(&output));
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 0, "{arguments:?}");
    }
}
