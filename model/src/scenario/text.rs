//! Scenario files: reading, and errors that point at the place.

use std::fmt;

use serde::Deserialize;
use toml::de::{DeTable, DeValue};

use super::{Mistake, Scenario};
use crate::protocol::Protocol;

/// Why a scenario file cannot be used: where, what, and what would be right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unreadable {
    /// The file, as it was named.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

impl std::error::Error for Unreadable {}

#[derive(Deserialize)]
struct Head {
    system: String,
}

/// The `system` that a scenario text names.
///
/// # Errors
/// The text is not TOML, or names no system.
pub fn system_of(text: &str, file: &str) -> Result<String, Unreadable> {
    let head: Head = toml::from_str(text).map_err(|error| unreadable(text, file, &error))?;
    Ok(head.system)
}

/// Reads and validates a scenario. `file` is only used in messages.
///
/// # Errors
/// Anything a person can get wrong, with line and column.
pub fn from_toml<P: Protocol>(text: &str, file: &str) -> Result<Scenario<P>, Unreadable> {
    let scenario: Scenario<P> = toml::from_str(text).map_err(|error| unreadable(text, file, &error))?;
    scenario.validate().map_err(|mistake| misplaced(text, file, &mistake))?;
    Ok(scenario)
}

impl Unreadable {
    /// An error at the `system` line of a scenario text.
    pub fn system(text: &str, file: &str, message: String) -> Self {
        misplaced(text, file, &Mistake { path: "system".to_owned(), message })
    }
}

fn unreadable(text: &str, file: &str, error: &toml::de::Error) -> Unreadable {
    at(text, file, error.span().map_or(0, |span| span.start), error.message().to_owned())
}

fn misplaced(text: &str, file: &str, mistake: &Mistake) -> Unreadable {
    let offset = offset_of(text, &mistake.path).unwrap_or(0);
    at(text, file, offset, format!("{}: {}", mistake.path, mistake.message))
}

fn at(text: &str, file: &str, offset: usize, message: String) -> Unreadable {
    let before = &text[..offset.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Unreadable {
        file: file.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message: message.trim_end().replace('\n', " "),
    }
}

/// Where the value at a dotted path (`budget.pauses`, `promise.1.bound`) stands; else the nearest table around it.
fn offset_of(text: &str, path: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut found = None;
    let mut steps = path.split('.');
    let mut value = document.get_ref().get(steps.next()?)?;
    found.replace(value.span().start);
    for step in steps {
        let inner = match value.get_ref() {
            DeValue::Table(table) => table.get(step),
            DeValue::Array(array) => step.parse().ok().and_then(|place: usize| array.get(place)),
            _ => None,
        };
        let Some(inner) = inner else { break };
        value = inner;
        found.replace(value.span().start);
    }
    found
}
