//! Trace files: JSON lines, the header first, then a line for each step.

use std::fmt;

use serde::Deserialize;

use super::{Header, Line, Mismatch, SCHEMA, SCHEMA_OLDEST, Trace, Unshrinkable, replay, shrink};
use crate::assumption::Assumption;
use crate::catalogue::AnyScenario;
use crate::finding::{Property, Story};
use crate::protocol::Protocol;
use crate::scenario::outdated_in_trace;
use crate::world::Action;

/// Why a trace file cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadTrace(pub String);

impl fmt::Display for BadTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadTrace {}

impl From<Mismatch> for BadTrace {
    fn from(mismatch: Mismatch) -> Self {
        BadTrace(mismatch.to_string())
    }
}

impl<P: Protocol> Trace<P> {
    /// The file's text.
    pub fn to_text(&self) -> String {
        let line = |json: serde_json::Result<String>| json.expect("plain data can be written") + "\n";
        let mut text = line(serde_json::to_string(&self.header));
        for step in &self.steps {
            text += &line(serde_json::to_string(step));
        }
        text
    }

    /// Reads a file's text. It is not replayed yet.
    ///
    /// # Errors
    /// Names the first line, and the step on it, that cannot be read.
    pub fn from_text(text: &str) -> Result<Self, BadTrace> {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let mut header: Header<P> =
            serde_json::from_str(first).map_err(|error| BadTrace(format!("line 1, the header: {error}")))?;
        header.scenario.settle();
        let step = |(place, line): (usize, &str)| {
            serde_json::from_str(line)
                .map_err(|error| BadTrace(format!("line {}, step {}: {error}", place + 2, place + 1)))
        };
        let steps = rest.lines().enumerate().map(step).collect::<Result<Vec<Line<P>>, _>>()?;
        Ok(Trace { header, steps })
    }
}

/// What every header has, whatever its protocol.
#[derive(Deserialize)]
struct Peek {
    fencepost_trace: u32,
    system: String,
}

