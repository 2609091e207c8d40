//! Verdicts as a table in Markdown, for a summary on a build server or in a review.

use std::fmt::Write;

use fencepost_model::finding::{Finding, Verdict};

/// The verdicts as a table, those that were not expected first.
pub fn markdown(findings: &[Finding]) -> String {
    let expected = findings.iter().filter(|finding| finding.is_as_expected()).count();
    let mut text = format!("{expected} of {} verdicts are as expected.\n\n", findings.len());
    text += "| | scenario | promise | verdict | states | |\n|---|---|---|---|---:|---|\n";
    let (as_expected, others): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|finding| finding.is_as_expected());
    for finding in others.into_iter().chain(as_expected) {
        let sign = match (finding.is_as_expected(), finding.is_undecided()) {
            (true, _) => "✓",
            (false, true) => "…",
            (false, false) => "✗",
        };
        let more = match &finding.verdict {
            Verdict::Proven(_) => String::new(),
            Verdict::Violated(story) if story.is_not_known_shortest => {
                format!("in {} steps, not known shortest", story.steps.len())
            }
            Verdict::Violated(story) => format!("in {} steps", story.steps.len()),
            Verdict::Bounded { by } => format!("cut by {by}"),
            Verdict::Vacuous { missing } => format!("never reached: {}", missing.join(", ")),
        };
        let _ = writeln!(
            text,
            "| {sign} | {} | {} | {} | {} | {} |",
            cell(&finding.scenario),
            finding.property,
            finding.verdict.word(),
            finding.states,
            cell(&more)
        );
    }
    text
}

/// A text that stays in its cell, and is no HTML.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::super::tests::findings;
    use super::*;

    #[test]
    fn unexpected_verdicts_come_first() {
        let text = markdown(&findings());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "1 of 4 verdicts are as expected.");
        assert_eq!(lines[4], "| ✗ | scenario-0 | mutual-exclusion | violated | 10 | in 3 steps |");
        assert_eq!(
            lines[5],
            "| … | scenario-2 | mutual-exclusion | bounded | 10 | cut by a limit \\| of &lt;memory> |"
        );
        assert_eq!(lines[7], "| ✓ | scenario-1 | mutual-exclusion | proven | 10 |  |");
    }
}
