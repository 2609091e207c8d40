//! How soon the dead are noticed, and how often the living are taken for dead.

use super::pool::Pool;
use super::{DetectorSettings, Node};
use crate::curve::Curve;
use crate::random::{Concern, Stream};

/// A pool without any lock: some of its members stop now and then, then one crashes, and another one leaves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trial {
    /// What members do, and their network.
    pub gossip: DetectorSettings,
    /// How many there are; at least 3.
    pub members: u16,
    /// How many of them stop now and then, as an overloaded machine does.
    pub slow: u16,
    /// For how long, in milliseconds.
    pub stall: Curve,
    /// How long until the next time.
    pub stall_every: Curve,
    /// For how long the living are watched before the crash, in milliseconds.
    pub watch: i64,
}

/// What one seed has shown; times in milliseconds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TrialOutcome {
    /// From the crash until the first member gave the crashed one up, until the first server did, and until all did; none: not
    /// within ten minutes.
    pub detected: [Option<i64>; 3],
    /// From the good-bye of another member until the first server knew.
    pub left: Option<i64>,
    /// How often a member took one for dead that was there, up to the crash; and how often it was one that never stopped.
    pub mistakes: [u64; 2],
    /// For how long members were watched by others, up to the crash: pairs times milliseconds.
    pub watched: u64,
}

/// How long it is waited for a verdict.
const PATIENCE: i64 = 600_000;

/// One run of it.
///
/// # Panics
/// There are fewer than three members, or no more than slow ones and two.
pub fn trial(trial: &Trial, seed: u64) -> TrialOutcome {
    let Trial { members, slow, .. } = *trial;
    assert!(
        members >= 3 && slow + 3 <= members.max(3),
        "a trial needs three members: one watches, one crashes, one leaves"
    );
    let mut pool = Pool::new(&trial.gossip, usize::from(members), Stream::new(seed, Concern::Detector));
    let mut outcome = TrialOutcome::default();
    watch(trial, &mut pool, seed, &mut outcome);
    let (dead, leaver) = (1, 2);
    let others = || (0..members).filter(|member| *member != dead);
    // A member that is wrong about it at the moment would notice nothing. If the network is too bad for that to pass, no member
    // notices a crash: all are given up anyway.
    let at = pool.now();
    while others().any(|member| pool.has_given_up(member, dead)) {
        if pool.now() >= at + PATIENCE {
            return outcome;
        }
        pool.step();
    }
    while pool.next_change().is_some() {}
    let at = pool.now();
    pool.crash(dead);
    while pool.now() < at + PATIENCE && outcome.detected.contains(&None) {
        pool.step();
        while let Some(change) = pool.next_change() {
            if change.about == dead && change.is_gone() {
                let after = Some(pool.now() - at);
                outcome.detected[0] = outcome.detected[0].or(after);
                if change.by == 0 {
                    outcome.detected[1] = outcome.detected[1].or(after);
                }
                if others().all(|member| pool.has_given_up(member, dead)) {
                    outcome.detected[2] = after;
                }
            }
        }
    }
    let at = pool.now();
    pool.leave(leaver);
    while pool.now() < at + PATIENCE && outcome.left.is_none() {
        pool.step();
        while let Some(change) = pool.next_change() {
            if change.about == leaver && change.by == 0 && change.is_gone() {
                outcome.left = Some(pool.now() - at);
            }
        }
    }
    outcome
}

/// The slow ones are the last; they stop each by itself.
fn watch(trial: &Trial, pool: &mut Pool, seed: u64, outcome: &mut TrialOutcome) {
    let mut stalls = Stream::new(seed, Concern::Stalls);
    let first_slow = trial.members - trial.slow;
    let mut next: Vec<(i64, Node)> = Vec::new();
    for node in first_slow..trial.members {
        next.push((trial.stall_every.draw(1000, &mut stalls).count(), node));
    }
    while pool.now() < trial.watch {
        let stall = next.iter_mut().min().filter(|(at, _)| *at < trial.watch);
        let until = stall.as_ref().map_or(trial.watch, |(at, _)| *at);
        pool.advance(until);
        if let Some((at, node)) = stall {
            let over = *at + trial.stall.draw(1000, &mut stalls).count();
            pool.sleep(*node, over, *at);
            *at = over + 1 + trial.stall_every.draw(1000, &mut stalls).count();
        }
        while let Some(change) = pool.next_change() {
            if change.is_failed() {
                outcome.mistakes[0] += 1;
                outcome.mistakes[1] += u64::from(change.about < first_slow);
            }
        }
    }
    let pairs = u64::from(trial.members) * u64::from(trial.members - 1);
    outcome.watched = pairs * trial.watch.unsigned_abs();
}
