//! Scenarios that are wider than a question: what is proven there is kept. Each quantity is rounded to the side that hurts, and
//! here stands why that side does, and why the scenario is allowed to be so small.
//!
//! Common to all: a longer message delay or wake-up delay only adds executions, and so do servers that wait for a shorter time,
//! because their deadlines have no bound on lateness. Guards are closed and constants whole, so whole instants are enough
//! (Henzinger, Manna, Pnueli 1992).

use fencepost_model::units::Duration;

use super::coarse::{Ends, Keeping, Lease, LockScenario, Told};
use super::question::{LockBelief, LockQuestion};
use crate::asked;
use crate::promise::Promise;
use crate::rounding::{FINEST, down, sum, tick_of, times, up};

type InTicks = asked::InTicks<LockScenario>;

/// The most ticks until the key is free in a scenario of two clients without writes.
const LEASE_TICKS_MAX: i64 = 120;

/// The most ticks of a message in a scenario of two clients that are told.
const TOLD_TICKS_MAX: i64 = 16;

/// The most ticks of a TTL in a scenario of one client.
const KEEPING_TICKS_MAX: i64 = 120;

/// For each kind of wider scenario the coarsest one that looks as if it proved the promise: a formula chooses the tick, and the
/// checker gives the verdict. Where no tick looks so, there is none.
pub(crate) fn candidates(question: &LockQuestion, promise: Promise) -> Vec<InTicks> {
    let mut found = Vec::new();
    let free = |scenario| InTicks { scenario, tick: FINEST };
    if promise == Promise::NoLostUpdate && question.fencing {
        return vec![free(LockScenario::Fenced)];
    }
    if promise == Promise::KeepsLock {
        found.extend(keeping(question, question.belief == LockBelief::SelfLimiting));
        return found;
    }
    if !question.false_alarm {
        match question.ttl {
            None => found.push(free(LockScenario::Endless)),
            Some(_) => found.extend(keeping(question, false)),
        }
    }
    found.extend(lease(question, promise));
    found.extend(told(question, promise));
    found
}

/// **A lease.** Suppose an execution in which B enters, or has entered, while self-limiting A is inside, and A was granted the
/// key first. Let A have sent its last acknowledged create or renew request at s; the server handled it at p >= s. A's lease ends
/// TTL after s on A's own clock, which is late by at most `drift` of the TTL, and A stops `pause` after that at the latest. Its
/// session ends by TTL not before p + `multiplier` x TTL, and the key is free `lock_delay` later; or, where gossip may be wrong, it
/// ends at any time, and the key is free `lock_delay` later.
///
/// Then there is an execution of the small scenario that breaks the promise: A creates its session at p, acquires and enters in the
/// same instant; it is inside at least until it was, for p >= s. B creates its session and acquires in the instant in which it was
/// granted the key, and enters at once, no later than it did. So renewals, earlier attempts, earlier rounds and the time that
/// messages take change nothing. A monitor, or the answer to a renewal, can only make A leave sooner.
///
/// Of the times only three matter: how long A stays, when the key is free after a TTL, and how long the lock-delay is after a false
/// alarm. So the tick may be any: the sum of lease and lateness is rounded up (A stays for longer), that of `multiplier` x TTL and lock-delay
/// is rounded down, and then the lock-delay is what is left of it; where gossip may be wrong, it is never more than it was, rounded down. If
/// that many TTLs of the rounded lease do not fit into the sum, as with slow clocks and no lock-delay, the TTL is what fits. The lease beside
/// it counts as lateness: A may then be inside for as long as it was, and the key is free no later than it was.
///
/// **Slots.** A semaphore of n slots is broken when a client B enters while n others are inside. B's compare-and-set has counted at most
/// n - 1 holders, so one of the n had been pruned, or had not been counted: its session had ended when B listed the contenders
/// (C-SEM-4), for a holder's contender key is there as long as its session. Call this one A. The small scenario, a lock without
/// lock-delay, has that execution of A and B: B acquires at any time from the end of A's session on, and the others take no part. So one
/// lock without lock-delay stands for every number of slots: EQ-5.
///
/// **Writes.** A write is sent within the lease and arrives at most `message` later, which counts as staying: if an earlier holder's
/// write is accepted after a later holder was granted the key, then the later one enters the small scenario while the earlier one
/// stays there. A **job** that has to be killed stays on for its grace, which may be late as well, and is taken to write all the while.
fn lease(question: &LockQuestion, promise: Promise) -> Option<InTicks> {
    let ttl = question.ttl.filter(|_| question.belief == LockBelief::SelfLimiting)?;
    let lease = sum(ttl, question.drift.of(ttl));
    let mut stay = match promise {
        Promise::NoLostUpdate => question.message(),
        _ => question.pause,
    };
    if question.grace > Duration::ZERO {
        stay = sum(sum(stay, question.pause), sum(question.grace, question.drift.of(question.grace)));
    }
    let multiplier = question.ttl_multiplier;
    let free = sum(times(ttl, multiplier.into()), question.delay());
    // What A must not outlast is a whole number of ticks, so only its stay is rounded.
    let granted = if question.false_alarm { question.delay() } else { free };
    let sized = |count: i64| {
        let tick = times(FINEST, (down(granted, FINEST) / count).max(1));
        let stays = up(sum(lease, stay), tick);
        let free = down(free, tick);
        let ttl = up(lease, tick).min(free / i64::from(multiplier)).max(1);
        let left = free - ttl * i64::from(multiplier);
        let scenario = Lease {
            ttl,
            multiplier,
            delay: if question.false_alarm { left.min(down(question.delay(), tick)) } else { left },
            stay: stays - ttl,
            write: None,
            alarm: question.false_alarm,
            slot: false,
        };
        (scenario, tick)
    };
    let looks_safe = |scenario: &Lease| {
        let granted =
            if scenario.alarm { scenario.delay } else { scenario.ttl * i64::from(multiplier) + scenario.delay };
        scenario.delay >= 0 && scenario.ttl + scenario.stay < granted
    };
    let (scenario, tick) = (1..=LEASE_TICKS_MAX).map(sized).find(|(scenario, _)| looks_safe(scenario))?;
    Some(InTicks { scenario: LockScenario::Lease(scenario), tick })
}

