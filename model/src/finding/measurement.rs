//! The measurements of a simulated run: counts and durations, in whole numbers. Reports compute rates from them.

use serde::{Deserialize, Serialize};

/// Counts and durations of a run. Durations are in ticks of the clock of that run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Measurement {
    /// The duration of the run, in ticks.
    pub ticks: i64,
    /// The time during which at least one client believed to be inside.
    pub inside: i64,
    /// Idle time: the time during which a slot was free by the beliefs of all clients while at least one client was
    /// waiting.
    pub idle: i64,
    /// The part of the idle time after a session of a live client ended and freed the lock.
    pub idle_by_mistake: i64,
    /// The time during which more clients were inside than the limit allows.
    pub overlap: i64,
    /// The number of entries.
    pub entries: u64,
    /// The number of requests that the service received.
    pub requests: u64,
    /// The number of writes whose tenure is known. It is counted only if the scenario has a promise about writes.
    pub writes: u64,
    /// The number of sessions whose end was observed; 0 for a service without sessions.
    pub sessions: u64,
    /// The number of accepted writes after a write of a later tenure.
    pub stale_accepted: u64,
    /// The number of writes refused for that reason.
    pub stale_refused: u64,
    /// The number of sessions that ended by themselves while their client was alive: false positives of the failure
    /// detector.
    pub mistakes: u64,
    /// The total time that live clients spent without a session for that reason.
    pub mistaken: i64,
    /// The total time that clients were alive.
    pub watched: i64,
    /// For each entry: how long a slot had been free while at least one client was waiting.
    pub handovers: Vec<i64>,
    /// For each crash: how long it took until a session of that client ended by itself.
    pub detections: Vec<i64>,
    /// For each client that crashed inside: how long it stayed on record as the owner.
    pub dead_holds: Vec<i64>,
    /// The number of those that were still on record at the end of the run.
    pub held_at_the_end: u64,
}

impl Measurement {
    /// Adds the measurements of another run.
    pub fn add(&mut self, other: &Measurement) {
        let Measurement { ticks, inside, idle, idle_by_mistake, overlap, entries, requests, .. } = other;
        let Measurement {
            writes,
            sessions,
            stale_accepted,
            stale_refused,
            mistakes,
            mistaken,
            watched,
            held_at_the_end,
            ..
        } = other;
        self.ticks += ticks;
        self.inside += inside;
        self.idle += idle;
        self.idle_by_mistake += idle_by_mistake;
        self.overlap += overlap;
        self.entries += entries;
        self.requests += requests;
        self.writes += writes;
        self.sessions += sessions;
        self.stale_accepted += stale_accepted;
        self.stale_refused += stale_refused;
        self.mistakes += mistakes;
        self.mistaken += mistaken;
        self.watched += watched;
        self.held_at_the_end += held_at_the_end;
        self.handovers.extend(&other.handovers);
        self.detections.extend(&other.detections);
        self.dead_holds.extend(&other.dead_holds);
    }
}
