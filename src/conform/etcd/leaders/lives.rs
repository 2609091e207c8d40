//! Leases that begin anew with a leader.

use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use fencepost_etcd::mvcc::EtcdCall;

use super::{ELECTION_MS, LEASES, LOOK, LeaderRule, SCAN_MS, Stage, between};
use crate::error::ConformError;
use crate::etcd::cluster::EtcdChange;

/// The TTL of the leases here, in seconds and in milliseconds.
const TTL: i64 = 3;
const TTL_MS: i64 = TTL * 1_000;

/// How long a lease lives before the leader changes: its own end would be long past before a lease that began anew then may end.
const BEFORE: Duration = Duration::from_millis(1_500);

/// Between which instants something was.
#[derive(Copy, Clone)]
struct Between {
    since: Instant,
    until: Instant,
}

/// E-LD-1: each lease has its TTL and the election timeout from the promotion on. E-T-2: it is gone a scan later.
pub(super) fn after_a_handover(stage: &Stage<'_>) -> Result<LeaderRule, ConformError> {
    stage.begin(TTL)?;
    sleep(BEFORE);
    let promoted = change(stage, EtcdChange::Handover)?;
    judge(stage, "E-LD-1", "after a handover", promoted)
}

/// E-LD-2: a restart is the same.
pub(super) fn after_a_restart(stage: &Stage<'_>) -> Result<LeaderRule, ConformError> {
    stage.begin(TTL)?;
    sleep(BEFORE);
    let promoted = change(stage, EtcdChange::AllRestart)?;
    judge(stage, "E-LD-2", "after a restart of every member", promoted)
}

/// E-T-5: changes that come faster than E + T keep a lease alive.
pub(super) fn among_handovers(stage: &Stage<'_>) -> Result<LeaderRule, ConformError> {
    stage.begin(TTL)?;
    let mut promoted = None;
    for _ in 0..5 {
        sleep(BEFORE);
        promoted = Some(change(stage, EtcdChange::Handover)?);
    }
    let promoted = promoted.expect("there was a change");
    judge(stage, "E-T-5", "after the last of five handovers within its life", promoted)
}

/// E-LS-11: a pause of the leader counts as time. Renewals that waited meanwhile find the lease overdue, and wait for its revoke.
pub(super) fn after_a_pause_of_all(stage: &Stage<'_>) -> Result<LeaderRule, ConformError> {
    let leader = stage.begin(TTL)?;
    let term = stage.term(leader)?;
    let members: Vec<usize> = stage.cluster.followers(leader).chain([leader]).collect();
    for member in &members {
        stage.cluster.operate(&format!("pause {}", member + 1))?;
    }
    let server = stage.member(leader);
    let renewal = thread::scope(|scope| {
        let renewal = scope.spawn(|| server.ask(&EtcdCall::Renew(LEASES[0])));
        sleep(Duration::from_secs(TTL.unsigned_abs() + 1));
        for member in members.iter().rev() {
            stage.cluster.operate(&format!("resume {}", member + 1))?;
        }
        renewal.join().expect("it does not panic")
    })?;
    stage.cluster.settle()?;
    let (ttl, is_there) = (renewal.body["result"]["TTL"].clone(), stage.is_there(leader)?);
    let (seen, is_so) = match stage.term(leader)? == term {
        true => {
            let word = if is_there { "its key stayed" } else { "its key is gone" };
            let answer = if ttl.is_null() { "0".to_owned() } else { ttl.to_string() };
            (
                format!("paused for longer than the TTL, a renewal that waited is answered {answer}; {word}"),
                Some(ttl.is_null() && !is_there),
            )
        }
        false => ("the leader changed in the pause, which decides nothing".to_owned(), None),
    };
    stage.end()?;
    Ok(LeaderRule { rule: "E-LS-11", seen, is_so })
}

/// Lets the leader change; when the next one was promoted: it has answered a write by the end.
fn change(stage: &Stage<'_>, change: EtcdChange) -> Result<Between, ConformError> {
    let since = Instant::now();
    stage.cluster.change(change)?;
    stage.cluster.settle()?;
    let leader = stage.cluster.leader()?;
    let write = EtcdCall::Delete(fencepost_etcd::mvcc::DeleteRange { key: super::marked("z"), ..Default::default() });
    stage.ask(leader, &write)?;
    Ok(Between { since, until: Instant::now() })
}

/// Whether the key of the lease goes when it should.
fn judge(stage: &Stage<'_>, rule: &'static str, when: &str, promoted: Between) -> Result<LeaderRule, ConformError> {
    let place = stage.cluster.leader()?;
    let gone = loop {
        let since = Instant::now();
        if !stage.is_there(place)? {
            break Between { since, until: Instant::now() };
        }
        if between(promoted.until, since) > 3 * (ELECTION_MS + TTL_MS) + stage.lateness {
            break Between { since, until: since };
        }
        sleep(LOOK);
    };
    // It was there when the look before began, a period and an answer ago.
    let there = between(promoted.until, gone.since)
        - between(gone.since, gone.until)
        - 2 * i64::try_from(LOOK.as_millis()).unwrap_or(0);
    let earliest = between(promoted.since, gone.until);
    let is_so = earliest >= ELECTION_MS + TTL_MS && there <= ELECTION_MS + TTL_MS + SCAN_MS + stage.lateness;
    // A promotion that is known less exactly than the lease lives says nothing.
    let is_known = between(promoted.since, promoted.until) < TTL_MS;
    let open = if is_known { "" } else { "; the change took too long to decide it" };
    let latest = between(promoted.until, gone.since);
    let seen = format!("{when} a lease of {TTL} s is gone {latest} to {earliest} ms after the promotion{open}");
    stage.end()?;
    Ok(LeaderRule { rule, seen, is_so: if is_so && !is_known { None } else { Some(is_so) } })
}
