//! What can be said of a run.

use std::fmt;

use serde_json::{Value, json};

use super::{LeaseRun, Misuse};
use crate::clock::seconds;

/// A promise that a run has broken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The promise, as the checker calls it.
    pub property: &'static str,
    /// The key that it is about.
    pub key: String,
    /// When, in nanoseconds since the start.
    pub at: i64,
    /// The client and the violation, as a sentence.
    pub sentence: String,
    /// How it came to that, a line for each event.
    pub story: Vec<String>,
}

/// What can be said of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// Promises that it has broken.
    pub findings: Vec<Finding>,
    /// What clients have done that they should not.
    pub misuse: Vec<Misuse>,
    /// Why findings are inconclusive, if they are: the clock has jumped past an unannounced sleep.
    pub unannounced: Option<String>,
    /// Whether a client was ever inside, or ever held a lease.
    pub was_inside: bool,
    /// What the record says of leases, if the server has some.
    pub leases: Option<LeaseRun>,
    /// What it rests on.
    pub assumptions: Vec<String>,
    /// The rules of the plan, with how many requests have fitted each.
    pub faults: Vec<(String, u64)>,
}

impl Verdict {
    /// `violated`; `inconclusive`, if the clock has jumped past something; `vacuous`, if no client was ever inside; else `no-violation`.
    pub fn name(&self) -> &'static str {
        match (&self.unannounced, self.findings.is_empty(), self.was_inside) {
            (Some(_), ..) => "inconclusive",
            (None, false, _) => "violated",
            (None, true, false) => "vacuous",
            (None, true, true) => "no-violation",
        }
    }

    /// The same as JSON.
    pub fn json(&self) -> Value {
        let findings: Vec<Value> = self
            .findings
            .iter()
            .map(|found| {
                json!({
                    "property": found.property, "key": found.key, "at": seconds(found.at), "sentence": found.sentence,
                    "story": found.story,
                })
            })
            .collect();
        let misuse: Vec<Value> = self
            .misuse
            .iter()
            .map(|misuse| json!({"name": misuse.name, "at": seconds(misuse.at), "sentence": misuse.sentence}))
            .collect();
        let faults: Vec<Value> =
            self.faults.iter().map(|(rule, seen)| json!({"rule": rule, "requests": seen})).collect();
        json!({
            "verdict": self.name(), "findings": findings, "misuse": misuse, "inconclusive": self.unannounced,
            "assumptions": self.assumptions, "faults": faults, "leases": self.leases.as_ref().map(LeaseRun::json),
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{} of {} is violated: {}", finding.property, finding.key, finding.sentence)?;
            finding.story.iter().try_for_each(|line| writeln!(f, "{line}"))?;
        }
        self.misuse.iter().try_for_each(|misuse| writeln!(f, "{misuse}"))?;
        self.leases.iter().try_for_each(|leases| write!(f, "{leases}"))?;
        self.unannounced.iter().try_for_each(|why| writeln!(f, "inconclusive: {why}"))?;
        let faults = self.faults.iter().map(|(rule, seen)| format!("fault: {rule} ({seen} requests fitted)"));
        let rests = self.assumptions.iter().cloned().chain(faults);
        rests.into_iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        let known = match self.name() {
            "vacuous" => "vacuous: no client was ever inside",
            "no-violation" => "no violation in this run",
            name => name,
        };
        writeln!(f, "{known}")
    }
}
