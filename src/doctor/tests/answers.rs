//! Whole answers.

use fencepost_doctor::{
    Change, Direction, Doctor, LockBelief, LockQuestion, Price, Promise, Quantity, QuantityValue, Repair, Verdict,
};
use fencepost_model::trace::replay;
use fencepost_model::units::{Duration, PartsPerMillion};

fn duration(text: &str) -> Duration {
    text.parse().expect("a duration")
}

/// The settings of the README.
fn asked(belief: LockBelief) -> LockQuestion {
    LockQuestion {
        renews_at_half: false,
        pause: duration("20s"),
        latency: duration("200ms"),
        drift: PartsPerMillion(200),
        belief,
        ..LockQuestion::of_recipe("go-lock").expect("it is known")
    }
}

#[test]
fn the_go_lock_is_broken_by_long_pauses_and_a_client_that_counts_its_lease_is_not() {
    let mut doctor = Doctor::default();
    let question = asked(LockBelief::ByMonitor);
    let verdict = doctor.judge(&question, Promise::MutualExclusion).expect("no internal error");
    let Verdict::Broken(execution) = verdict else { panic!("{verdict:?}") };
    // The execution is in exact durations, and the model accepts each of its steps.
    let repeated = replay(&execution.trace).expect("it can be repeated");
    assert_eq!(repeated.header.scenario.service.ttl.expect("it has one").count(), 15_000_000);
    assert!(repeated.steps.last().is_some_and(|step| !step.violations.is_empty()));
    let repairs = doctor.repairs(&question, Promise::MutualExclusion).expect("no internal error");
    assert!(repairs.iter().any(|repair| repair.changes == [Change::Belief]), "{repairs:?}");
    // 60 s is the most that Consul grants, and not enough for an answer, a query and its answer that each take 20.2 s.
    let is_delay = |change: &Change| matches!(change, Change::Number { quantity: Quantity::LockDelay, .. });
    assert!(!repairs.iter().any(|repair| repair.changes.iter().any(is_delay)), "{repairs:?}");
}

#[test]
fn the_room_of_the_self_limiting_client_is_found_within_a_second() {
    let mut doctor = Doctor::default();
    let question = asked(LockBelief::SelfLimiting);
    let boundaries = doctor.boundaries(&question, Promise::MutualExclusion).expect("no internal error");
    let of = |quantity, direction| {
        let found = boundaries.iter().find(|boundary| (boundary.quantity, boundary.direction) == (quantity, direction));
        found.unwrap_or_else(|| panic!("no boundary of {quantity:?}"))
    };
    let seconds = |value: QuantityValue| match value {
        QuantityValue::Duration(duration) => duration.nanoseconds() as f64 / 1e9,
        QuantityValue::Rate(rate) => f64::from(rate.0),
    };
    // EQ-3: 15 s x 1.0002 + w < 30 s + D.
    let pause = of(Quantity::Pause, Direction::Up);
    let (kept, broken) = (seconds(pause.kept), seconds(pause.broken.expect("it breaks")));
    assert!(kept < 29.997 && broken >= 29.997 && broken - kept <= 1.0, "{pause:?}");
    let delay = of(Quantity::LockDelay, Direction::Down);
    let (kept, broken) = (seconds(delay.kept), seconds(delay.broken.expect("it breaks")));
    assert!(kept > 5.003 && broken <= 5.003 && kept - broken <= 1.0, "{delay:?}");
    // Latency has no part in it.
    assert_eq!(of(Quantity::Latency, Direction::Up).broken, None);
}

#[test]
fn a_false_alarm_needs_a_lock_delay_longer_than_the_lease() {
    let mut doctor = Doctor::default();
    let question = LockQuestion {
        pause: duration("1s"),
        false_alarm: true,
        belief: LockBelief::SelfLimiting,
        // Without the monitor's help: the answer and the query may take so long.
        latency: duration("20s"),
        ..LockQuestion::of_recipe("go-lock").expect("it is known")
    };
    let of = |delay: &str| LockQuestion { lock_delay: duration(delay), ..question.clone() };
    let mut judge = |delay: &str| doctor.judge(&of(delay), Promise::MutualExclusion).expect("no internal error");
    assert!(judge("17s").is_kept() && judge("16s").is_broken(), "EQ-4: 15 s + 1 s < D");
}

