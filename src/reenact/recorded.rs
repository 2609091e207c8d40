//! Which violations were seen at a real server, kept as a file: `fencepost reenact --all --record FILE` writes it.

use serde::{Deserialize, Serialize};

use crate::outcome::ReenactmentOutcome;

/// What was seen on Consul 1.8.7, on RabbitMQ 3.10.8, and on etcd 3.4.23.
pub const RECORDED: [&str; 3] = [
    include_str!("recorded/consul-1.8.7.jsonl"),
    include_str!("recorded/rabbitmq-3.10.8.jsonl"),
    include_str!("recorded/etcd-3.4.23.jsonl"),
];

/// What came of the counterexample of a promise.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenViolation {
    /// The scenario.
    pub scenario: String,
    /// The violated promise.
    pub property: String,
    /// The digest of the trace: another counterexample has another one.
    pub digest: String,
    /// The server, as `Consul 1.8.7`, `RabbitMQ 3.10.8` or `etcd 3.4.23`.
    pub server: String,
    /// The outcome, by its name.
    pub outcome: String,
    /// The outcome as a sentence.
    pub sentence: String,
    /// What is other in the scenario of the execution, if it is not the one with the digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
}

impl SeenViolation {
    /// Whether it was seen.
    pub fn has_happened(&self) -> bool {
        self.outcome == ReenactmentOutcome::Happened.name()
    }
}

/// Reads such a file.
///
/// # Errors
/// The first line that is none, with its number.
pub fn read(text: &str) -> Result<Vec<SeenViolation>, String> {
    let line = |(place, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| format!("line {}: {error}", place + 1))
    };
    text.lines().enumerate().map(line).collect()
}

/// Writes such a file, in the order of scenarios and promises.
pub fn write(mut seen: Vec<SeenViolation>) -> String {
    seen.sort_by(|one, other| (&one.scenario, &one.property).cmp(&(&other.scenario, &other.property)));
    seen.iter().map(|line| serde_json::to_string(line).expect("plain data can be written") + "\n").collect()
}
