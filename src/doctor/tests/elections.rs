//! Settings of elections: the inequalities EQ-L1 to EQ-L8 against verdicts on random settings, and the published settings. The doctor knows
//! these inequalities for choosing ticks only: a wrong verdict would show here.

use fencepost_doctor::{Change, Direction, Doctor, ElectionQuestion, Price, Promise, Quantity, QuantityValue, Verdict};
use fencepost_model::trace::replay;
use fencepost_model::units::{Duration, PartsPerMillion};

use crate::random::{Random, count, first};

fn duration(text: &str) -> Duration {
    text.parse().expect("a duration")
}

fn client_go([lease, renew_deadline, retry_period]: [&str; 3]) -> ElectionQuestion {
    ElectionQuestion {
        lease: duration(lease),
        renew_deadline: duration(renew_deadline),
        retry_period: duration(retry_period),
        ..ElectionQuestion::of_recipe("client-go").expect("it is known")
    }
}

fn judge(question: &ElectionQuestion, promise: Promise) -> Verdict<ElectionQuestion> {
    Doctor::default().judge(question, promise).expect("no internal error")
}

/// Multiples of a tenth of a second, with a valid order.
fn settings(seed: u64) -> ElectionQuestion {
    let mut random = Random(seed);
    let tenths = |count: i64| Duration::of_nanoseconds(count * 100_000_000);
    let retry = random.within(1..=50);
    let deadline = retry * 6 / 5 + random.within(1..=100);
    let lease = (deadline + random.within(1..=80)).max(10);
    let mut question = ElectionQuestion::of_recipe(random.one_of(&["client-go", "client-go-v0-26"])).expect("known");
    (question.lease, question.renew_deadline, question.retry_period) = (tenths(lease), tenths(deadline), tenths(retry));
    let timeouts = [None, None, Some(tenths(random.within(1..=deadline)))];
    question.request_timeout = random.one_of(&timeouts);
    let times = [(20, 0), (30, 0), (20, 1)].map(|(most, usual)| [0, usual, random.within(1..=most)]);
    let [stop_time, pause, latency] = times.map(|choices| tenths(random.one_of(&choices)));
    (question.stop_time, question.pause, question.latency) = (stop_time, pause, latency);
    question.drift = PartsPerMillion(random.one_of(&[0, 0, 200, 250_000]));
    question
}

/// EQ-L1, EQ-L4 and EQ-L5 in nanoseconds: how long a leader that is cut off acts on after its last acknowledged write was applied.
fn acts_on(question: &ElectionQuestion, drift: i128) -> i128 {
    let of = |duration: Duration| i128::from(duration.nanoseconds());
    let (pause, latency) = (of(question.pause), of(question.latency));
    let counted = of(question.retry_period) + of(question.renew_deadline) + of(question.stop_time);
    let deadlines = if question.stop_time > Duration::ZERO { 3 } else { 2 };
    let timeout =
        question.request_timeout.map_or(i128::MAX, |timeout| of(timeout) + of(timeout) * drift / 1_000_000 + pause);
    (latency + pause).min(timeout) + deadlines * pause + counted + counted * drift / 1_000_000
}

#[test]
fn eq_l_1_no_unsafe_setting_is_called_safe_and_no_safe_one_broken() {
    let (mut kept, mut broken, mut unknown) = (0, 0, 0);
    let mut doctor = Doctor::default();
    for seed in first()..first() + count(60) {
        let question = settings(seed);
        question.validate().unwrap_or_else(|mistake| panic!("{mistake}: {question:?}"));
        let lease = i128::from(question.observed().nanoseconds());
        let is_safe = |drift: u32| acts_on(&question, drift.into()) < lease;
        let verdict = doctor.judge(&question, Promise::MutualExclusion).expect("no internal error");
        match verdict {
            Verdict::Kept(_) => assert!(is_safe(question.drift.0), "seed {seed} is called kept: {question:?}"),
            Verdict::Broken(_) => assert!(!is_safe(question.drift.0), "seed {seed} is called broken: {question:?}"),
            Verdict::Unknown { ref why } => println!("seed {seed} is unknown: {why}: {question:?}"),
        }
        match verdict {
            Verdict::Kept(_) => kept += 1,
            Verdict::Broken(_) => broken += 1,
            Verdict::Unknown { .. } => unknown += 1,
        }
    }
    println!("{kept} kept, {broken} broken, {unknown} unknown; {:?} scenarios and states", doctor.effort());
    assert!(kept > count(60) / 6 && broken > count(60) / 6, "{kept} kept, {broken} broken, {unknown} unknown");
    assert!(unknown * 10 < count(60), "{kept} kept, {broken} broken, {unknown} unknown");
}