#[test]
fn a_holder_is_kept_if_renewals_arrive_in_time() {
    let mut doctor = Doctor::default();
    let of = |period: &str, pause: &str| LockQuestion {
        renew_every: Some(duration(period)),
        pause: duration(pause),
        latency: duration("200ms"),
        ..LockQuestion::of_recipe("go-lock").expect("it is known")
    };
    let mut judge =
        |period: &str, pause: &str| doctor.judge(&of(period, pause), Promise::KeepsLock).expect("no internal error");
    // Two renewals of which the first waits: 7.5 s + 2 x 2.2 s + 2 s is less than 30 s.
    assert!(judge("7.5s", "2s").is_kept());
    assert!(judge("7.5s", "20s").is_broken());
    assert!(judge("31s", "0s").is_broken());
}

/// The price says for how long a live holder may stand still. It is arithmetic: the checker finds an execution where it is that long.
#[test]
fn a_false_expiry_takes_as_long_as_the_price_says() {
    for (ttl, renew, latency, stall) in [("15s", "7.5s", "0s", "22.5s"), ("10s", "2s", "500ms", "17.5s")] {
        let asked = LockQuestion {
            ttl: Some(duration(ttl)),
            renew_every: Some(duration(renew)),
            latency: duration(latency),
            drift: PartsPerMillion::default(),
            pause: duration(stall),
            ..asked(LockBelief::ByMonitor)
        };
        assert_eq!(Price::of(&asked).stall, Some(duration(stall)), "{ttl}");
        let mut doctor = Doctor::default();
        let lost = doctor.judge(&asked, Promise::KeepsLock).expect("no internal error");
        assert!(lost.is_broken(), "{ttl}: {lost:?}");
        let short = LockQuestion { pause: duration("1s"), ..asked };
        let kept = doctor.judge(&short, Promise::KeepsLock).expect("no internal error");
        assert!(kept.is_kept(), "{ttl}: {kept:?}");
    }
    let seldom = LockQuestion { renew_every: Some(duration("31s")), ..asked(LockBelief::ByMonitor) };
    assert_eq!(Price::of(&seldom).stall, Some(Duration::ZERO), "two TTLs are over before the next renewal");
}

#[test]
fn fencing_keeps_updates_whatever_else_is_asked() {
    let mut doctor = Doctor::default();
    let question = LockQuestion { lock_delay: Duration::ZERO, ..asked(LockBelief::ByMonitor) };
    assert!(doctor.judge(&question, Promise::NoLostUpdate).expect("no internal error").is_broken());
    let fenced = LockQuestion { fencing: true, ..question };
    assert!(doctor.judge(&fenced, Promise::NoLostUpdate).expect("no internal error").is_kept());
}

#[test]
fn without_a_ttl_the_lock_is_never_taken_away() {
    let mut doctor = Doctor::default();
    let mut question =
        LockQuestion { pause: duration("1h"), ..LockQuestion::of_recipe("leader-election").expect("it is known") };
    assert!(doctor.judge(&question, Promise::MutualExclusion).expect("no internal error").is_kept());
    question.false_alarm = true;
    assert!(doctor.judge(&question, Promise::MutualExclusion).expect("no internal error").is_broken());
}

#[test]
fn an_invalid_setting_is_refused_with_a_valid_one() {
    let go = || LockQuestion::of_recipe("go-lock").expect("it is known");
    for (question, says) in [
        (LockQuestion { lock_delay: duration("90s"), ..go() }, "at most 60s"),
        (LockQuestion { ttl: None, ..go() }, "nothing to renew"),
        (LockQuestion { ttl: Some(Duration::ZERO), ..go() }, "means none"),
        (LockQuestion { pause: duration("1ns"), ..go() }, "finer than"),
        (LockQuestion { grace: duration("5s"), ..go() }, "only `lock-command`"),
        (LockQuestion { ttl: None, renew_every: None, belief: LockBelief::SelfLimiting, ..go() }, "counts its TTL"),
    ] {
        let mistake = question.validate().expect_err(says).to_string();
        assert!(mistake.contains(says), "{mistake}");
    }
    assert!(LockBelief::named("until-told").expect_err("it is not judged").to_string().contains("fencepost check"));
    assert!(LockQuestion::of_recipe("vault").expect_err("it is unknown").to_string().contains("`go-lock`"));
}

