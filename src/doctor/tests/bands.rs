//! How wide the band is in which neither side is shown: between the farthest value with a proof and the nearest with an execution.

use fencepost_doctor::{Asked as _, Boundary, Doctor, LockBelief, LockQuestion, Promise, QuantityValue};
use fencepost_model::units::{Duration, PartsPerMillion};

use crate::random::{Random, count, first};

fn tenths(count: i64) -> Duration {
    Duration::of_nanoseconds(count * 100_000_000)
}

/// Random settings as they are in the field: a TTL that Consul takes, renewed after half of it, and bounds of a network.
fn settings(seed: u64) -> LockQuestion {
    let mut random = Random(seed);
    let ttl = random.within(100..=600);
    let mut question = LockQuestion::of_recipe("go-lock").expect("it is known");
    question.ttl = Some(tenths(ttl));
    question.renew_every = Some(tenths(ttl / 2));
    let delays = [0, 150, random.within(0..=600)];
    question.lock_delay = tenths(random.one_of(&delays));
    let pauses = [0, random.within(0..=ttl)];
    question.pause = tenths(random.one_of(&pauses));
    question.latency = tenths(random.within(1..=10));
    question.belief = random.one_of(&[LockBelief::SelfLimiting, LockBelief::ByMonitor]);
    question.drift = PartsPerMillion(random.one_of(&[0, 200]));
    question
}

/// How wide the band of a boundary is, in thousandths of the TTL; none for drift, which is no duration.
fn width(boundary: &Boundary, question: &LockQuestion) -> Option<i64> {
    let of = |value: QuantityValue| match value {
        QuantityValue::Duration(duration) => Some(duration.nanoseconds()),
        QuantityValue::Rate(_) => None,
    };
    let (kept, other) = (of(boundary.kept)?, of(boundary.broken.unwrap_or(boundary.tried_to))?);
    Some((other - kept).abs() * 1_000 / question.ttl.expect("it has one").nanoseconds())
}

#[test]
#[ignore = "minutes: 200 settings with all boundaries; .ci/long has it"]
fn the_band_that_is_unknown_is_measured_by_hand() {
    let (mut narrow, mut all) = (0, 0);
    for seed in first()..first() + count(200) {
        let question = settings(seed);
        let mut doctor = Doctor::default();
        let mut widest = 0;
        println!("seed {seed}: {question:?}");
        for promise in question.promises().iter().copied() {
            let verdict = doctor.judge(&question, promise).expect("no internal error");
            if verdict.is_kept() {
                for boundary in doctor.boundaries(&question, promise).expect("no internal error") {
                    let Some(width) = width(&boundary, &question) else { continue };
                    if width > 50 {
                        println!(
                            "seed {seed}: {promise}: {} {:?}: {width} of 1,000 of the TTL: {boundary:?}",
                            boundary.quantity.name(),
                            boundary.direction
                        );
                    }
                    widest = widest.max(width);
                }
            } else if !verdict.is_broken() {
                println!("seed {seed}: {promise}: {verdict:?}");
                widest = widest.max(1_000);
            }
        }
        all += 1;
        narrow += u64::from(widest <= 50);
    }
    println!("{narrow} of {all} settings have no band wider than 5 % of the TTL");
    assert!(narrow * 10 >= all * 9, "{narrow} of {all}");
}

/// Clocks that are slower make a lease longer than the TTL that the server waits for; without a lock-delay that is still a proof.
#[test]
fn slow_clocks_and_no_lock_delay_are_judged() {
    let mut doctor = Doctor::default();
    let question = LockQuestion {
        ttl: Some(tenths(221)),
        renew_every: Some(tenths(111)),
        lock_delay: Duration::ZERO,
        belief: LockBelief::SelfLimiting,
        drift: PartsPerMillion(200),
        ..LockQuestion::of_recipe("go-lock").expect("it is known")
    };
    let mut judge = |pause| {
        let asked = LockQuestion { pause: tenths(pause), ..question.clone() };
        doctor.judge(&asked, Promise::MutualExclusion).expect("no internal error")
    };
    // EQ-3: r T + w < 2 T, and the pause is too long for renewals to keep the session.
    assert!(judge(210).is_kept(), "{:?}", judge(210));
    assert!(judge(221).is_broken(), "{:?}", judge(221));
}

/// A client that hears late of its session begins late to renew it.
#[test]
fn a_session_that_is_heard_of_late_expires() {
    let mut doctor = Doctor::default();
    let question = LockQuestion {
        ttl: Some(tenths(265)),
        renew_every: Some(tenths(132)),
        lock_delay: Duration::ZERO,
        pause: tenths(140),
        latency: tenths(2),
        ..LockQuestion::of_recipe("go-lock").expect("it is known")
    };
    let verdict = doctor.judge(&question, Promise::MutualExclusion).expect("no internal error");
    assert!(verdict.is_broken(), "{verdict:?}");
    // A renewal that is due after the lease is over, in clients that never stand still.
    let late = LockQuestion {
        renew_every: Some(tenths(600)),
        pause: Duration::ZERO,
        belief: LockBelief::SelfLimiting,
        ..question
    };
    let verdict = doctor.judge(&late, Promise::KeepsLock).expect("no internal error");
    assert!(verdict.is_broken(), "{verdict:?}");
}
