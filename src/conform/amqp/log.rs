//! Methods and answers in a file: JSON, a line for each, held against the model. A sequence begins with a line of its own.

use fencepost_model::mutation::Mutation;
use fencepost_rabbitmq::Answer;
use serde::{Deserialize, Serialize};

use super::pair::{Command, Exchange, LINES, Pair};
use crate::LogError;

/// A line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Entry {
    /// New queues, new connections.
    Begins { rabbitmq: String },
    /// A command with its answer; none: nothing was said.
    Said { said: Command, answer: Option<Answer> },
}

/// Sequences of commands and answers, with the line of the file on which each stands.
pub type Sequences = Vec<Vec<(usize, Command, Option<Answer>)>>;

/// What the model says of a log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Judged {
    /// The number of consistent responses.
    Possible(usize),
    /// One is not.
    Impossible {
        /// The number of the line, from 1.
        line: usize,
        /// The broker's response; none if there was none.
        answer: Option<Answer>,
        /// The model's response; none if there is none.
        expected: Option<Answer>,
    },
}

/// Whether a text is such a log.
pub fn is_one(text: &str) -> bool {
    text.lines().next().is_some_and(|line| matches!(serde_json::from_str(line), Ok(Entry::Begins { .. })))
}

/// The text of a log.
pub fn write(version: &str, sequences: &[Vec<Exchange>]) -> String {
    let line = |entry: &Entry| serde_json::to_string(entry).expect("plain data") + "\n";
    let mut text = String::new();
    for sequence in sequences {
        text += &line(&Entry::Begins { rabbitmq: version.to_owned() });
        for Exchange { command, answer, .. } in sequence {
            text += &line(&Entry::Said { said: *command, answer: *answer });
        }
    }
    text
}

/// Reads a log.
///
/// # Errors
/// A line that is none of it.
pub fn read(text: &str) -> Result<Sequences, LogError> {
    let mut sequences = Sequences::new();
    for (place, line) in text.lines().enumerate() {
        let wrong = |why: String| LogError { line: place + 1, why };
        match serde_json::from_str(line).map_err(|error| wrong(error.to_string()))? {
            Entry::Begins { .. } => sequences.push(Vec::new()),
            Entry::Said { said, answer } => {
                let (Command::Ask { connection, .. } | Command::HangUp { connection }) = said;
                if !(1..=LINES).contains(&usize::from(connection)) {
                    return Err(wrong(format!("there are connections 1 to {LINES}, and no connection {connection}")));
                }
                if matches!(said, Command::Ask { channel, .. } if !(1..=2).contains(&channel)) {
                    return Err(wrong("there are channels 1 and 2".to_owned()));
                }
                let sequence =
                    sequences.last_mut().ok_or_else(|| wrong("a sequence begins with a broker".to_owned()))?;
                sequence.push((place + 1, said, answer));
            }
        }
    }
    Ok(sequences)
}

/// Holds a log against the model. When the broker notices that a socket was closed, when the queues of its connection go,
/// and when a queue expires, no log says: it may be at any time after (R-Q-39, R-Q-40, R-Q-25).
pub fn judge(sequences: &Sequences, mutation: Option<Mutation>) -> Judged {
    let mut count = 0;
    for sequence in sequences {
        let mut states = vec![Pair::alone(mutation)];
        for (line, command, answer) in sequence {
            let mut expected = None;
            let mut next: Vec<Pair<'_>> = Vec::new();
            for mut state in all_that_may_be(states) {
                let told = state.expect_later(*command);
                if told == *answer {
                    if !next.iter().any(|other| other.is_as(&state)) {
                        next.push(state);
                    }
                } else {
                    expected.get_or_insert(told);
                }
            }
            if next.is_empty() {
                return Judged::Impossible { line: *line, answer: *answer, expected: expected.flatten() };
            }
            states = next;
            count += 1;
        }
    }
    Judged::Possible(count)
}

/// These states, and what may become of them by themselves; those first in which everything has been dealt with that closes
/// a connection.
fn all_that_may_be(states: Vec<Pair<'_>>) -> Vec<Pair<'_>> {
    let mut found: Vec<Pair<'_>> = Vec::new();
    let mut open = states;
    while let Some(state) = open.pop() {
        if found.iter().any(|other| other.is_as(&state)) {
            continue;
        }
        open.extend(state.developments());
        found.push(state);
    }
    found.sort_by_key(Pair::unfinished);
    found
}
