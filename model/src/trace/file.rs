//! Trace files: JSON lines, the header first, then a line for each step.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::{Header, Lasso, ReplayError, SCHEMA, SCHEMA_OLDEST, Trace, TraceStep, Wait, replay};
use crate::assumption::Assumption;
use crate::finding::Story;
use crate::scenario::{ScenarioFile, read_json};
use crate::service::Service;

/// The reason why a trace file cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum TraceError {
    /// The first line is no header; why not.
    #[error("line 1 is not the header of a fencepost trace: {0}")]
    NoHeader(String),
    /// The trace has a format that this program does not read.
    #[error("line 1: the trace has format {0}; this program reads formats {SCHEMA_OLDEST} to {SCHEMA}")]
    Format(u32),
    /// No service of the catalogue has this name.
    #[error("line 1: there is no system `{0}`")]
    UnknownSystem(String),
    /// The header has the right format and cannot be read; why not.
    #[error("line 1, the header: {0}")]
    Header(String),
    /// A step cannot be read.
    #[error("line {}, step {step}: {reason}", step + 1)]
    Step {
        /// Its number, from 1.
        step: usize,
        /// The reason why it cannot be read.
        reason: String,
    },
    /// The model and the trace disagree.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

/// The first line of a trace file. Its scenario is written as its file has it; read, it is a value that only the service
/// understands.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeaderLine<S> {
    fencepost_trace: u32,
    system: String,
    origin: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    digest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lasso: Option<Lasso>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    waits: Vec<Wait>,
    scenario: S,
}

impl HeaderLine<Value> {
    fn read(line: &str) -> Result<Self, TraceError> {
        serde_json::from_str(line).map_err(|error| TraceError::Header(error.to_string()))
    }
}

impl HeaderLine<&ScenarioFile<'_>> {
    fn write(&self) -> String {
        line(serde_json::to_string(self))
    }
}

fn line(json: serde_json::Result<String>) -> String {
    json.expect("plain data can be written") + "\n"
}

impl<P: Service> Header<P> {
    fn to_line(&self) -> String {
        self.scenario.with_file(|scenario| {
            let line = HeaderLine {
                fencepost_trace: self.fencepost_trace,
                system: self.system.clone(),
                origin: self.origin.clone(),
                seed: self.seed,
                digest: self.digest.clone(),
                lasso: self.lasso.clone(),
                waits: self.waits.clone(),
                scenario,
            };
            line.write()
        })
    }

    fn of_line(line: &str) -> Result<Self, TraceError> {
        let read = HeaderLine::read(line)?;
        let mut scenario = read_json::<P>(&read.scenario).map_err(TraceError::Header)?;
        scenario.settle();
        Ok(Header {
            fencepost_trace: read.fencepost_trace,
            system: read.system,
            origin: read.origin,
            seed: read.seed,
            digest: read.digest,
            lasso: read.lasso,
            waits: read.waits,
            scenario,
        })
    }
}

impl<P: Service> Trace<P> {
    /// The file's text.
    pub fn to_text(&self) -> String {
        let mut text = self.header.to_line();
        for step in &self.steps {
            text += &line(serde_json::to_string(step));
        }
        text
    }

    /// Reads a trace file without replaying it.
    ///
    /// # Errors
    /// The first line that cannot be read, with its step.
    pub fn from_text(text: &str) -> Result<Self, TraceError> {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let step = |(place, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| TraceError::Step { step: place + 1, reason: error.to_string() })
        };
        let header = Header::of_line(first)?;
        let steps = rest.lines().enumerate().map(step).collect::<Result<Vec<TraceStep<P>>, _>>()?;
        Ok(Trace { header, steps })
    }
}

/// What every header has, whatever its service.
#[derive(Deserialize)]
struct Peek {
    fencepost_trace: u32,
    system: String,
}

/// The system that a trace names, if the format of the trace is supported.
///
/// # Errors
/// The text does not begin with the header of a trace, or has another format.
pub fn system_of_trace(text: &str) -> Result<String, TraceError> {
    let first = text.lines().next().unwrap_or_default();
    let peek: Peek = serde_json::from_str(first).map_err(|error| TraceError::NoHeader(error.to_string()))?;
    if !(SCHEMA_OLDEST..=SCHEMA).contains(&peek.fencepost_trace) {
        return Err(TraceError::Format(peek.fencepost_trace));
    }
    Ok(peek.system)
}

/// A replayed execution.
#[derive(Clone, PartialEq, Debug)]
pub struct Replayed {
    /// The scenario's name.
    pub scenario: String,
    /// The explorer that found the execution.
    pub origin: String,
    /// The seed, if a simulator found it.
    pub seed: Option<u64>,
    /// The digest, the same as in the file.
    pub digest: String,
    /// The assumptions of the execution.
    pub assumptions: Vec<Assumption>,
    /// The execution as a story.
    pub story: Story,
}

impl Replayed {
    /// Replays an execution and returns its story.
    ///
    /// # Errors
    /// The first step at which the trace and the model disagree.
    pub fn of<P: Service>(trace: &Trace<P>) -> Result<Self, ReplayError> {
        let now = replay(trace)?;
        Ok(Replayed {
            scenario: now.header.scenario.name.clone(),
            origin: now.header.origin.clone(),
            seed: now.header.seed,
            digest: now.header.digest.clone(),
            assumptions: now.header.scenario.assumptions(),
            story: super::tell(&now),
        })
    }
}
