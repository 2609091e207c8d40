//! The page about an incident: its program is the one that made the logs, and its answers are those of the command.

use crate::program::{fencepost, stderr, stdout};

const PAGE: &str = include_str!("../../../reports/docs/incident.md");
const PROGRAM: &str = include_str!("../../conform/recorded/workers.py");

/// The text between the first line that begins a block of this kind with these words, and its end.
fn block(begin: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(begin).expect("a block");
    rest.split_once("\n```").expect("its end").0
}

fn answer(log: &str) -> (Option<i32>, String) {
    let file = format!("{}/../conform/recorded/{log}", env!("CARGO_MANIFEST_DIR"));
    let output = fencepost(&["conform", "--recorded", &file, "--clients", "--protects", "data", "--quiet"]);
    assert!(stderr(&output).is_empty(), "{}", stderr(&output));
    (output.status.code(), stdout(&output))
}

#[test]
fn the_incident_on_the_page_is_judged_as_the_page_says() {
    assert_eq!(block("```python\n"), PROGRAM.trim_end());
    let (code, printed) = answer("two-workers.jsonl");
    assert_eq!(code, Some(1));
    let (begin, end) = block("```text\n55 answers").split_once("\n…\n").expect("a part is left out");
    assert!(printed.starts_with(&format!("55 answers{begin}")), "{printed}");
    assert!(printed.trim_end().ends_with(end), "{printed}");
    let (code, printed) = answer("two-workers-that-renew.jsonl");
    assert_eq!((code, printed.trim_end()), (Some(0), &*format!("134 answers{}", block("```text\n134 answers"))));
}
