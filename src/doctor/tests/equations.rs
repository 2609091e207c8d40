//! The equations EQ-1 to EQ-5 of the corpus of hazards, and what follows from the rules of Consul for a monitor and for renewals,
//! against verdicts on random settings. The doctor does not know these equations but for choosing ticks: a wrong verdict would
//! show here.

use std::collections::BTreeMap;

use fencepost_doctor::{
    Asked as _, Doctor, Execution, LockBelief, LockQuestion, LockScenario, Price, Promise, Verdict,
};
use fencepost_model::trace::tell;
use fencepost_model::units::{Duration, PartsPerMillion};

use crate::random::{Random, count, first};

/// Random settings: multiples of a tenth of a second.
fn settings(seed: u64) -> LockQuestion {
    let mut random = Random(seed);
    let tenths = |count: i64| Duration::of_nanoseconds(count * 100_000_000);
    let ttl = random.within(10..=300);
    let delays = [0, random.within(0..=600), random.within(0..=ttl)];
    let pauses = [0, random.within(0..=ttl), random.within(0..=3 * ttl)];
    let latencies = [0, random.within(0..=5), random.within(0..=ttl)];
    let mut question =
        LockQuestion::of_recipe(random.one_of(&["go-lock", "go-lock", "lock-command"])).expect("it is known");
    question.ttl = Some(tenths(ttl));
    question.ttl_multiplier = random.one_of(&[1, 2, 2, 2]);
    question.lock_delay = tenths(random.one_of(&delays));
    question.renew_every = Some(tenths(random.within(1..=ttl)));
    question.belief = random.one_of(&[LockBelief::SelfLimiting, LockBelief::SelfLimiting, LockBelief::ByMonitor]);
    question.pause = tenths(random.one_of(&pauses));
    question.latency = tenths(random.one_of(&latencies));
    question.drift = PartsPerMillion(random.one_of(&[0, 200, 50_000, 500_000]));
    question.false_alarm = random.within(0..=3) == 0;
    if random.within(0..=3) == 0 {
        question.slots = Some(random.one_of(&[1, 2, 3, 7]));
    }
    question
}

/// What the equations say, in nanoseconds: safe by a lease, by being told, or because no session ends.
struct Equations {
    by_lease: bool,
    by_being_told: bool,
    never_ends: bool,
    /// Without drift, which only makes it worse: if not even that is safe, it is broken.
    without_drift: bool,
}

fn equations(question: &LockQuestion, promise: Promise) -> Equations {
    let of = |duration: Duration| i128::from(duration.nanoseconds());
    let (ttl, period) = (question.ttl.expect("it has one"), question.renew_every.expect("it has one"));
    let drift = of(question.drift.of(ttl));
    let multiplier = i128::from(question.ttl_multiplier);
    // EQ-5: the lock-delay protects no slot.
    let delay = if question.slots.is_some() { 0 } else { of(question.lock_delay) };
    let message = of(question.message());
    let killing = of(question.grace);
    let slow_killing =
        killing + of(question.drift.of(question.grace)) + if killing > 0 { of(question.pause) } else { 0 };
    let late = if promise == Promise::NoLostUpdate { message } else { of(question.pause) };
    // EQ-3: r x T + w < m x T + D. EQ-4: the remaining belief + w < D.
    let free = if question.false_alarm { delay } else { multiplier * of(ttl) + delay };
    let is_lease = question.belief == LockBelief::SelfLimiting;
    // The answer that it has the key, the query and its answer: each may be late.
    let writes = if promise == Promise::NoLostUpdate { message } else { 0 };
    let gap = of(period) + of(question.drift.of(period)) + of(question.pause) + 2 * message;
    Equations {
        by_lease: is_lease && of(ttl) + drift + late + slow_killing < free,
        by_being_told: 3 * message + writes + slow_killing < delay,
        never_ends: !question.false_alarm && gap < multiplier * of(ttl),
        without_drift: is_lease && of(ttl) + late + killing < free,
    }
}

/// EQ-1 in an execution: where only the TTL ends sessions, what one held is granted to another client not before m T + D after its last
/// renewal.
fn granted_in_time(question: &LockQuestion, execution: &Execution<LockQuestion>) {
    if question.false_alarm {
        return;
    }
    let ttl = question.ttl.expect("it has one");
    let delay = if question.slots.is_some() { Duration::ZERO } else { question.lock_delay };
    let wait = ttl.nanoseconds() * i64::from(question.ttl_multiplier) + delay.nanoseconds();
    // The last renewal of each session, the newest session of each client, and the session that holds.
    let mut renewals: BTreeMap<String, i64> = BTreeMap::new();
    let mut newest: BTreeMap<String, String> = BTreeMap::new();
    let (mut holder, mut grants) = (None, 0);
    for step in tell(&execution.trace).steps {
        for fact in &step.facts {
            let session = fact.strip_prefix("the TTL of session ").and_then(|rest| rest.strip_suffix(" starts"));
            if let Some(session) = session {
                let creator = session.split('.').next().expect("it has a part");
                renewals.insert(session.to_owned(), step.at);
                newest.insert(format!("client {creator}"), session.to_owned());
            }
            let grant = [" acquires the lock", " takes a slot"].iter().find_map(|what| Some(fact.split_once(what)?.0));
            let Some(session) = grant.and_then(|client| newest.get(client)) else { continue };
            if let Some(before) = holder.replace(session.clone()).filter(|before| before != session) {
                let since = (step.at - renewals[&before]) * 1_000;
                assert!(
                    since >= wait,
                    "granted {since} ns after the last renewal of {before}, before {wait}: {question:?}"
                );
                grants += 1;
            }
        }
    }
    assert!(grants > 0, "an execution that breaks a promise has two grants: {question:?}");
}

