//! What a search found: the traces in their folder, the findings for people, and what all of them together come to.

use std::path::Path;

use fencepost::model::finding::Finding;
use fencepost::{AnyOutcome, explain};

use crate::exit::{CommandError, Exit};
use crate::output::{is_coloured, write_trace};
use crate::target::quoted;

/// Writes the trace, if it is wanted, and notes where.
pub fn keep(outcome: AnyOutcome, out: Option<&Path>) -> Result<Finding, CommandError> {
    let mut finding = outcome.finding;
    if let Some(trace) = outcome.trace {
        let name = format!("{}--{}", finding.scenario, finding.property);
        finding.trace = write_trace(out, &name, &trace.to_text())?.map(|path| path.display().to_string());
    }
    Ok(finding)
}

/// A finding for people: the verdict, the story, the assumptions, and the command that repeats the trace.
pub fn told(finding: &Finding) -> String {
    let mut text = explain(finding);
    if let Some(trace) = &finding.trace {
        text += &format!("replay it with: fencepost replay {}\n", quoted(trace));
    }
    if is_coloured() {
        text = text.replacen(finding.verdict.word(), &format!("\x1b[1m{}\x1b[0m", finding.verdict.word()), 1);
    }
    text + "\n"
}

/// What the findings together come to.
pub fn exit(findings: &[Finding]) -> Exit {
    let is_surprise = |finding: &Finding| !finding.is_as_expected() && !finding.is_undecided();
    if findings.iter().any(is_surprise) {
        Exit::Unexpected
    } else if findings.iter().any(Finding::is_undecided) {
        Exit::Undecided
    } else {
        Exit::AsExpected
    }
}
