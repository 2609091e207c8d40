//! What keeps a model and a server from being held against each other.

use std::fmt;

/// The server cannot be talked to.
#[derive(Clone, Debug)]
pub struct ConformError(pub String);

impl fmt::Display for ConformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConformError {}

/// What is wrong with a log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogError {
    /// In which line, from 1.
    pub line: usize,
    /// The reason, in a sentence.
    pub why: String,
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl std::error::Error for LogError {}
