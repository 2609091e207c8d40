//! Verdicts as JUnit XML, which build servers show: a suite for each scenario, a case for each promise.

use std::fmt::Write;

use fencepost_model::finding::{Finding, Verdict};

use crate::escape::escape;
use crate::matrix::rows;
use crate::timeline::timeline;

/// The maximum number of steps of a story.
const STEPS: usize = 60;

/// The verdicts as XML. What was not expected has failed, what could not be decided is an error.
pub fn junit(findings: &[Finding]) -> String {
    let count = |is_it: &dyn Fn(&Finding) -> bool, of: &[Finding]| of.iter().filter(|finding| is_it(finding)).count();
    let is_error = |finding: &Finding| finding.is_undecided();
    let is_failure = |finding: &Finding| !finding.is_undecided() && !finding.is_as_expected();
    let seconds = |of: &[Finding]| of.iter().map(|finding| finding.microseconds).sum::<u64>() as f64 / 1e6;
    let counts = |of: &[Finding]| {
        format!(
            "tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3}\"",
            of.len(),
            count(&is_failure, of),
            count(&is_error, of),
            seconds(of)
        )
    };
    let mut xml =
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"fencepost\" {}>\n", counts(findings));
    for row in rows(findings) {
        let scenario = escape(&row[0].scenario);
        let _ = writeln!(xml, "  <testsuite name=\"{scenario}\" {}>", counts(row));
        for finding in row {
            let _ = write!(
                xml,
                "    <testcase classname=\"{scenario}\" name=\"{}\" time=\"{:.3}\"",
                finding.property,
                finding.microseconds as f64 / 1e6
            );
            match problem(finding) {
                None => xml += "/>\n",
                Some((kind, message, text)) => {
                    let _ = writeln!(
                        xml,
                        ">\n      <{kind} message=\"{}\">{}</{kind}>\n    </testcase>",
                        escape(&message),
                        escape(&printable(&text))
                    );
                }
            }
        }
        xml += "  </testsuite>\n";
    }
    xml + "</testsuites>\n"
}

/// What is wrong with a verdict: its kind, in short, and in full.
fn problem(finding: &Finding) -> Option<(&'static str, String, String)> {
    if finding.is_as_expected() {
        return None;
    }
    let kind = if finding.is_undecided() { "error" } else { "failure" };
    let message = format!("{}, expected: {}", finding.verdict.word(), finding.expect);
    let text = match &finding.verdict {
        Verdict::Proven(_) => format!("{} states searched", finding.states),
        Verdict::Violated(story) => timeline(story, STEPS, None),
        Verdict::Bounded { by } => format!("cut by {by}"),
        Verdict::Vacuous { missing } => format!("never reached: {}", missing.join(", ")),
    };
    Some((kind, message, text))
}

/// Without what XML cannot hold.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || *c == '\n' || *c == '\t').collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::findings;
    use super::*;

    #[test]
    fn an_unexpected_verdict_fails_and_an_undecided_one_is_an_error() {
        let xml = junit(&findings());
        assert!(
            xml.contains("<testsuites name=\"fencepost\" tests=\"4\" failures=\"1\" errors=\"2\" time=\"6.000\">"),
            "{xml}"
        );
        assert!(xml.contains("<failure message=\"violated, expected: proven\">"), "{xml}");
        assert!(xml.contains("it &lt;arrives&gt;") && !xml.contains("<arrives>"), "{xml}");
        assert!(xml.contains("<error message=\"vacuous, expected: proven\">never reached: expired</error>"), "{xml}");
        assert!(xml.contains("<testcase classname=\"scenario-1\" name=\"mutual-exclusion\" time=\"1.500\"/>"), "{xml}");
    }
}
