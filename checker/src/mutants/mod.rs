//! Mutants: each fault built into the sources on purpose must be noticed, by a verdict that changes, by a law that fails, or
//! by the two engines, which disagree. A count, a depth or a length that changes is not enough, nor is a panic.
//!
//! ```text
//! baseline   what a scenario comes to while nothing is wrong
//! subject    a scenario of any service, as mutants are tried on it
//! judge      what notices a mutant: the order of questions, and where they end
//! ```

mod baseline;
mod judge;
mod subject;

use std::fmt;

use fencepost_model::properties::Property;

pub use baseline::Baseline;
pub use judge::{Check, Subjects, noticed, noticed_again};
pub use subject::{Subject, Variant};

use crate::laws::Law;

/// What notices a mutant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Noticed {
    /// A promise has another verdict.
    Verdict {
        /// In this scenario.
        scenario: String,
        /// The promise.
        property: Property,
        /// The verdict that it has now.
        verdict: &'static str,
    },
    /// A law fails.
    Law {
        /// In this scenario.
        scenario: String,
        /// The law.
        law: Law,
    },
    /// The engines have different verdicts.
    Engines {
        /// In this scenario.
        scenario: String,
        /// About this promise.
        property: Property,
    },
    /// Only a count, a depth or a length changes: that is not enough.
    Count {
        /// In this scenario.
        scenario: String,
        /// For this promise.
        property: Property,
    },
    /// Something panics: that says nothing.
    Panic {
        /// In this scenario.
        scenario: String,
    },
    /// Nothing changes.
    Nothing,
}

impl Noticed {
    /// Whether a verdict, a law or a comparison of the engines notices the mutant.
    pub fn is_enough(&self) -> bool {
        matches!(self, Noticed::Verdict { .. } | Noticed::Law { .. } | Noticed::Engines { .. })
    }

    /// The scenario that shows it.
    pub fn scenario(&self) -> Option<&str> {
        match self {
            Noticed::Verdict { scenario, .. }
            | Noticed::Law { scenario, .. }
            | Noticed::Engines { scenario, .. }
            | Noticed::Count { scenario, .. }
            | Noticed::Panic { scenario } => Some(scenario),
            Noticed::Nothing => None,
        }
    }
}

impl fmt::Display for Noticed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Noticed::Verdict { scenario, property, verdict } => write!(f, "{scenario} {property} is {verdict}"),
            Noticed::Law { scenario, law } => write!(f, "law {} fails on {scenario}", law.name()),
            Noticed::Engines { scenario, property } => write!(f, "the engines disagree about {scenario} {property}"),
            Noticed::Count { scenario, property } => write!(f, "only counts of {scenario} {property}"),
            Noticed::Panic { scenario } => write!(f, "only a panic in {scenario}"),
            Noticed::Nothing => f.write_str("nothing"),
        }
    }
}
