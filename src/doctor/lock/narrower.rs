//! Scenarios in which a counterexample is sought. Each quantity is rounded to the side that does not hurt, so that what happens there
//! can happen in seconds, too; the exact scenario has the last word on that.

use fencepost_model::units::Duration;

use super::coarse::{Ends, Keeping, Lease, LockScenario, Told};
use super::question::{LockBelief, LockQuestion};
use crate::asked;
use crate::promise::Promise;
use crate::rounding::{down, sum, tick_of, up};

type InTicks = asked::InTicks<LockScenario>;

/// The maximum TTL in ticks where no client writes.
const LEASE_TICKS_MAX: i64 = 45;

/// The maximum TTL in ticks where clients write: all messages may be late then.
const WRITING_TICKS_MAX: i64 = 5;

/// The most ticks of a message.
const TOLD_TICKS_MAX: i64 = 8;

/// The most ticks of a TTL in a scenario of one client.
const KEEPING_TICKS_MAX: i64 = 120;

/// For each kind of narrower scenario the coarsest one that looks as if it broke the promise.
pub(crate) fn candidates(question: &LockQuestion, promise: Promise) -> Vec<InTicks> {
    match promise {
        Promise::NoLostUpdate if question.fencing => Vec::new(),
        Promise::KeepsLock => keeping(question, false).into_iter().chain(keeping(question, true)).collect(),
        _ => {
            let tied = tied(question, promise);
            lease(question, promise).into_iter().chain(tied).chain(told(question, promise)).collect()
        }
    }
}

fn lease(question: &LockQuestion, promise: Promise) -> Option<InTicks> {
    let ttl = question.ttl.filter(|_| question.belief == LockBelief::SelfLimiting)?;
    let writes = promise == Promise::NoLostUpdate;
    let multiplier = question.ttl_multiplier;
    let (lease, alarm, slot) = (ttl, question.false_alarm, question.slots.is_some());
    let sized = |count: i64| {
        let tick = tick_of(ttl, count);
        let ttl = up(ttl, tick);
        let latest = down(sum(sum(lease, question.pause), question.grace), tick);
        let delay = up(question.delay(), tick);
        // A write is held back, not the client.
        let (stay, write) = if writes { (0, Some(down(question.message(), tick))) } else { (latest - ttl, None) };
        (Lease { ttl, multiplier, delay, stay, write, alarm, slot }, tick)
    };
    let looks_broken = |scenario: &Lease| {
        let waits = if scenario.alarm { 0 } else { scenario.ttl * i64::from(multiplier) };
        scenario.stay >= 0 && scenario.ttl + scenario.stay + scenario.write.unwrap_or(0) >= waits + scenario.delay
    };
    let most = if writes { WRITING_TICKS_MAX } else { LEASE_TICKS_MAX };
    let (scenario, tick) = (1..=most).map(sized).find(|(scenario, _)| looks_broken(scenario))?;
    Some(InTicks { scenario: LockScenario::Lease(scenario), tick })
}

/// The most ticks of a lock-delay in a scenario that ties.
const TIED_TICKS_MAX: i64 = 4;

/// The smallest lease that is over in the very instant in which the key is free: a TTL of one tick, and a holder, or its write, that is
/// late by the rest. A tick of the lock-delay is no longer than one of the TTL, so that a client that created its session a tick before
/// the end has not lost its own lease. Whether the bounds allow so much lateness is left to the exact scenario, at the pace of the exact
/// durations.
fn tied(question: &LockQuestion, promise: Promise) -> Option<InTicks> {
    let tick = question.ttl.filter(|_| question.belief == LockBelief::SelfLimiting && !question.false_alarm)?;
    let multiplier = question.ttl_multiplier;
    let delay = up(question.delay(), tick).min(TIED_TICKS_MAX);
    let late = i64::from(multiplier) - 1 + delay;
    let (stay, write) = if promise == Promise::NoLostUpdate { (0, Some(late)) } else { (late, None) };
    let slot = question.slots.is_some();
    Some(InTicks {
        scenario: LockScenario::Lease(Lease { ttl: 1, multiplier, delay, stay, write, alarm: false, slot }),
        tick,
    })
}

