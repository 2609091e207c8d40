//! An execution as a list of actions. A failing seed, a counterexample and a hand-written script are the same thing:
//! each can be replayed and shown as a story. A trace carries its scenario, so a file is enough to reproduce an
//! execution.

mod beginning;
mod digest;
mod encoding;
mod file;
mod realign;
mod replay;
mod script;
mod shrink;
mod story;
mod wait;
mod wording;

use serde::{Deserialize, Serialize};

pub use digest::Digest;
pub use file::{Replayed, TraceError, system_of_trace};
pub use realign::{Realigned, realign};
pub use replay::{Recorder, ReplayError, replay};
pub use script::{ScriptError, perform, script};
pub use shrink::{ShrinkError, leave_out_steps, shrink};
pub use story::tell;
pub use wait::{Patience, Wait, complaint};

use crate::finding::{Property, Violation};
use crate::scenario::Scenario;
use crate::service::Service;
use crate::time::Instant;
use crate::world::Action;

/// The version of the file format that this program writes.
pub const SCHEMA: u32 = 2;

/// The oldest version that this program reads. Digests of version 1 depended on sentences: digests, labels and facts of
/// that version are not compared.
pub const SCHEMA_OLDEST: u32 = 1;

/// An execution with its origin.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace<P: Service> {
    /// The header.
    pub header: Header<P>,
    /// The steps.
    pub steps: Vec<TraceStep<P>>,
}

/// The origin of an execution, and its scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct Header<P: Service> {
    /// The version of the format.
    pub fencepost_trace: u32,
    /// The system.
    pub system: String,
    /// The explorer that found the execution, in words.
    pub origin: String,
    /// The seed, if a simulator found it.
    pub seed: Option<u64>,
    /// The digest of the run, in hexadecimal.
    pub digest: String,
    /// For an endless execution: its cycle, and the property that the cycle violates.
    pub lasso: Option<Lasso>,
    /// The waits of clients that lasted too long after the last fault.
    pub waits: Vec<Wait>,
    /// The complete scenario: replay needs no other file.
    pub scenario: Scenario<P>,
}

impl<P: Service> Header<P> {
    /// Whether the continuation of the execution violates this promise, and not a single step.
    pub fn is_about_the_end(&self, property: Property) -> bool {
        self.lasso.as_ref().is_some_and(|lasso| lasso.property == property)
            || self.waits.iter().any(|wait| wait.property == property)
    }
}

/// The lasso of an endless execution: its last steps repeat for ever.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lasso {
    /// The number of steps before the cycle. If it is the number of all steps, the execution ends in a state without
    /// successors.
    pub from: usize,
    /// The violated promise of progress.
    pub property: Property,
    /// The violation as a sentence.
    pub message: String,
}

/// One step: one line of a trace file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct TraceStep<P: Service> {
    /// The number of the step, from 1.
    pub step: usize,
    /// True time after the step.
    pub at: Instant,
    /// The action's label, for people.
    pub label: String,
    /// The facts of the step, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
    /// The violated promises.
    #[serde(default, skip_serializing_if = "Vec::is_empty", alias = "breaches")]
    pub violations: Vec<Violation>,
    /// The action, for replay.
    pub action: Action<P>,
}
