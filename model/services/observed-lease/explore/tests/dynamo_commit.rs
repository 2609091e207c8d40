//! Commits of object_store by way of DynamoDB (OL-O-4, EQ-L13): how late a request may be delivered before two commits are possible.

use fencepost_checker::{Engine, Options};
use fencepost_model::fact::Fact;
use fencepost_model::ids::ClientId;
use fencepost_model::properties::{Level, Memory, Property, View};
use fencepost_model::resource::Accepts;
use fencepost_model::scenario::{Replies, Scenario};
use fencepost_model::time::Ticks;
use fencepost_observed_lease::{CommitWait, DynamoCommit, OperatorKind, Rate};
use fencepost_observed_lease_explore::{SERVICE, Service};

/// At most one copy is applied to the object.
fn one_commit(view: &View<'_, Service>, memory: &mut Memory) -> Result<(), String> {
    for fact in view.facts {
        let Fact::Written { client, .. } = fact else { continue };
        memory[0] += 1;
        if memory[0] > 1 {
            return Err(format!("{client} commits to an object that was committed"));
        }
    }
    Ok(())
}

fn ticks(count: i64) -> Ticks {
    Ticks::new(count)
}

fn commit(timeout: i64, test_interval: i64) -> DynamoCommit {
    DynamoCommit::new(ticks(timeout), ticks(test_interval))
}

/// Two writers of one object. A request is delivered up to this number of ticks after it was sent; answers take no time.
fn writers(message_delay: i64) -> Scenario<Service> {
    let scenario = Scenario::<Service>::new("commit").clients(2).rounds(1).resource(Accepts::NotLower);
    let mut scenario = scenario.message_delay(message_delay).wake_delay(0).server_delay(0);
    scenario.network.replies = Replies::Instant;
    let scenario = scenario.own_property("one-commit", Level::Effect, one_commit);
    scenario.promise(Property::MutualExclusion)
}

fn judged(scenario: &Scenario<Service>, options: &Options) -> [&'static str; 2] {
    let outcomes = SERVICE.any(scenario).check(options).unwrap_or_else(|error| panic!("{error}"));
    let word = |name: &str| {
        let found = outcomes.iter().find(|outcome| outcome.finding.property.to_string() == name);
        found.unwrap_or_else(|| panic!("{name} is promised")).finding.verdict.word()
    };
    [word("one-commit"), word("mutual-exclusion")]
}

/// The verdicts about one commit, and about two writers who both believe that they may commit.
fn verdicts(scenario: &Scenario<Service>) -> [&'static str; 2] {
    judged(scenario, &Options::default())
}

const HOLDS: [&str; 2] = ["proven", "proven"];
/// The effect comes after the belief: no writer believes that it may commit when its copy arrives.
const TWO_COMMITS: [&str; 2] = ["violated", "proven"];
/// Two commits, and two writers who believe that they may commit.
const TWO_BELIEVE: [&str; 2] = ["violated", "violated"];

/// The wait is that of the record, with the factor of the contender: without delay it tolerates clocks that differ by the factor.
#[test]
fn ol_o_4_the_tolerated_ratio_of_clocks_is_the_skew_rate() {
    // The first one's copy arrives at the end of its time. The clock of the second one is faster, and its own timeout is 1 tick of true time.
    let with = |rate: u16, message_delay: i64| {
        let own = i64::from(rate);
        let scenario = writers(message_delay).service(|settings| {
            [settings.lease, settings.renew_deadline, settings.retry_period] = [36, 24, 12].map(ticks);
            settings.rates = vec![Rate { shows: 1, per: 1 }, Rate { shows: rate, per: 1 }];
        });
        verdicts(&scenario.program(ClientId(1), commit(4, 1)).program(ClientId(2), commit(own, own)))
    };
    assert_eq!(with(3, 4), HOLDS);
    // The second one's time begins before that of the first one is over.
    assert_eq!(with(4, 4), TWO_BELIEVE);
    // With a delay: 3 · (4 + 1) > 3 · 4.
    assert_eq!(with(3, 5), TWO_COMMITS);
    assert_eq!([with(4, 3), with(2, 6), with(2, 7)], [HOLDS, HOLDS, TWO_COMMITS]);
}

/// A contender asks for the object first, and then looks at its clock. What HEAD has not shown while its answer was under way may have been
/// committed since: the answer's time comes off the wait. With a timeout of 2, messages under way for up to d, and a copy that is sent when its time
/// ends: two commits are possible iff 2 + d > 3 · 2 - d, and not only for 2 + d > 3 · 2.
#[test]
fn ol_o_4_the_answer_to_the_last_head_comes_off_the_wait() {
    let with = |wait: CommitWait, message_delay: i64| {
        let mut scenario = writers(message_delay);
        scenario.network.replies = Replies::Travel;
        let mut commit = commit(2, 1);
        commit.wait = wait;
        verdicts(&scenario.programs(commit))
    };
    assert_eq!([2, 3].map(|delay| with(CommitWait::HeadFirst, delay)), [HOLDS, TWO_COMMITS]);
    assert_eq!([4, 5].map(|delay| with(CommitWait::ClockFirst, delay)), [HOLDS, TWO_COMMITS]);
}

/// DynamoDB deletes the record of a writer that has crashed, when its time-to-live is over, while another one waits for it. A third call creates it
/// with generation 0 again, and the waiting writer takes it for the one that it has seen.
#[test]
fn ol_o_4_a_generation_that_starts_again_lets_two_commit() {
    let with = |deletions: u8| {
        let scenario = writers(0).service(|settings| settings.operator = vec![OperatorKind::Delete]);
        let scenario = scenario.budget(|budget| {
            (budget.operator, budget.crashes, budget.restarts) = (deletions, 1, 1);
        });
        verdicts(&scenario.programs(commit(1, 1)))
    };
    assert_eq!(with(0), HOLDS);
    assert_eq!(with(1), TWO_BELIEVE);
}

#[test]
fn the_searches_agree_about_commits() {
    for (message_delay, expected) in [(3, HOLDS), (4, TWO_COMMITS)] {
        let scenario = writers(message_delay).programs(commit(1, 1));
        for engine in [Engine::Dataflow, Engine::Stateright] {
            let plain = Options { engine, symmetry: false, ..Options::default() };
            assert_eq!(judged(&scenario, &plain), expected, "{engine:?}");
        }
        assert_eq!(verdicts(&scenario.refined(2)), expected, "half a tick");
    }
}

/// A copy that is sent at once arrives f after it was dropped if it is under way for timeout + f. With k = 3: two commits are possible iff
/// f > 2 timeouts.
#[test]
fn ol_o_4_a_request_delivered_two_timeouts_after_it_was_dropped_is_early_enough() {
    for timeout in [1, 2] {
        let delivered = |after: i64| verdicts(&writers(timeout + after).programs(commit(timeout, 1)));
        assert_eq!(delivered(2 * timeout), HOLDS, "{timeout}");
        assert_eq!(delivered(2 * timeout + 1), TWO_COMMITS, "{timeout}");
    }
}
