//! The small scenarios of elections against the whole recipe: two or three clients, links that are cut twice, late messages
//! and deadlines, explored in ticks of a second, in which every setting is a whole number. That is a proof or a violation without any argument.

use fencepost_checker::{Limits, Options};
use fencepost_doctor::election::{ElectionScenario, Healthy, Others, Terms};
use fencepost_doctor::{Doctor, ElectionQuestion, Promise, SmallScenario as _, Verdict};
use fencepost_model::finding::Verdict as Explained;
use fencepost_model::properties::Property;
use fencepost_model::scenario::{Cutting, Scenario, Ways};
use fencepost_model::time::Ticks;
use fencepost_model::units::Duration;
use fencepost_observed_lease::{ObservedLease, Release, Settings};
use fencepost_observed_lease_explore::SERVICE;

use crate::random::{Random, count, first};

/// What was searched of a whole recipe where it is too large.
const STATES_MAX: u64 = 150_000;

fn settings(seed: u64) -> ElectionQuestion {
    let mut random = Random(seed);
    let retry = random.within(1..=2);
    let deadline = retry + random.within(1..=2);
    let late = random.within(0..=1);
    // What is late makes a whole recipe large, so one of them is: a message, each message and deadline, or the end of the work.
    let kind = random.within(0..=2);
    let acts_on = retry + deadline + if kind == 1 { 3 * late } else { late };
    // At the boundary, or a tick beyond it.
    let lease = (acts_on + random.within(0..=1)).max(deadline + 1);
    let seconds = [lease, deadline, retry, late].map(Duration::of_seconds);
    let mut question = ElectionQuestion::of_recipe(random.one_of(&["client-go", "client-go-v0-26"])).expect("known");
    question.request_timeout = random.one_of(&[None, None, Some(Duration::of_seconds(1))]);
    let [lease, deadline, retry, late] = seconds;
    (question.lease, question.renew_deadline, question.retry_period) = (lease, deadline, retry);
    match kind {
        0 => question.latency = late,
        1 => question.pause = late,
        _ => question.stop_time = late,
    }
    question
}

/// The question as it is, in ticks of a second.
fn whole(question: &ElectionQuestion, clients: u16) -> Scenario<ObservedLease> {
    let ticks = |duration: Duration| Ticks::new(duration.in_ticks_of(Duration::of_seconds(1)).expect("whole seconds"));
    let retry = ticks(question.retry_period);
    let mut scenario = Scenario::<ObservedLease>::new("whole")
        .clients(clients)
        .message_delay(ticks(question.message()))
        .wake_delay(ticks(question.pause))
        .server_delay(0)
        .budget(|budget| budget.cuts = 2)
        .promise(Property::MutualExclusion);
    (scenario.network.cuts, scenario.network.ways) = (Cutting::Drop, Ways::Both);
    scenario.service = Settings {
        lease: ticks(question.lease),
        renew_deadline: ticks(question.renew_deadline),
        retry_period: retry,
        // The last whole tick below 2.2 periods (OL-K-6).
        sleep_max: Ticks::new((11 * retry.count() - 1) / 5),
        request_timeout: question.request_timeout.map(ticks),
        stop_time: ticks(question.stop_time),
        release: Release::Never,
        ..Settings::of_recipe(question.recipe).expect("it is known")
    };
    scenario
}

#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn the_whole_recipe_says_the_same_with_more_clients_and_cuts() {
    let mut doctor = Doctor::default();
    let (mut kept, mut broken, mut undecided) = (0, 0, 0);
    for seed in first()..first() + count(16) {
        let question = settings(seed);
        question.validate().unwrap_or_else(|mistake| panic!("{mistake}: {question:?}"));
        let verdict = doctor.judge(&question, Promise::MutualExclusion).expect("no internal error");
        for clients in [2, 3] {
            let limits = Limits { states: Some(STATES_MAX), depth: None };
            let options = Options { limits, ..Options::default() };
            let outcome = SERVICE.any(&whole(&question, clients)).check(&options).expect("no internal error").remove(0);
            match (&verdict, &outcome.finding.verdict) {
                (Verdict::Kept(proof), Explained::Violated(_)) => panic!(
                    "called kept by {}, and the whole recipe with {clients} clients breaks it: {question:?}",
                    proof.sized.scenario
                ),
                (Verdict::Broken(_), Explained::Proven(_) | Explained::Vacuous { .. }) => {
                    panic!("called broken, and the whole recipe with {clients} clients keeps it: {question:?}")
                }
                (Verdict::Kept(_), Explained::Proven(_)) => kept += 1,
                (Verdict::Broken(_), Explained::Violated(_)) => broken += 1,
                _ => undecided += 1,
            }
        }
    }
    println!("{kept} kept, {broken} broken, {undecided} undecided by one of the two");
    assert!(kept > count(16) / 4 && broken > count(16) / 4, "{kept} kept, {broken} broken, {undecided} undecided");
}

/// Terms of a leader that reaches the store, with the lateness of messages and deadlines.
fn healthy(seed: u64) -> Healthy {
    let mut random = Random(seed);
    let retry = random.within(1..=3);
    let deadline = retry + random.within(1..=2);
    let (message, wake) = (random.within(0..=1), random.within(0..=2));
    let timeouts = [None, Some(random.within(1..=3))];
    let terms = Terms {
        recipe: random.one_of(&["client-go", "client-go-v0-26"]),
        // About as long as the record may stay the same.
        lease: (retry + wake + 3 * message + random.within(-1..=1)).max(deadline + 1),
        second: None,
        deadline,
        retry,
        spread: (6 * retry - 1) / 5,
        timeout: random.one_of(&timeouts),
    };
    Healthy { terms, others: Others::Alike, message, wake }
}

/// A contender that looks twice in a lease takes over wherever one with the settings of the leader does.
#[test]
fn a_contender_that_looks_seldom_stands_for_each() {
    let is_proven = |healthy: Healthy| {
        let scenario = ElectionScenario::Healthy(healthy).scenario();
        let outcome = SERVICE.any(&scenario).check(&Options::default()).expect("no internal error").remove(0);
        matches!(outcome.finding.verdict, Explained::Proven(_))
    };
    let (mut kept, mut broken) = (0, 0);
    for seed in first()..first() + count(60) {
        let alike = healthy(seed);
        let terms = Terms { lease: alike.terms.lease / 2 * 2, spread: 0, ..alike.terms };
        if terms.lease <= terms.deadline {
            continue;
        }
        let seldom = Healthy { terms, others: Others::Seldom, ..alike };
        match (is_proven(seldom), is_proven(alike)) {
            (true, false) => panic!("seed {seed}: proven with a contender that looks seldom, and broken by {alike:?}"),
            (true, true) => kept += 1,
            (false, _) => broken += 1,
        }
    }
    assert!(kept > count(60) / 8 && broken > count(60) / 8, "{kept} kept, {broken} broken");
}
