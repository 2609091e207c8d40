//! Calls and answers in a file: JSON, a line for each, held against the model. A sequence begins with a line of its own. Lines with the
//! instants of sending and answer are those of several clients at the same time.

use fencepost_etcd::mvcc::{EtcdCall, EtcdVersion, Mvcc};
use serde::{Deserialize, Serialize};

use super::class::{Class, class};
use super::crowd::{EtcdCrowd, TimedCall};
use super::order::{EtcdOrder, order};
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
    Called {
        call: EtcdCall,
        reply: EtcdReply,
        /// When it was sent and answered, in nanoseconds since the sequence began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<(i64, i64)>,
    },
}

/// A part of a log: an empty store, and what was asked of it.
#[derive(Clone, PartialEq, Debug)]
pub struct EtcdPart {
    version: EtcdVersion,
    revision: i64,
    lines: Vec<Numbered>,
}

/// A line with its number, from 1.
#[derive(Clone, PartialEq, Debug)]
struct Numbered {
    line: usize,
    call: EtcdCall,
    reply: EtcdReply,
    at: Option<(i64, i64)>,
}

/// A log.
pub type EtcdLog = Vec<EtcdPart>;

/// What is as the model says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EtcdPossible {
    /// The answers.
    pub tally: Histogram<Class>,
    /// The number of those to clients at the same time.
    pub at_the_same_time: u64,
    /// The number of leases that ended by themselves.
    pub ended: u64,
}

impl EtcdPossible {
    /// Adds what has an order.
    pub fn add(&mut self, exchanges: &[EtcdExchange], ended: u64) {
        exchanges.iter().for_each(|exchange| self.tally.count(class(exchange)));
        self.at_the_same_time += exchanges.len() as u64;
        self.ended += ended;
    }
}

/// What the model says of a log.
#[derive(Clone, PartialEq, Debug)]
pub enum EtcdVerdict {
    /// Every answer is what the model says.
    Possible(EtcdPossible),
    /// One is not.
    Impossible {
        /// The number of the line, from 1.
        line: usize,
        /// The call with both answers.
        exchange: Box<EtcdExchange>,
    },
    /// Among the orders that were tried of calls that overlap, none is right.
    Undecided {
        /// The number of their first line, from 1.
        line: usize,
    },
}

/// Whether a text is such a log.
pub fn is_one(text: &str) -> bool {
    text.lines().next().is_some_and(|line| matches!(serde_json::from_str(line), Ok(Entry::Begins { .. })))
}

fn line(entry: &Entry) -> String {
    serde_json::to_string(entry).expect("plain data") + "\n"
}

/// The text of a log.
pub fn write(sequences: &[EtcdSequence]) -> String {
    let mut text = String::new();
    for EtcdSequence { version, revision, exchanges } in sequences {
        text += &line(&Entry::Begins { etcd: version.to_string(), revision: *revision });
        for EtcdExchange { call, reply, .. } in exchanges {
            text += &line(&Entry::Called { call: call.clone(), reply: reply.clone(), at: None });
        }
    }
    text
}

/// The text of a log of crowds.
pub fn write_crowds(crowds: &[EtcdCrowd]) -> String {
    let mut text = String::new();
    for EtcdCrowd { version, revision, calls } in crowds {
        text += &line(&Entry::Begins { etcd: version.to_string(), revision: *revision });
        for TimedCall { call, reply, sent, received } in calls {
            text += &line(&Entry::Called { call: call.clone(), reply: reply.clone(), at: Some((*sent, *received)) });
        }
    }
    text
}

/// Reads a log.
///
/// # Errors
/// A line that is none of it, or no call at all: of such a log nothing could be said. A sequence of which some lines have instants and
/// others have none.
pub fn read(text: &str) -> Result<EtcdLog, LogError> {
    let mut log = EtcdLog::new();
    for (place, line) in text.lines().enumerate() {
        let wrong = |why: &str| LogError { line: place + 1, why: why.to_owned() };
        match serde_json::from_str(line).map_err(|error| wrong(&error.to_string()))? {
            Entry::Begins { etcd, revision } => {
                // Another version is judged as the first one, with a warning.
                let version = etcd.parse().unwrap_or_default();
                log.push(EtcdPart { version, revision, lines: Vec::new() });
            }
            Entry::Called { call, reply, at } => {
                let lines = log.last_mut().map(|part| &mut part.lines);
                let lines = lines.ok_or_else(|| wrong("a sequence begins with a server"))?;
                if lines.first().is_some_and(|first| first.at.is_some() != at.is_some()) {
                    return Err(wrong(
                        "either all calls of a sequence say when they were sent and answered, or none does",
                    ));
                }
                if at.is_some_and(|(sent, received)| sent > received) {
                    return Err(wrong("it was answered before it was sent"));
                }
                lines.push(Numbered { line: place + 1, call, reply, at });
            }
        }
    }
    if log.iter().all(|part| part.lines.is_empty()) {
        return Err(LogError { line: 1, why: "there is no call in it".to_owned() });
    }
    Ok(log)
}

/// Holds a log against the model. Leases in calls that overlap may end later than the scan finds them by this number of nanoseconds.
pub fn judge(log: &EtcdLog, lateness: i64) -> EtcdVerdict {
    let mut possible = EtcdPossible::default();
    for part in log {
        let judged = match part.lines.iter().any(|line| line.at.is_some()) {
            true => judge_crowd(part, lateness, &mut possible),
            false => judge_sequence(part, &mut possible.tally),
        };
        if let Some(verdict) = judged {
            return verdict;
        }
    }
    EtcdVerdict::Possible(possible)
}

/// None: it is possible.
fn judge_sequence(part: &EtcdPart, tally: &mut Histogram<Class>) -> Option<EtcdVerdict> {
    let mut store = Mvcc::empty_at(part.version, part.revision);
    for Numbered { line, call, reply, .. } in &part.lines {
        let answer = expect(&mut store, call);
        let exchange = EtcdExchange { version: part.version, call: call.clone(), reply: reply.clone(), answer };
        if !exchange.is_alike() {
            return Some(EtcdVerdict::Impossible { line: *line, exchange: Box::new(exchange) });
        }
        tally.count(class(&exchange));
    }
    None
}

/// The same where calls overlap.
fn judge_crowd(part: &EtcdPart, lateness: i64, possible: &mut EtcdPossible) -> Option<EtcdVerdict> {
    let mut lines: Vec<&Numbered> = part.lines.iter().collect();
    lines.sort_by_key(|line| line.at);
    let timed = |line: &&Numbered| {
        let (sent, received) = line.at?;
        Some(TimedCall { call: line.call.clone(), reply: line.reply.clone(), sent, received })
    };
    let crowd =
        EtcdCrowd { version: part.version, revision: part.revision, calls: lines.iter().filter_map(timed).collect() };
    match order(&crowd, lateness) {
        EtcdOrder::Possible { exchanges, ended } => possible.add(&exchanges, ended),
        EtcdOrder::Impossible { place, exchange } => {
            return Some(EtcdVerdict::Impossible { line: lines[place].line, exchange });
        }
        EtcdOrder::Undecided => return part.lines.first().map(|first| EtcdVerdict::Undecided { line: first.line }),
    }
    None
}