/// **Being told.** What a client hears of its session does not matter here, only what its monitor hears: `by-monitor` clients ignore
/// the rest, and self-limiting ones can only leave sooner by it. So TTL and renewals are left out, and a session may end at any time,
/// which has every way in which it can end. One end is enough: that of the session that was granted the key first. Each client
/// makes one attempt, which is the one that succeeded, with a session of its own that is as new as it likes; and there is no other
/// change of the key by which a monitor would be answered.
///
/// Lateness is rounded up and the lock-delay down. A **write** that is under way counts as a job that is still being killed. Where
/// there is no job, the only deadline is the next attempt of a refused client, and it need not be late.
fn told(question: &LockQuestion, promise: Promise) -> Option<InTicks> {
    if !question.has_monitor() {
        return None;
    }
    let message = question.message();
    let counts_writes = promise == Promise::NoLostUpdate;
    let sized = |count: i64| {
        let tick = if message == Duration::ZERO { tick_of(question.delay(), count) } else { tick_of(message, count) };
        let message = up(message, tick);
        let has_job = question.grace > Duration::ZERO;
        let killing = sum(question.grace, question.drift.of(question.grace));
        let grace = up(killing, tick) + if counts_writes { message } else { 0 };
        let scenario = Told {
            ends: Ends::Anytime,
            delay: down(question.delay(), tick),
            message,
            wake: if has_job { up(question.pause, tick) } else { 0 },
            grace: (grace > 0).then_some(grace),
            writes: false,
            slot: false,
        };
        (scenario, tick)
    };
    let looks_safe = |scenario: &Told| {
        let killed = scenario.grace.map_or(0, |grace| grace + scenario.wake);
        3 * scenario.message + killed < scenario.delay
    };
    let (scenario, tick) = (1..=TOLD_TICKS_MAX).map(sized).find(|(scenario, _)| looks_safe(scenario))?;
    Some(InTicks { scenario: LockScenario::Told(scenario), tick })
}

/// **Keeping the session.** Where no session of a client that lives expires, and nothing else ends one, no lock is taken away from
/// a holder: it gives it up itself, after it has stopped and after its writes are acknowledged. So this proves the other promises as
/// well. What a client renews does not depend on what others do; so one is enough, which never gives up the lock by itself.
///
/// A renewal goes out between `renew_every` and that plus drift and a pause after the last one. In ticks it is due no later and sent
/// as late: each instant in between is possible. Messages are rounded up, the TTL down: on either side it runs out sooner.
fn keeping(question: &LockQuestion, counts: bool) -> Option<InTicks> {
    let ttl = question.ttl?;
    let sized = |count: i64| {
        // The TTL is rounded down: a tick that divides it is best, and one a little shorter nearly so.
        let tick = times(FINEST, (down(ttl, FINEST) / count).max(1));
        let renew = question.renew_every.map(|period| down(period, tick).max(1));
        let latest = question.renew_every.map(|period| sum(sum(period, question.drift.of(period)), question.pause));
        let wake = latest.map_or(0, |latest| up(latest, tick)) - renew.unwrap_or(0);
        let scenario = Keeping {
            ttl: down(ttl, tick),
            multiplier: question.ttl_multiplier,
            renew,
            wake: wake.max(up(question.pause, tick)),
            message: up(question.message(), tick),
            counts,
        };
        // A period shorter than a tick cannot be rounded down.
        let is_fine = question.renew_every.is_none_or(|period| period >= tick);
        (scenario, tick, is_fine)
    };
    let looks_safe = |scenario: &Keeping| {
        let Some(renew) = scenario.renew else { return false };
        let (round_trip, late) = (2 * scenario.message, scenario.wake);
        let lasts = if scenario.counts { scenario.ttl } else { scenario.ttl * i64::from(scenario.multiplier) };
        let gap =
            if scenario.counts { renew.max(round_trip) + late + 2 * round_trip } else { renew + late + round_trip };
        gap < lasts
    };
    let sizes = (2..=KEEPING_TICKS_MAX).map(sized).filter(|(scenario, ..)| scenario.is_small());
    let (scenario, tick, _) = sizes.into_iter().find(|(scenario, _, is_fine)| *is_fine && looks_safe(scenario))?;
    Some(InTicks { scenario: LockScenario::Keeping(scenario), tick })
}
