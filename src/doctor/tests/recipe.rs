//! The small scenarios against the whole recipe: a client as it is in the field, with renewals, monitor, retries and late answers, is
//! explored in coarse ticks, in which every setting is a whole number. That is a proof or a violation without any argument.

use fencepost_checker::{Limits, Options};
use fencepost_consul::Consul;
use fencepost_consul_explore::SERVICE;
use fencepost_doctor::{Doctor, LockBelief, LockQuestion, Promise, Verdict};
use fencepost_model::finding::Verdict as Explained;
use fencepost_model::properties::Property;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Settings as _;
use fencepost_model::time::Ticks;
use fencepost_model::units::Duration;

use crate::random::{Random, count, first};

/// The tick, in seconds.
const TICK: i64 = 5;

/// What was searched of a whole recipe where it is too large.
const STATES_MAX: u64 = 250_000;

fn settings(seed: u64) -> LockQuestion {
    let mut random = Random(seed);
    let ticks = |count: i64| Duration::of_seconds(count * TICK);
    let ttl = random.within(1..=2);
    let mut question = LockQuestion::of_recipe("go-lock").expect("it is known");
    question.ttl = Some(ticks(ttl));
    question.ttl_multiplier = random.one_of(&[1, 2]);
    question.lock_delay = ticks(random.within(0..=3));
    question.renew_every = Some(ticks(random.within(1..=ttl)));
    question.belief = random.one_of(&[LockBelief::SelfLimiting, LockBelief::ByMonitor]);
    // Late messages and deadlines make a whole recipe large.
    match random.within(0..=3) {
        0 => question.latency = ticks(1),
        1 => question.pause = ticks(1),
        _ => {}
    }
    question.false_alarm = random.within(0..=3) == 0;
    question
}

/// The question as it is, in ticks.
fn whole(question: &LockQuestion, promise: Promise) -> Scenario<Consul> {
    let ticks = |duration: Duration| Ticks::new(duration.in_ticks_of(Duration::of_seconds(TICK)).expect("whole ticks"));
    let mut settings = question.settings();
    settings.durations(&mut |ticks| {
        let microseconds = TICK * 1_000_000;
        assert_eq!(ticks.count() % microseconds, 0, "a recipe has a duration of {ticks}");
        *ticks = Ticks::new(ticks.count() / microseconds);
    });
    let scenario =
        Scenario::<Consul>::new("whole").message_delay(ticks(question.message())).wake_delay(ticks(question.pause));
    let scenario = scenario.service(|consul| *consul = settings);
    let scenario = if question.false_alarm { scenario.allow("false_alarms", 1) } else { scenario };
    match promise {
        Promise::NoLostUpdate => scenario.writes(1).promise(Property::NoLostUpdate),
        _ => scenario.promise(Property::MutualExclusion),
    }
}

#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn the_whole_recipe_says_the_same_in_coarse_ticks() {
    let mut doctor = Doctor::default();
    let (mut same, mut undecided) = (0, 0);
    for seed in first()..first() + count(16) {
        let question = settings(seed);
        for promise in [Promise::MutualExclusion, Promise::NoLostUpdate] {
            let verdict = doctor.judge(&question, promise).expect("no internal error");
            let limits = Limits { states: Some(STATES_MAX), depth: None };
            let options = Options { limits, ..Options::default() };
            let outcome = SERVICE.any(&whole(&question, promise)).check(&options).expect("no internal error").remove(0);
            match (&verdict, &outcome.finding.verdict) {
                (Verdict::Kept(proof), Explained::Violated(_)) => {
                    panic!(
                        "{promise} is called kept by {}, and the whole recipe breaks it: {question:?}",
                        proof.sized.scenario
                    )
                }
                (Verdict::Broken(execution), Explained::Proven(_) | Explained::Vacuous { .. }) => {
                    panic!(
                        "{promise} is called broken by {}, and the whole recipe keeps it: {question:?}",
                        execution.sized.expect("it was sought").scenario
                    )
                }
                (_, Explained::Bounded { .. }) | (Verdict::Unknown { .. }, _) => undecided += 1,
                _ => same += 1,
            }
        }
    }
    println!("{same} the same, {undecided} undecided by one of the two");
    assert!(same >= 8, "{same} the same, {undecided} undecided by one of the two");
}
