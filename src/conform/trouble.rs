//! What keeps a model and a server from being held against each other.

use std::fmt;

/// The server cannot be talked to.
#[derive(Clone, Debug)]
pub struct Trouble(pub String);

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Trouble {}

/// What is wrong with a log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unreadable {
    /// In which line, from 1.
    pub line: usize,
    /// Why.
    pub why: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl std::error::Error for Unreadable {}