/// Closed guards: at equality two act at one instant.
#[test]
fn eq_l_1_the_defaults_have_three_seconds_and_a_tie_is_broken() {
    let asked = |latency: &str| ElectionQuestion { latency: duration(latency), ..client_go(["15s", "10s", "2s"]) };
    assert!(judge(&asked("2900ms"), Promise::MutualExclusion).is_kept());
    let tie = judge(&asked("3s"), Promise::MutualExclusion);
    let Verdict::Broken(execution) = &tie else { panic!("{tie:?}") };
    // The execution is in exact durations, and the model accepts each of its steps.
    let repeated = replay(&execution.trace).expect("it can be repeated");
    assert_eq!(repeated.header.scenario.service.lease.count(), 15_000_000);
    assert!(repeated.steps.last().is_some_and(|step| !step.violations.is_empty()));
    // The sidecars of CSI have no slack at all.
    assert!(judge(&client_go(["15s", "10s", "5s"]), Promise::MutualExclusion).is_broken());
    assert!(judge(&client_go(["16s", "10s", "5s"]), Promise::MutualExclusion).is_kept());
}

/// whereabouts: 1.5 s is recorded as 1 s, and a contender waits for no longer.
#[test]
fn ol_k_2_a_lease_counts_in_whole_seconds() {
    let truncated = client_go(["1500ms", "1s", "500ms"]);
    assert_eq!(truncated.observed(), duration("1s"));
    assert!(truncated.notes()[0].contains("for 1s, not for 1.5s"), "{:?}", truncated.notes());
    assert!(judge(&truncated, Promise::MutualExclusion).is_broken());
    assert!(judge(&client_go(["2900ms", "1s", "500ms"]), Promise::MutualExclusion).is_kept());
    // Up to v0.26 contenders counted their own lease.
    let own = ElectionQuestion { recipe: "client-go-v0-26", ..client_go(["1800ms", "1s", "500ms"]) };
    assert!(judge(&own, Promise::MutualExclusion).is_kept());
}

/// OL-5: the link heals, the release is applied, and another leads before the work is told.
#[test]
fn ol_k_10_release_on_cancel_is_broken_whatever_the_lease_is_and_turning_it_off_repairs_it() {
    let asked = ElectionQuestion { release: true, latency: duration("100ms"), ..client_go(["60s", "10s", "2s"]) };
    let mut doctor = Doctor::default();
    let answer = doctor.answer_about(&asked, Promise::MutualExclusion).expect("no internal error");
    assert!(answer.verdict.is_broken(), "{:?}", answer.verdict);
    let first = &answer.repairs[0];
    assert_eq!((&first.changes[..], first.is_setting()), (&[Change::NoRelease][..], true), "{:?}", answer.repairs);
}

/// OL-5 for every lease, with each version's release.
#[test]
fn ol_k_12_no_setting_with_release_on_cancel_is_called_safe() {
    for seed in first()..first() + count(30) {
        let recipes = ["client-go", "client-go-v0-33", "client-go-v0-26", "controller-runtime"];
        let recipe = recipes[usize::try_from(seed % 4).expect("a place")];
        let question = ElectionQuestion { release: true, recipe, ..settings(seed) };
        let verdict = judge(&question, Promise::MutualExclusion);
        assert!(verdict.is_broken(), "seed {seed}: {verdict:?}: {question:?}");
    }
}

