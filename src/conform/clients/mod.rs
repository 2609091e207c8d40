//! A verdict about the clients of a log: who held a lock by the server's record, and who acted as if. The server's answers bound
//! when a tenure began and ended; what a client did, and did not do, bounds when it took itself for the holder.
//!
//! ```text
//! tenures   who may have held what, and when      beliefs   who acted as the holder, and when
//! findings  where the two differ, and why         picture   both on one line of time
//! asks      what requests ask of keys             protected  what locks protect
//! slots     who may have held a slot              over_limit  more clients inside than slots
//! in_flight writes that were open at a release
//! hazards   why, as far as the log tells
//! ```

mod asks;
mod beliefs;
mod findings;
mod hazards;
mod in_flight;
mod over_limit;
mod picture;
mod protected;
mod slots;
mod tenures;

pub use beliefs::{BeliefInterval, Stopped};
pub use findings::{Finding, Kind};
pub use hazards::{Omission, UNSEEN};
pub use picture::picture;
pub use tenures::{Ending, Tenure};

use super::log::{Episode, EventKind};

/// What a log says of its clients.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Clients {
    /// Who held what by the server's record, by when it was acquired.
    pub tenures: Vec<Tenure>,
    /// How long each of these clients took itself for the holder, in the same order.
    pub beliefs: Vec<BeliefInterval>,
    /// What is wrong, by when it begins.
    pub findings: Vec<Finding>,
    /// What the verdict rests on.
    pub assumptions: Vec<&'static str>,
}

/// Looks at the clients of an episode. The keys that the locks protect are those named; without any, all keys that no lock was
/// ever acquired on.
pub fn clients(episode: &Episode, protected: &[String]) -> Clients {
    let tenures = tenures::tenures(episode);
    let beliefs: Vec<BeliefInterval> = tenures.iter().map(|tenure| beliefs::belief(episode, tenure)).collect();
    let findings = findings::findings(episode, &tenures, &beliefs, protected);
    let mut assumptions = match (episode.begins_later, episode.gaps.others_write) {
        (false, false) => vec!["the log contains every request for these keys and sessions"],
        (true, false) => vec!["the log contains every request for these keys and sessions since it began"],
        (_, true) => vec!["clients that are not in the log leave these keys and sessions alone"],
    };
    if tenures.iter().any(|tenure| tenure.limit.is_some()) {
        assumptions.push("who holds a slot of a semaphore is what its coordination entry says");
    }
    if episode.begins_later {
        assumptions.push("who holds a lock from before the log began is not known, and is not judged");
        if tenures.iter().any(|tenure| tenure.limit.is_some()) {
            assumptions.push("a slot that the first sight of an entry shows is held since before the log began");
        }
    }
    if episode.events.iter().any(|event| !matches!(event.kind, EventKind::NotPassedOn(_))) {
        assumptions.push("what happened to servers and nodes ended no session, unless an answer shows it");
    }
    assumptions.push("checks of nodes end no session, but for those that the log changes");
    if episode.lines.iter().any(|line| line.client.is_none()) {
        assumptions.push("requests without a client are told apart by the session that they name");
    }
    Clients { tenures, beliefs, findings, assumptions }
}

/// Nanoseconds, as seconds with milliseconds.
pub(super) fn seconds(nanoseconds: i64) -> String {
    let milliseconds = nanoseconds / 1_000_000;
    format!("{}.{:03} s", milliseconds / 1000, (milliseconds % 1000).abs())
}
