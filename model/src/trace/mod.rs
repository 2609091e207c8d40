//! A run as a list of actions. Failing seed, counterexample and hand-written script are the same thing: each can be
//! replayed, and told as a story. A trace carries its scenario, so that a file is enough to reproduce a run.

mod digest;
mod encoding;
mod file;
mod realign;
mod replay;
mod script;
mod shrink;
mod story;
mod wait;

use serde::{Deserialize, Serialize};

pub use digest::Digest;
pub use file::{Replayed, TraceError, system_of_trace};
pub use realign::{Realigned, realign};
pub use replay::{Recorder, ReplayError, replay};
pub use script::{ScriptError, perform, script};
pub use shrink::{ShrinkError, shrink};
pub use story::tell;
pub use wait::{Patience, Wait, complaint};

use crate::finding::{Property, Violation};
use crate::scenario::Scenario;
use crate::service::Service;
use crate::time::Instant;
use crate::world::Action;

/// The version of the file format that is written.
pub const SCHEMA: u32 = 2;

/// The oldest version that is read. Digests of version 1 were made of words: neither they nor labels and facts are compared.
pub const SCHEMA_OLDEST: u32 = 1;

/// A run with where it came from.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace<P: Service> {
    /// Where it came from.
    pub header: Header<P>,
    /// What happened.
    pub steps: Vec<TraceStep<P>>,
}

/// The first line of a trace file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Header<P: Service> {
    /// The version of the format.
    pub fencepost_trace: u32,
    /// Which protocol.
    pub system: String,
    /// Who found the run, as words.
    pub origin: String,
    /// The seed, if a simulator found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The digest of the run, in hexadecimal.
    pub digest: String,
    /// For an endless run: what is repeated, and what is broken by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasso: Option<Lasso>,
    /// Who waited too long after the last fault.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<Wait>,
    /// The scenario, whole: a file needs nothing else.
    pub scenario: Scenario<P>,
}

impl<P: Service> Header<P> {
    /// Whether this promise is broken by how the run goes on, and not by a single step.
    pub fn is_about_the_end(&self, property: Property) -> bool {
        self.lasso.as_ref().is_some_and(|lasso| lasso.property == property)
            || self.waits.iter().any(|wait| wait.property == property)
    }
}

/// How a run goes on for ever: its last steps happen again and again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lasso {
    /// How many steps come before those that are repeated. If that is all of them, nothing can happen any more.
    pub from: usize,
    /// The promise that is never kept.
    pub property: Property,
    /// How, as a sentence.
    pub message: String,
}

/// One line of a trace file: one step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct TraceStep<P: Service> {
    /// Its number, from 1.
    pub step: usize,
    /// True time after it.
    pub at: Instant,
    /// The action's label: what a person reads.
    pub label: String,
    /// What became true, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
    /// Promises that broke.
    #[serde(default, skip_serializing_if = "Vec::is_empty", alias = "breaches")]
    pub violations: Vec<Violation>,
    /// The action: what a program replays.
    pub action: Action<P>,
}