/// C-API-2: who gives the Go client another TTL gives it another period. A repair that moved the TTL alone was proven for a client that does not exist.
#[test]
fn c_api_2_the_period_of_the_go_client_goes_with_its_ttl() {
    let mut question = LockQuestion {
        pause: duration("12s"),
        latency: duration("300ms"),
        ..LockQuestion::of_recipe("go-lock").expect("it is known")
    };
    question.set_ttl(Some(duration("20s")));
    assert_eq!(question.renew_every, Some(duration("10s")));
    assert_eq!(Quantity::RenewEvery.of(&question), None, "it is no setting of its own");
    let repairs = Doctor::default().repairs(&question, Promise::MutualExclusion).expect("no internal error");
    let is_of_ttl =
        |repair: &&Repair<LockQuestion>| matches!(repair.changes[..], [Change::Number { quantity: Quantity::Ttl, .. }]);
    let repair = repairs.iter().find(is_of_ttl).expect("a longer TTL repairs it");
    let half = |ttl: Duration| Duration::of_nanoseconds(ttl.nanoseconds() / 2);
    assert_eq!(repair.question.renew_every, repair.question.ttl.map(half), "{repair}");
    // With a period of its own, less is enough.
    question.set_renew_every(question.renew_every);
    let repairs = Doctor::default().repairs(&question, Promise::MutualExclusion).expect("no internal error");
    let other = repairs.iter().find(is_of_ttl).expect("a longer TTL repairs it");
    assert!(other.question.ttl < repair.question.ttl && Quantity::RenewEvery.of(&other.question).is_some(), "{other}");
}

#[test]
fn two_settings_that_change_together_change_less_than_one() {
    let mut doctor = Doctor::default();
    let question = asked(LockBelief::ByMonitor);
    let repairs = doctor.repairs(&question, Promise::KeepsLock).expect("no internal error");
    let [first, ..] = &repairs[..] else { panic!("there are some") };
    let changed: Vec<Quantity> = first.changes.iter().filter_map(quantity).collect();
    assert_eq!(changed, [Quantity::Ttl, Quantity::RenewEvery], "{repairs:?}");
    let mut is_kept = |question: &LockQuestion| doctor.judge(question, Promise::KeepsLock).expect("no error").is_kept();
    assert!(is_kept(&first.question), "{first}");
    // Neither of them is enough, and the TTL alone has to be longer.
    assert!(!is_kept(&LockQuestion { ttl: first.question.ttl, ..question.clone() }), "{first}");
    assert!(!is_kept(&LockQuestion { renew_every: first.question.renew_every, ..question.clone() }), "{first}");
    let alone =
        repairs.iter().find(|repair| repair.changes.len() == 1 && quantity(&repair.changes[0]) == Some(Quantity::Ttl));
    assert!(alone.is_some_and(|alone| alone.question.ttl > first.question.ttl), "{repairs:?}");
}

/// After a false alarm the monitor hears too late, whatever the lock-delay; a lease alone is too long for it.
#[test]
fn where_no_change_of_one_setting_is_enough_two_are_found() {
    let mut doctor = Doctor::default();
    let question = LockQuestion {
        pause: duration("1s"),
        latency: duration("20s"),
        lock_delay: duration("10s"),
        false_alarm: true,
        ..LockQuestion::of_recipe("go-lock").expect("it is known")
    };
    let repairs = doctor.repairs(&question, Promise::MutualExclusion).expect("no internal error");
    let of_settings: Vec<_> = repairs.iter().filter(|repair| repair.is_setting()).collect();
    assert!(of_settings.iter().all(|repair| repair.changes.len() == 2), "{repairs:?}");
    let is_lease = |repair: &&&Repair<LockQuestion>| repair.changes[0] == Change::Belief;
    let delayed =
        of_settings.iter().filter(is_lease).find(|repair| quantity(&repair.changes[1]) == Some(Quantity::LockDelay));
    // EQ-4: 15 s + 1 s < D.
    assert!(delayed.is_some_and(|repair| repair.question.lock_delay > duration("16s")), "{repairs:?}");
}

fn quantity(change: &Change) -> Option<Quantity> {
    match change {
        Change::Number { quantity, .. } => Some(*quantity),
        _ => None,
    }
}
