//! The JSON lines of `fencepost reenact`.

use schemars::JsonSchema;
use serde::Serialize;

/// A line of `fencepost reenact`: what came of a counterexample at a real server.
#[derive(Serialize, JsonSchema)]
pub struct ReenactmentJson<'a> {
    pub scenario: &'a str,
    pub property: &'a str,
    /// The server, as `Consul 1.8.7`, `RabbitMQ 3.10.8` or `etcd 3.4.23`.
    pub server: &'a str,
    /// `happened`, `refused`, `simultaneous`, `outside` or `undecided`.
    pub outcome: &'static str,
    pub sentence: String,
    /// The number of the step that the outcome is about.
    pub step: Option<usize>,
    /// The length of a tick in milliseconds.
    pub tick: Option<u64>,
    /// The length of the execution in milliseconds.
    pub length: Option<u64>,
    /// How long a delay became that is none in the scenario, in milliseconds.
    pub stretch: Option<u64>,
    /// What is other in the scenario, if this is not the checker's first counterexample.
    pub other: Option<&'static str>,
    /// How often it was begun.
    pub attempts: u32,
    /// The file of the trace.
    pub trace: Option<String>,
}
