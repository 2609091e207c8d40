//! What an exploration established, as plain data: verdicts, certificates, told traces. Reports read nothing else.

mod measurement;
mod study;

use serde::{Deserialize, Serialize};

pub use crate::action_kind::ActionKind;

pub use crate::assumption::{Assumption, Class as AssumptionClass};
pub use crate::properties::{Level, Property, Violation};
pub use crate::scenario::{Expect, Suite};
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
    /// The hazard it shows.
    pub hazard: Option<String>,
    /// The hazard's variant.
    pub variant: String,
    /// The scenario in one sentence.
    pub about: String,
    /// What was promised.
    pub property: Property,
    /// The duration in the promise, in ticks.
    pub bound: Option<i64>,
    /// The verdict that was expected.
    pub expect: Expect,
    /// The verdict.
    pub verdict: Verdict,
    /// Distinct states seen.
    pub states: u64,
    /// Transitions generated.
    pub transitions: u64,
    /// Levels of the breadth-first search, the initial state being level 1.
    pub depth: u64,
    /// What the verdict rests on.
    pub assumptions: Vec<Assumption>,
    /// Which explorer said so.
    pub engine: String,
    /// Wall-clock time; the one thing that may differ between two runs.
    pub microseconds: u64,
    /// Where the trace was written, if there is one.
    pub trace: Option<String>,
}

/// What a proof consists of, besides the counts and the assumptions of its finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Certificate {
    /// What was asked for, and reached by some run.
    pub goals: Vec<String>,
    /// Kinds of action that no run met.
    pub never_taken: Vec<String>,
    /// Why fewer states than worlds were searched.
    pub reductions: Vec<String>,
    /// How many bits a state was remembered by: two states that share them count as one.
    pub fingerprint_bits: u8,
}

/// What can be said about a promise.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole space was searched, and the promise was put to the test.
    Proven(Certificate),
    /// A run breaks it; this is a shortest one.
    Violated(Box<Story>),
    /// Not found broken, and the search was cut.
    Bounded {
        /// By what.
        by: String,
    },
    /// Searched to the end, but never put to the test.
    Vacuous {
        /// What was never reached.
        missing: Vec<String>,
    },
}

impl Verdict {
    /// The word for it.
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
    /// Whether the verdict is the expected one.
    pub fn is_as_expected(&self) -> bool {
        matches!(
            (self.expect, &self.verdict),
            (Expect::Proven, Verdict::Proven(_)) | (Expect::Violated, Verdict::Violated(_))
        )
    }

    /// Whether the search could not decide.
    pub fn is_undecided(&self) -> bool {
        matches!(self.verdict, Verdict::Bounded { .. } | Verdict::Vacuous { .. })
    }
}

/// A run, told for people.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Story {
    /// The participants, from left to right.
    pub lanes: Vec<String>,
    /// What happened, in order.
    pub steps: Vec<StoryStep>,
    /// The messages.
    pub arrows: Vec<Arrow>,
    /// For an endless run: the index of the first step that is repeated for ever; the number of steps, if the run ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats_from: Option<usize>,
}

/// One step of a story.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct StoryStep {
    /// True time when it happened, in ticks.
    pub at: i64,
    /// What happened, as a sentence.
    pub label: String,
    /// The kind of action; none: several steps are told as one.
    pub kind: Option<ActionKind>,
    /// What became true, as sentences.
    pub facts: Vec<String>,
    /// In which lane it happened; none for time and the like.
    pub lane: Option<usize>,
    /// Who has the lock by record, afterwards.
    pub owners: Vec<u16>,
    /// Who believes to be inside, afterwards.
    pub inside: Vec<u16>,
    /// The token on record, afterwards.
    pub token: u32,
    /// Lanes that are down, afterwards.
    pub down: Vec<usize>,
    /// Lanes that are paused, afterwards.
    pub paused: Vec<usize>,
    /// Promises that broke here.
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
    /// What it says.
    pub text: String,
    /// The step that sent it, as an index.
    pub sent: usize,
    /// The step at which it arrived or got lost, as an index; none if it is still under way at the end.
    pub ended: Option<usize>,
    /// Whether it got lost.
    pub lost: bool,
}
