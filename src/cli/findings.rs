//! What a search found: the traces in their folder, and what all findings together come to.

use std::path::Path;

use fencepost::AnyOutcome;
use fencepost::model::finding::Finding;

use crate::exit::{CommandError, Exit};
use crate::output::write_trace;

/// Writes the trace, if it is wanted, and notes where.
pub fn keep(outcome: AnyOutcome, out: Option<&Path>) -> Result<Finding, CommandError> {
    let mut finding = outcome.finding;
    if let Some(trace) = outcome.trace {
        let name = format!("{}--{}", finding.scenario, finding.property);
        finding.trace = write_trace(out, &name, &trace.to_text())?.map(|path| path.display().to_string());
    }
    Ok(finding)
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
