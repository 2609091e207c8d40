//! What is wrong with a program: bad input, and never a verdict.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Mutex;

use super::shared::MESSAGES_MAX;

/// Why a program cannot be explored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramError {
    /// The name of the recipe.
    pub program: String,
    /// The head of the lap, as it is kept.
    pub head: String,
    /// What the lap had been told, one thing a line.
    pub told: Vec<String>,
    /// What is wrong.
    pub kind: ProgramErrorKind,
}

/// What is wrong with a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProgramErrorKind {
    /// The same lap, told the same, did something else than before.
    NotDeterministic {
        /// What it did the first time.
        before: String,
        /// What it does now.
        now: String,
    },
    /// It goes on without waiting for anything.
    NeverWaits,
    /// It waits for something that is none of the handle's.
    WaitsForNothing,
    /// The value at the head of the lap cannot be kept.
    Head(String),
    /// It posts more messages of this type than anything receives.
    Unread(&'static str),
    /// It sends a token to a resource that compares versions.
    NoVersion,
    /// It asks its service for something that the scenario does not have.
    Request(String),
    /// It asks its clocks for something that the scenario does not say.
    Clock(String),
}

/// Those that stopped an exploration lately.
static LATELY: Mutex<VecDeque<ProgramError>> = Mutex::new(VecDeque::new());

/// The number of remembered errors.
const LATELY_MAX: usize = 64;

impl ProgramError {
    /// One that stopped an exploration in this process lately, and whose message is in the text: the caller has caught a panic,
    /// or got an internal error, and wants to know whether a program is to blame.
    pub fn behind(text: &str) -> Option<ProgramError> {
        let lately = LATELY.lock().expect("no thread panics while it holds the lock");
        lately.iter().rev().find(|error| text.contains(&error.to_string())).cloned()
    }

    /// Stops the exploration: nothing that could be said of such a program is true.
    pub(super) fn stop(self) -> ! {
        let message = self.to_string();
        {
            let mut lately = LATELY.lock().expect("no thread panics while it holds the lock");
            lately.push_back(self);
            if lately.len() > LATELY_MAX {
                lately.pop_front();
            }
        }
        panic!("{message}")
    }
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProgramError { program, head, told, kind } = self;
        write!(f, "the program `{program}` cannot be explored: {kind}\n  head of the lap: {head}")?;
        told.iter().enumerate().try_for_each(|(place, told)| write!(f, "\n  told {}: {told}", place + 1))
    }
}

impl std::error::Error for ProgramError {}

impl fmt::Display for ProgramErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramErrorKind::NotDeterministic { before, now } => write!(
                f,
                "it is not deterministic. Told the same as before, its lap did `{before}` first and does `{now}` now. \
                 Keep clocks, chance, statics and shared cells out of it, and compare ids for equality only"
            ),
            ProgramErrorKind::NeverWaits => f.write_str(
                "it goes on without waiting. A lap that returns `Again` must have waited for an answer, a deadline or its user",
            ),
            ProgramErrorKind::WaitsForNothing => f.write_str(
                "it awaits something that no event will complete. Await only what the handle offers",
            ),
            ProgramErrorKind::Unread(name) => write!(
                f,
                "its mailbox of `{name}` has {MESSAGES_MAX} messages that no task has received, and it posts another one. Where only the last \
                 one counts, a cell keeps it: `set`"
            ),
            ProgramErrorKind::NoVersion => f.write_str(
                "it writes with a token, and the resource compares versions (`resource = \"unchanged\"`). Write with what `read` has returned, \
                 or let the resource compare tokens: `not-lower`",
            ),
            ProgramErrorKind::Clock(what) | ProgramErrorKind::Request(what) => f.write_str(what),
            ProgramErrorKind::Head(what) => write!(f, "the value at the head of a lap cannot be kept: {what}"),
        }
    }
}