macro_rules! any {
    ($($variant:ident => $protocol:ty,)*) => {
        /// A trace of some protocol.
        #[derive(Clone, PartialEq, Debug)]
        #[allow(clippy::large_enum_variant, reason = "there are few of them, and they stay where they are")]
        pub enum AnyTrace {
            $(#[allow(missing_docs, reason = "named like the protocol")] $variant(Trace<$protocol>),)*
        }

        impl AnyTrace {
            /// Reads a trace file's text.
            ///
            /// # Errors
            /// Names the line and step that cannot be read.
            pub fn from_text(text: &str) -> Result<Self, BadTrace> {
                let first = text.lines().next().unwrap_or_default();
                let peek: Peek = serde_json::from_str(first)
                    .map_err(|error| BadTrace(format!("line 1 is not the header of a fencepost trace: {error}")))?;
                if !(SCHEMA_OLDEST..=SCHEMA).contains(&peek.fencepost_trace) {
                    return Err(BadTrace(format!(
                        "line 1: the trace has format {}, this program reads {SCHEMA_OLDEST} to {SCHEMA}",
                        peek.fencepost_trace
                    )));
                }
                $(if <$protocol as Protocol>::SYSTEMS.contains(&peek.system.as_str()) {
                    return Trace::from_text(text).map(AnyTrace::$variant);
                })*
                Err(BadTrace(format!("line 1: there is no system `{}`", peek.system)))
            }

            /// Names in a trace's header that are still read and have new names by now.
            pub fn outdated(text: &str) -> Vec<String> {
                let first = text.lines().next().unwrap_or_default();
                let Ok(header) = serde_json::from_str::<serde_json::Value>(first) else { return Vec::new() };
                $(if header["system"].as_str().is_some_and(|system| <$protocol as Protocol>::SYSTEMS.contains(&system)) {
                    return outdated_in_trace::<$protocol>(&header);
                })*
                Vec::new()
            }

            /// The name of the scenario that it is a run of.
            pub fn scenario(&self) -> &str {
                match self { $(AnyTrace::$variant(trace) => &trace.header.scenario.name,)* }
            }

            /// The first promise that the run breaks, as it was written down.
            pub fn broken(&self) -> Option<Property> {
                match self {
                    $(AnyTrace::$variant(trace) => {
                        let broken = trace.steps.iter().find_map(|line| line.breaches.first());
                        let lasso = trace.header.lasso.as_ref().map(|lasso| lasso.property);
                        let wait = trace.header.waits.first().map(|wait| wait.property);
                        broken.map(|breach| breach.property).or(lasso).or(wait)
                    })*
                }
            }

            /// How many steps it has, passages of time not counted.
            pub fn steps(&self) -> usize {
                match self {
                    $(AnyTrace::$variant(trace) => {
                        trace.steps.iter().filter(|line| !matches!(line.action, Action::Advance(_))).count()
                    })*
                }
            }

            /// The file's text.
            pub fn to_text(&self) -> String {
                match self { $(AnyTrace::$variant(trace) => trace.to_text(),)* }
            }

            /// Shrinks a run that breaks the promise; see [`super::shrink()`].
            ///
            /// # Errors
            /// It does not break it.
            pub fn shrink(&self, property: Property) -> Result<Self, Unshrinkable> {
                match self { $(AnyTrace::$variant(trace) => shrink(trace, property).map(AnyTrace::$variant),)* }
            }

            /// The run as a script; see [`super::script()`].
            pub fn script(&self) -> String {
                match self { $(AnyTrace::$variant(trace) => super::script(trace),)* }
            }

            /// The scenario that it is a run of, whole.
            pub fn whole_scenario(&self) -> AnyScenario {
                match self { $(AnyTrace::$variant(trace) => trace.header.scenario.clone().into(),)* }
            }

            /// Whether this promise is broken by how the run goes on, and not by a single step.
            pub fn is_about_the_end(&self, property: Property) -> bool {
                match self { $(AnyTrace::$variant(trace) => trace.header.is_about_the_end(property),)* }
            }

            /// Repeats what can still happen; see [`super::realign()`].
            ///
            /// # Errors
            /// The scenario is impossible by now.
            pub fn realign(&self) -> Result<AnyRealigned, Mismatch> {
                match self {
                    $(AnyTrace::$variant(trace) => super::realign(trace).map(|found| AnyRealigned {
                        trace: AnyTrace::$variant(found.trace),
                        diverges: found.diverges,
                        skipped: found.skipped,
                    }),)*
                }
            }

            /// Repeats the run and tells it.
            ///
            /// # Errors
            /// The first step at which the trace and the model disagree.
            pub fn replay(&self) -> Result<Replayed, Mismatch> {
                match self {
                    $(AnyTrace::$variant(trace) => {
                        let now = replay(trace)?;
                        Ok(Replayed {
                            scenario: now.header.scenario.name.clone(),
                            origin: now.header.origin.clone(),
                            seed: now.header.seed,
                            digest: now.header.digest.clone(),
                            assumptions: now.header.scenario.assumptions(),
                            story: super::tell(&now),
                        })
                    })*
                }
            }
        }

        /// Runs an expression with the trace inside an [`AnyTrace`], whatever its protocol.
        #[macro_export]
        macro_rules! with_trace {
            ($any:expr, $name:ident => $body:expr) => {
                match $any { $($crate::trace::AnyTrace::$variant($name) => $body,)* }
            };
        }
    };
}

crate::for_each_protocol!(any);

/// A run of some protocol as it happens now; see [`super::Realigned`].
#[derive(Clone, PartialEq, Debug)]
pub struct AnyRealigned {
    /// What happens now.
    pub trace: AnyTrace,
    /// Where it first happens otherwise than it was written down, and how.
    pub diverges: Option<Mismatch>,
    /// The numbers of the steps that were left out.
    pub skipped: Vec<usize>,
}

/// A run that was repeated.
#[derive(Clone, PartialEq, Debug)]
pub struct Replayed {
    /// The scenario's name.
    pub scenario: String,
    /// Who had found the run.
    pub origin: String,
    /// The seed, if a simulator found it.
    pub seed: Option<u64>,
    /// The digest, the same as in the file.
    pub digest: String,
    /// What the run rests on.
    pub assumptions: Vec<Assumption>,
    /// The run.
    pub story: Story,
}
