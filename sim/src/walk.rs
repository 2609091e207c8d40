//! A run as it is taken: what happened so far, and what it broke.

use std::collections::BTreeSet;

use fencepost_model::finding::Measurement;
use fencepost_model::properties::Property;
use fencepost_model::service::Service;
use fencepost_model::time::Instant;
use fencepost_model::trace::{Digest, Wait};
use fencepost_model::world::Action;

/// A promise that broke, for the first time in the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The violated property.
    pub property: Property,
    /// At which step, from 1.
    pub step: u64,
    /// How, as a sentence.
    pub message: String,
}

/// A run before it is recorded.
pub struct Walk<P: Service> {
    /// What happened, if it was to be kept.
    pub actions: Vec<Action<P>>,
    /// How many actions.
    pub taken: u64,
    /// How many of them are more than time that passes.
    pub events: u64,
    /// When it ended.
    pub end: Instant,
    /// One number for all of it.
    pub digest: Digest,
    /// Whether it came to rest by itself.
    pub is_at_rest: bool,
    /// The first violation of each promise.
    pub violations: Vec<Violation>,
    /// Those of them that are about the end.
    pub waits: Vec<Wait>,
    /// Worlds in outline, if the run collects them.
    pub outlines: BTreeSet<u64>,
    /// What the run measured, if it was to.
    pub measurement: Option<Measurement>,
}

impl<P: Service> Walk<P> {
    /// After how many actions it is.
    pub(crate) fn place(&self) -> usize {
        usize::try_from(self.taken).expect("a run fits into memory")
    }

    /// Notes a violation of the last step, if it is the first of its promise; says whether it is.
    pub(crate) fn note(&mut self, property: Property, message: impl FnOnce() -> String) -> bool {
        let is_first = self.violations.iter().all(|violation| violation.property != property);
        if is_first {
            self.violations.push(Violation { property, step: self.taken, message: message() });
        }
        is_first
    }
}