fn told(question: &LockQuestion, promise: Promise) -> Option<InTicks> {
    let message = question.message();
    if question.belief != LockBelief::ByMonitor || message == Duration::ZERO && question.delay() > Duration::ZERO {
        return None;
    }
    let (writes, slot) = (promise == Promise::NoLostUpdate, question.slots.is_some());
    let sized = |count: i64| {
        let tick = if message == Duration::ZERO {
            tick_of(question.ttl.unwrap_or(Duration::of_seconds(1)), count)
        } else {
            tick_of(message, count)
        };
        let ends = match question.ttl {
            _ if question.false_alarm => Ends::ByAlarm,
            Some(ttl) => Ends::ByTtl(up(ttl, tick), question.ttl_multiplier),
            None => return None,
        };
        let grace = (question.grace > Duration::ZERO).then(|| up(question.grace, tick));
        let killed = down(sum(question.grace, question.pause), tick);
        let wake = killed - grace.unwrap_or(0);
        (wake >= 0).then_some((
            Told { ends, delay: up(question.delay(), tick), message: down(message, tick), wake, grace, writes, slot },
            tick,
        ))
    };
    let looks_broken = |scenario: &Told| {
        let killed = scenario.grace.map_or(0, |grace| grace + scenario.wake);
        let told = 3 * scenario.message + if writes { scenario.message } else { killed };
        told >= scenario.delay
    };
    let sizes = (1..=TOLD_TICKS_MAX).filter_map(sized);
    let (scenario, tick) = sizes.into_iter().find(|(scenario, _)| looks_broken(scenario))?;
    // A deadline matters only where a job is killed.
    let scenario = if scenario.grace.is_some() { scenario } else { Told { wake: 0, ..scenario } };
    Some(InTicks { scenario: LockScenario::Told(scenario), tick })
}

/// One client. A period that is no whole number of ticks has no lateness that is rounded down; `rounds` takes none instead, and
/// leaves it to the exact scenario.
fn keeping(question: &LockQuestion, rounds: bool) -> Option<InTicks> {
    let ttl = question.ttl?;
    let counts = question.belief == LockBelief::SelfLimiting;
    let sized = |count: i64| {
        let tick = tick_of(ttl, count);
        let renew = question.renew_every.map(|period| up(period, tick));
        let latest = question.renew_every.map(|period| sum(period, question.pause));
        let wake = match (latest, renew) {
            (Some(latest), Some(renew)) => down(latest, tick) - renew,
            _ => down(question.pause, tick),
        };
        let wake = if rounds { wake.max(0) } else { wake };
        let (multiplier, message) = (question.ttl_multiplier, down(question.message(), tick));
        (Keeping { ttl: up(ttl, tick), multiplier, renew, wake, message, counts }, tick)
    };
    let looks_broken = |scenario: &Keeping| {
        let Some(renew) = scenario.renew else { return scenario.wake >= 0 };
        let (round_trip, late) = (2 * scenario.message, scenario.wake);
        let lasts = if scenario.counts { scenario.ttl } else { scenario.ttl * i64::from(scenario.multiplier) };
        let gap =
            if scenario.counts { renew.max(round_trip) + late + 2 * round_trip } else { renew + late + round_trip };
        scenario.wake >= 0 && gap >= lasts
    };
    let sizes = (1..=KEEPING_TICKS_MAX).map(sized).filter(|(scenario, _)| scenario.is_small());
    let (scenario, tick) = sizes.into_iter().find(|(scenario, _)| looks_broken(scenario))?;
    Some(InTicks { scenario: LockScenario::Keeping(scenario), tick })
}