#[test]
fn eq_l_4_the_tolerated_ratio_is_not_the_documented_one() {
    let asked = client_go(["15s", "10s", "2s"]);
    let boundaries = Doctor::default().boundaries(&asked, Promise::MutualExclusion).expect("no internal error");
    let of = |quantity, direction| {
        let found = boundaries.iter().find(|boundary| (boundary.quantity, boundary.direction) == (quantity, direction));
        found.unwrap_or_else(|| panic!("no boundary of {quantity:?}"))
    };
    let seconds = |value: QuantityValue| match value {
        QuantityValue::Duration(duration) => duration.nanoseconds() as f64 / 1e9,
        QuantityValue::Rate(rate) => f64::from(rate.0) / 1e6,
    };
    // 1.25, and not 1.5 as the package says.
    let drift = seconds(of(Quantity::Drift, Direction::Up).kept);
    assert!((0.24..0.25).contains(&drift), "{drift}");
    for (quantity, direction, limit) in [
        (Quantity::Lease, Direction::Down, 13.0),
        (Quantity::Latency, Direction::Up, 3.0),
        (Quantity::Pause, Direction::Up, 1.0),
        (Quantity::StopTime, Direction::Up, 3.0),
        (Quantity::RenewDeadline, Direction::Up, 13.0),
        (Quantity::RetryPeriod, Direction::Up, 5.0),
    ] {
        let boundary = of(quantity, direction);
        let (kept, broken) = (seconds(boundary.kept), seconds(boundary.broken.expect("it breaks")));
        // A lease of less than 13 s is recorded as 12 s.
        let is_between = (kept.min(broken)..=kept.max(broken)).contains(&limit);
        assert!(is_between && (broken - kept).abs() <= 0.75, "{boundary:?}");
    }
}

/// A renewal whose answer is later than the renew deadline, or than the timeout of requests, or a record that stays the same for a lease.
#[test]
fn eq_l_6_a_leader_that_reaches_the_store_keeps_its_lease() {
    let asked = |latency: &str, pause: &str| ElectionQuestion {
        latency: duration(latency),
        pause: duration(pause),
        ..client_go(["15s", "10s", "2s"])
    };
    assert!(judge(&asked("200ms", "0s"), Promise::KeepsLease).is_kept());
    assert!(judge(&asked("200ms", "2s"), Promise::KeepsLease).is_kept());
    let late = judge(&asked("6s", "0s"), Promise::KeepsLease);
    assert!(late.is_broken(), "{late:?}");
    let timed_out = ElectionQuestion { request_timeout: Some(duration("1s")), ..asked("1s", "0s") };
    let verdict = judge(&timed_out, Promise::KeepsLease);
    assert!(verdict.is_broken(), "{verdict:?}");
}

/// EQ-L7, EQ-L8 for the defaults: 13 to 23.8 s from the crash, so 15 to 23.8 s from the renewal; outages below 8 s are survived.
#[test]
fn eq_l_7_the_price_of_the_defaults() {
    let price = Price::of(&client_go(["15s", "10s", "2s"]));
    assert_eq!([price.notice, price.failover, price.stall], ["15s", "23.8s", "13s"].map(|text| Some(duration(text))));
    assert_eq!(price.renewals_an_hour, 1_800);
    assert!(price.sentence.contains("no outage shorter than 8s"), "{price}");
}

#[test]
fn an_invalid_setting_is_refused_with_a_valid_one() {
    let plain = || client_go(["15s", "10s", "2s"]);
    for (question, says) in [
        (ElectionQuestion { lease: duration("10s"), ..plain() }, "longer than the renew deadline, 10s (OL-K-1)"),
        (ElectionQuestion { renew_deadline: duration("2s"), ..plain() }, "longer than 1.2 times the retry period"),
        (ElectionQuestion { retry_period: Duration::ZERO, ..plain() }, "write more"),
        (ElectionQuestion { request_timeout: Some(Duration::ZERO), ..plain() }, "write `none`"),
        (ElectionQuestion { pause: duration("1ns"), ..plain() }, "finer than"),
        (client_go(["900ms", "500ms", "100ms"]), "write at least 1s"),
    ] {
        let mistake = question.validate().expect_err(says).to_string();
        assert!(mistake.contains(says), "{mistake}");
    }
}
