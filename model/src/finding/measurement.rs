//! What a simulated run measured: counts and durations, in whole numbers. What they come to is for reports to say.

use serde::{Deserialize, Serialize};

/// What happened in a run, and for how long. Durations are in ticks of the clock it was taken on.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Measurement {
    /// How long it took.
    pub ticks: i64,
    /// For how long somebody believed to be inside.
    pub inside: i64,
    /// For how long there was room inside, for all that anybody believed, although somebody kept trying.
    pub idle: i64,
    /// Of that, how long after the session of a client that lived had ended, and the lock was freed by that.
    pub idle_by_mistake: i64,
    /// For how long more were inside than may be.
    pub overlap: i64,
    /// How often somebody entered.
    pub entries: u64,
    /// How many requests the service was sent.
    pub requests: u64,
    /// Writes whose tenure is known: only where the scenario promises something about them.
    pub writes: u64,
    /// What was heard of sessions; a service that has none never says anything.
    pub sessions: u64,
    /// Writes that were accepted although a later tenure had written.
    pub stale_accepted: u64,
    /// Writes that were refused for that reason.
    pub stale_refused: u64,
    /// Sessions that ended by themselves although their client lived: a failure detector's mistakes.
    pub mistakes: u64,
    /// For how long clients that lived were without a session for that reason, added up.
    pub mistaken: i64,
    /// For how long clients lived, added up.
    pub watched: i64,
    /// At each entry, how long there had been room although somebody kept trying.
    pub handovers: Vec<i64>,
    /// For each crash, how long it took until a session of that client ended by itself.
    pub detections: Vec<i64>,
    /// For each client that crashed inside, how long it stayed on record as the owner.
    pub dead_holds: Vec<i64>,
    /// How many of those were still on record when the run ended.
    pub held_at_the_end: u64,
}

impl Measurement {
    /// Adds what another run measured.
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
