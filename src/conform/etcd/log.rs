//! Calls and answers in a file: JSON, a line for each, held against the model. A sequence begins with a line of its own.

use fencepost_etcd::mvcc::{EtcdCall, Mvcc};
use serde::{Deserialize, Serialize};

use super::class::{Class, class};
use super::pair::{EtcdExchange, EtcdSequence, expect};
use super::wire::EtcdReply;
use crate::LogError;
use crate::tally::Histogram;

/// A line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Entry {
    /// An empty store at a revision, which is compacted.
    Begins { etcd: String, revision: i64 },
    /// A call with its answer.
    Called { call: EtcdCall, reply: EtcdReply },
}

/// A line with its number, from 1.
type Numbered = (usize, EtcdCall, EtcdReply);

/// A log: the revision at which each sequence begins, and its lines.
pub type EtcdLog = Vec<(i64, Vec<Numbered>)>;

/// What the model says of a log.
#[derive(Clone, PartialEq, Debug)]
pub enum EtcdVerdict {
    /// Every answer is what the model says.
    Possible(Histogram<Class>),
    /// One is not.
    Impossible {
        /// The number of the line, from 1.
        line: usize,
        /// The call with both answers.
        exchange: Box<EtcdExchange>,
    },
}

/// Whether a text is such a log.
pub fn is_one(text: &str) -> bool {
    text.lines().next().is_some_and(|line| matches!(serde_json::from_str(line), Ok(Entry::Begins { .. })))
}

/// The text of a log.
pub fn write(version: &str, sequences: &[EtcdSequence]) -> String {
    let line = |entry: &Entry| serde_json::to_string(entry).expect("plain data") + "\n";
    let mut text = String::new();
    for EtcdSequence { revision, exchanges } in sequences {
        text += &line(&Entry::Begins { etcd: version.to_owned(), revision: *revision });
        for EtcdExchange { call, reply, .. } in exchanges {
            text += &line(&Entry::Called { call: call.clone(), reply: reply.clone() });
        }
    }
    text
}

/// Reads a log.
///
/// # Errors
/// A line that is none of it, or no call at all: of such a log nothing could be said.
pub fn read(text: &str) -> Result<EtcdLog, LogError> {
    let mut log = EtcdLog::new();
    for (place, line) in text.lines().enumerate() {
        let wrong = |why: String| LogError { line: place + 1, why };
        match serde_json::from_str(line).map_err(|error| wrong(error.to_string()))? {
            Entry::Begins { revision, .. } => log.push((revision, Vec::new())),
            Entry::Called { call, reply } => {
                let sequence = log.last_mut().ok_or_else(|| wrong("a sequence begins with a server".to_owned()))?;
                sequence.1.push((place + 1, call, reply));
            }
        }
    }
    if log.iter().all(|(_, lines)| lines.is_empty()) {
        return Err(LogError { line: 1, why: "there is no call in it".to_owned() });
    }
    Ok(log)
}

/// Holds a log against the model.
pub fn judge(log: &EtcdLog) -> EtcdVerdict {
    let mut tally = Histogram::default();
    for (revision, lines) in log {
        let mut store = Mvcc::empty_at(*revision);
        for (line, call, reply) in lines {
            let answer = expect(&mut store, call);
            let exchange = EtcdExchange { call: call.clone(), reply: reply.clone(), answer };
            if !exchange.is_alike() {
                return EtcdVerdict::Impossible { line: *line, exchange: Box::new(exchange) };
            }
            tally.count(class(&exchange));
        }
    }
    EtcdVerdict::Possible(tally)
}
