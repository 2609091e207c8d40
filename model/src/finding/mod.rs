//! The results of an exploration, as plain data: verdicts, certificates, stories. Reports read nothing else.

mod measurement;
mod study;

use serde::{Deserialize, Serialize};

pub use crate::action_kind::ActionKind;

pub use crate::assumption::{Assumption, Class as AssumptionClass};
pub use crate::held::Held;
pub use crate::properties::{Level, Property, Violation};
pub use crate::scenario::{Expect, Suite};
use crate::time::Ticks;
use crate::units::Duration;
pub use measurement::Measurement;
pub use study::{Extreme, Point, Sample, Search, Searched, Split, Stage, Study};

/// One promise of one scenario, explored.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[must_use]
pub struct Finding {
    /// The scenario's name.
    pub scenario: String,
    /// Its system.
    pub system: String,
    /// The number of the hazard that the scenario shows.
    pub hazard: Option<String>,
    /// The hazard's variant.
    pub variant: String,
    /// The description of the scenario, one sentence.
    pub about: String,
    /// The property that was promised.
    pub property: Property,
    /// The bound of the promise, in ticks.
    pub bound: Option<i64>,
    /// The length of a tick, where the durations of the scenario have units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick: Option<Duration>,
    /// The expected verdict.
    pub expect: Expect,
    /// The verdict.
    pub verdict: Verdict,
    /// Distinct states seen.
    pub states: u64,
    /// Transitions generated.
    pub transitions: u64,
    /// The number of levels of the breadth-first search. The initial state is level 1.
    pub depth: u64,
    /// The assumptions of the verdict.
    pub assumptions: Vec<Assumption>,
    /// The explorer that gave the verdict.
    pub engine: String,
    /// Wall-clock time. It is the only field that may differ between two runs.
    pub microseconds: u64,
    /// Where the trace was written, if there is one.
    pub trace: Option<String>,
}

/// The parts of a proof besides the counts and the assumptions of its finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Certificate {
    /// The goals that were reached.
    pub goals: Vec<String>,
    /// The kinds of action that no execution took.
    pub never_taken: Vec<String>,
    /// The reductions that the search used.
    pub reductions: Vec<String>,
    /// The number of bits of a fingerprint: two states with the same fingerprint count as one. None: states were compared in full.
    pub fingerprint_bits: Option<u8>,
}

/// The verdict on a promise.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The state space was exhausted, and every goal was reached.
    Proven(Certificate),
    /// An execution violates the promise. This is a shortest one, unless it says otherwise.
    Violated(Box<Story>),
    /// No violation was found, but the search stopped early.
    Bounded {
        /// The limit that stopped it.
        by: String,
    },
    /// The state space was exhausted, but a goal was not reached.
    Vacuous {
        /// The goals that were not reached.
        missing: Vec<String>,
    },
}

impl Verdict {
    /// The verdict as one word.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Proven(_) => "proven",
            Verdict::Violated(_) => "violated",
            Verdict::Bounded { .. } => "bounded",
            Verdict::Vacuous { .. } => "vacuous",
        }
    }

    /// The certificate, if it is proven.
    pub fn certificate(&self) -> Option<&Certificate> {
        match self {
            Verdict::Proven(certificate) => Some(certificate),
            _ => None,
        }
    }

    /// The story, if it is violated.
    pub fn story(&self) -> Option<&Story> {
        match self {
            Verdict::Violated(story) => Some(story),
            _ => None,
        }
    }
}

impl Finding {
    /// The bound of the promise, with its unit if there is one; else in ticks.
    pub fn within(&self) -> Option<String> {
        Some(Ticks::new(self.bound?).told(self.tick))
    }

    /// Whether the verdict is the expected one.
    pub fn is_as_expected(&self) -> bool {
        matches!(
            (self.expect, &self.verdict),
            (Expect::Proven, Verdict::Proven(_)) | (Expect::Violated, Verdict::Violated(_))
        )
    }

    /// Whether the search could not decide the promise.
    pub fn is_undecided(&self) -> bool {
        matches!(self.verdict, Verdict::Bounded { .. } | Verdict::Vacuous { .. })
    }
}

/// An execution as a story for people.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Story {
    /// What the clients contend for.
    #[serde(default)]
    pub held: Held,
    /// The participants, from left to right.
    pub lanes: Vec<String>,
    /// What every execution of the scenario begins with, before the first step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub begins_after: Vec<String>,
    /// The steps, in order.
    pub steps: Vec<StoryStep>,
    /// The messages.
    pub arrows: Vec<Arrow>,
    /// The length of a tick, where the durations of the scenario have units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick: Option<Duration>,
    /// For an endless execution: the index of the first step of the cycle. It is the number of steps if the execution
    /// ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats_from: Option<usize>,
    /// Whether a shorter execution may violate the promise, too: none that leaves out a step of this one does.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_not_known_shortest: bool,
}

impl Story {
    /// An instant of the story, with its unit if there is one.
    ///
    /// ```
    /// use fencepost_model::finding::Story;
    ///
    /// let mut story = Story::default();
    /// assert_eq!(story.instant(3), "3");
    /// story.tick = "500ms".parse().ok();
    /// assert_eq!(story.instant(3), "1.5s");
    /// ```
    pub fn instant(&self, at: i64) -> String {
        self.tick.and_then(|tick| tick.times(at)).map_or_else(|| at.to_string(), |at| at.to_string())
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

/// One step of a story.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct StoryStep {
    /// True time after the step, in ticks.
    pub at: i64,
    /// The action, as a sentence.
    pub label: String,
    /// The kind of action; none if several steps were folded into one.
    pub kind: Option<ActionKind>,
    /// The events of the step, as sentences.
    pub facts: Vec<String>,
    /// The lane of the step; none for time and the like.
    pub lane: Option<usize>,
    /// The numbers of the clients that have the lock by record after the step.
    pub owners: Vec<u16>,
    /// The numbers of the clients that believe to be inside after the step.
    pub inside: Vec<u16>,
    /// The token on record after the step.
    pub token: u32,
    /// The lanes that are down after the step.
    pub down: Vec<usize>,
    /// The lanes that are paused after the step.
    pub paused: Vec<usize>,
    /// The promises that this step violates.
    #[serde(default, alias = "breaches")]
    pub violations: Vec<Violation>,
}

/// A message of a story.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Arrow {
    /// The sending lane.
    pub from: usize,
    /// The receiving lane.
    pub to: usize,
    /// The content of the message.
    pub text: String,
    /// The content of the request that the message answers; none if it is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
    /// The index of the step that sent it.
    pub sent: usize,
    /// The index of the step at which it arrived or was lost; none if it is still in flight at the end.
    pub ended: Option<usize>,
    /// Whether the message was lost.
    pub lost: bool,
}
