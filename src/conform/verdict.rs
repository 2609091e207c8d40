//! What can be said of a log.

use std::fmt;

use super::tally::Tally;

/// A log in which nothing is impossible. Where it says everything, it could have been.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Possible {
    /// Requests that were judged.
    pub lines: usize,
    /// Which answers there were.
    pub tally: Tally,
    /// Requests for what the model does not have, which were passed over.
    pub skipped: usize,
    /// Answers of logs that do not say everything, among the lines: only contradictions with others were looked for.
    pub partial: usize,
    /// Those of them that could be held against others.
    pub compared: usize,
    /// How many states had to be remembered.
    pub states: usize,
}

impl Possible {
    /// Both together.
    #[must_use]
    pub(super) fn and(mut self, other: Possible) -> Possible {
        let Possible { lines, tally, skipped, partial, compared, states } = other;
        self.lines += lines;
        self.tally.add(&tally);
        self.skipped += skipped;
        self.partial += partial;
        self.compared += compared;
        self.states += states;
        self
    }
}

/// A log that could not have been.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Impossible {
    /// The line up to which it is possible, and with which it no longer is.
    pub line: usize,
    /// The rule, and what had to be answered by it, in the most plausible state.
    pub rule: Option<(&'static str, &'static str)>,
    /// How the answer differs.
    pub why: String,
}

/// Why a log is not judged possible.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Objection {
    /// It could not have been.
    Impossible(Impossible),
    /// That is not known: the log says too little, or asks for what the model does not have.
    Undecided {
        /// The answers before this line are possible.
        line: usize,
        /// The reason, in a sentence.
        why: String,
    },
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Objection::Impossible(impossible) => impossible.fmt(f),
            Objection::Undecided { line, why } => write!(f, "undecided, so far possible before line {line}: {why}"),
        }
    }
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "impossible at line {}", self.line)?;
        if let Some((rule, says)) = self.rule {
            write!(f, " because of rule {rule} ({says})")?;
        }
        write!(f, ": {}", self.why)
    }
}