/// No unsafe setting is called safe, and no safe one broken.
fn judged_rightly(question: &LockQuestion, promise: Promise, verdict: &Verdict<LockQuestion>) {
    let equations = equations(question, promise);
    match verdict {
        Verdict::Kept(proof) => {
            let is_true = match proof.sized.scenario {
                LockScenario::Lease(_) => equations.by_lease,
                LockScenario::Told(_) => equations.by_being_told,
                LockScenario::Keeping(_) => equations.never_ends,
                LockScenario::Fenced | LockScenario::Endless => panic!("no question leads to {}", proof.sized.scenario),
            };
            assert!(
                is_true,
                "{promise} is called kept by {}, and the equations say otherwise: {question:?}",
                proof.sized.scenario
            );
        }
        Verdict::Broken(execution) => {
            granted_in_time(question, execution);
            let is_safe =
                equations.by_lease && equations.without_drift || equations.by_being_told || equations.never_ends;
            // EQ-2: a client that waits to be told is broken only if it may hear of it as late as what it held is free.
            assert!(!is_safe, "{promise} is called broken, and the equations say that it is safe: {question:?}");
        }
        Verdict::Unknown { .. } => {}
    }
}

#[test]
fn no_unsafe_setting_is_called_safe_and_no_safe_one_broken() {
    let mut doctor = Doctor::default();
    let (mut kept, mut broken, mut unknown) = (0, 0, 0);
    for seed in first()..first() + count(40) {
        let question = settings(seed);
        question.validate().unwrap_or_else(|mistake| panic!("{mistake}: {question:?}"));
        for promise in question.promises().iter().copied().filter(|promise| *promise != Promise::KeepsLock) {
            let verdict = doctor.judge(&question, promise).expect("no internal error");
            judged_rightly(&question, promise, &verdict);
            match verdict {
                Verdict::Kept(_) => kept += 1,
                Verdict::Broken(_) => broken += 1,
                Verdict::Unknown { why } => {
                    println!("seed {seed}: {promise} is unknown: {why}: {question:?}");
                    unknown += 1;
                }
            }
        }
    }
    println!("{kept} kept, {broken} broken, {unknown} unknown; {:?} scenarios and states", doctor.effort());
    assert!(kept > 0 && broken > 0, "{kept} kept, {broken} broken, {unknown} unknown");
    assert!(unknown * 2 < kept + broken, "{kept} kept, {broken} broken, {unknown} unknown");
}

/// Closed guards: at equality both can be inside at one instant. One step on the safe side of it is kept.
#[test]
fn a_tie_is_broken_and_a_tenth_of_the_ttl_less_is_kept() {
    let mut doctor = Doctor::default();
    let seconds = Duration::of_seconds;
    for (ttl, delay, pause, less) in [(15, 15, 30, 29), (10, 0, 10, 9), (10, 20, 30, 29), (12, 6, 18, 17)] {
        let question = LockQuestion {
            ttl: Some(seconds(ttl)),
            renew_every: Some(Duration::of_nanoseconds(ttl * 500_000_000)),
            lock_delay: seconds(delay),
            pause: seconds(pause),
            belief: LockBelief::SelfLimiting,
            ..LockQuestion::of_recipe("go-lock").expect("it is known")
        };
        let tie = doctor.judge(&question, Promise::MutualExclusion).expect("no internal error");
        assert!(tie.is_broken(), "T = {ttl}, D = {delay}, w = {pause}: {tie:?}");
        let below = LockQuestion { pause: seconds(less), ..question };
        let verdict = doctor.judge(&below, Promise::MutualExclusion).expect("no internal error");
        assert!(verdict.is_kept(), "T = {ttl}, D = {delay}, w = {less}: {verdict:?}");
    }
}

/// EQ-5: r T + w < m T, for each number of slots, and a false alarm breaks every setting. The lock-delay changes nothing.
#[test]
fn a_slot_is_free_at_once_whatever_the_lock_delay_is() {
    let mut doctor = Doctor::default();
    let seconds = Duration::of_seconds;
    for (slots, ttl, pause, less) in [(1, 15, 15, 14), (2, 10, 10, 9), (3, 12, 12, 11)] {
        let question = LockQuestion {
            slots: Some(slots),
            ttl: Some(seconds(ttl)),
            renew_every: Some(Duration::of_nanoseconds(ttl * 500_000_000)),
            lock_delay: seconds(60),
            pause: seconds(pause),
            belief: LockBelief::SelfLimiting,
            ..LockQuestion::of_recipe("go-lock").expect("it is known")
        };
        let mut judge =
            |question: &LockQuestion| doctor.judge(question, Promise::SlotLimit).expect("no internal error");
        let tie = judge(&question);
        let Verdict::Broken(execution) = &tie else { panic!("T = {ttl}, w = {pause}: {tie:?}") };
        assert_eq!(execution.trace.header.scenario.system, "consul-semaphore", "it is an execution of a semaphore");
        assert_eq!(Price::of(&question).failover, Some(seconds(2 * ttl)), "EQ-1 with D = 0");
        let below = LockQuestion { pause: seconds(less), ..question };
        let verdict = judge(&below);
        assert!(verdict.is_kept(), "T = {ttl}, w = {less}: {verdict:?}");
        assert!(
            judge(&LockQuestion { false_alarm: true, ..below.clone() }).is_broken(),
            "EQ-4 and EQ-5: nothing is less than 0"
        );
        let told = judge(&LockQuestion { belief: LockBelief::ByMonitor, ..below });
        assert!(!told.is_kept(), "no lock-delay gives the monitor time: {told:?}");
    }
}
