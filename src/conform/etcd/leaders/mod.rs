//! The rules of leader changes at a cluster, one after the other: each lets something happen to the members, and holds what is seen against the
//! interval of its rule.
//!
//! ```text
//! lives      leases that begin anew with a leader (E-LD-1, E-LD-2, E-T-5)
//! isolated   a leader that is cut off (E-LD-6, E-W-7), and one that is stopped (E-LD-5)
//! ```

mod isolated;
mod lives;

use std::time::{Duration, Instant};

use fencepost_etcd::mvcc::{EtcdCall, Put, RangeRead};
use serde_json::{Value, json};

use super::cluster::EtcdCluster;
use super::draw::{LEASES, MARK};
use super::members::ELECTION;
use super::order::SCAN;
use super::wire::EtcdServer;
use crate::error::ConformError;

/// What came of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeaderRule {
    /// Its number.
    pub rule: &'static str,
    /// What was seen.
    pub seen: String,
    /// Whether that is what the rule says; none: it does not decide it.
    pub is_so: Option<bool>,
}

/// What no run sees, and why.
pub const LEADERS_LEFT_OUT: &[(&str, &str)] = &[
    ("E-LD-3", "between election and promotion is a millisecond, and the rest of a lease is cut to whole seconds"),
    ("E-LD-4", "a thousand leases are needed, and no scenario has them"),
    ("E-LD-7", "a loop that is stuck while raft goes on needs a delayed fsync, which needs ptrace"),
    ("E-LD-8", "the same"),
    ("E-LD-9", "the same; with a stopped process it is seen once in 17 runs"),
    ("E-LD-10", "no backup is restored"),
];

/// Tries the rules; `is_long`: those, too, that take longer. Leases may end later than the scan finds them by this number of nanoseconds.
///
/// # Errors
/// The members cannot be talked to, or are not empty.
pub fn leader_rules(cluster: &EtcdCluster, is_long: bool, lateness: i64) -> Result<Vec<LeaderRule>, ConformError> {
    let stage = Stage { cluster, lateness: milliseconds(lateness) };
    let mut seen = Vec::new();
    seen.push(lives::after_a_handover(&stage)?);
    seen.push(lives::after_a_restart(&stage)?);
    if is_long {
        seen.push(lives::among_handovers(&stage)?);
    }
    seen.push(lives::after_a_pause_of_all(&stage)?);
    seen.extend(isolated::stopped(&stage)?);
    seen.extend(isolated::cut_off(&stage)?);
    Ok(seen)
}

/// The timeout of an election, and the period of the scan, in milliseconds.
const ELECTION_MS: i64 = ELECTION / 1_000_000;
const SCAN_MS: i64 = SCAN / 1_000_000;

const KEY: &str = "a";

/// The cluster, and how late its timers may be in milliseconds.
struct Stage<'a> {
    cluster: &'a EtcdCluster,
    lateness: i64,
}

impl<'a> Stage<'a> {
    /// Empties the members, grants a lease and puts a key with it. The member that leads.
    fn begin(&self, ttl: i64) -> Result<usize, ConformError> {
        self.end()?;
        let leader = self.cluster.leader()?;
        self.ask(leader, &EtcdCall::Grant { id: LEASES[0], ttl })?;
        self.ask(leader, &put("before", LEASES[0]))?;
        Ok(leader)
    }

    fn end(&self) -> Result<(), ConformError> {
        self.cluster.reset().map(drop)
    }

    fn member(&self, place: usize) -> &'a EtcdServer {
        &self.cluster.members[place]
    }

    fn ask(&self, place: usize, call: &EtcdCall) -> Result<(), ConformError> {
        let reply = self.member(place).ask(call)?;
        match reply.status {
            200 => Ok(()),
            _ => Err(ConformError(format!("{call:?} is answered {}", reply.body))),
        }
    }

    /// What a member says of itself.
    fn status(&self, place: usize) -> Result<Value, ConformError> {
        Ok(self.member(place).post("/v3/maintenance/status", &json!({}))?.body)
    }

    fn term(&self, place: usize) -> Result<Value, ConformError> {
        Ok(self.status(place)?["raftTerm"].clone())
    }

    /// Whether the key is there.
    fn is_there(&self, place: usize) -> Result<bool, ConformError> {
        let look = EtcdCall::Range(RangeRead { key: marked(KEY), count_only: true, ..RangeRead::default() });
        for _ in 0..10 {
            let reply = self.member(place).ask(&look)?;
            if reply.status == 200 {
                return Ok(reply.body["count"] == "1");
            }
        }
        Err(ConformError("a member does not answer reads any more".to_owned()))
    }
}

fn marked(key: &str) -> String {
    format!("{MARK}{key}")
}

fn put(value: &str, lease: i64) -> EtcdCall {
    EtcdCall::Put(Put { key: marked(KEY), value: value.to_owned(), lease, ..Put::default() })
}

fn milliseconds(nanoseconds: i64) -> i64 {
    nanoseconds.saturating_add(999_999) / 1_000_000
}

/// The milliseconds between two instants.
fn between(begin: Instant, end: Instant) -> i64 {
    i64::try_from(end.saturating_duration_since(begin).as_millis()).unwrap_or(i64::MAX)
}

/// A period between two looks.
const LOOK: Duration = Duration::from_millis(40);
