//! Coordinated elections (OL-K-16, OL-20): candidates that never take over, and a controller that writes who holds the lease.

use fencepost_checker::{Engine, Options};
use fencepost_model::action_kind::ActionKind;
use fencepost_model::ids::ClientId;
use fencepost_model::properties::Property;
use fencepost_model::scenario::{Replies, Scenario, UNLIMITED};
use fencepost_model::time::Ticks;
use fencepost_observed_lease::{CandidateDeletion, ClientGo, ElectionController, LeaseFault, Name, Settings};
use fencepost_observed_lease_explore::{SERVICE, Service};

fn ticks(count: i64) -> Ticks {
    Ticks::new(count)
}

/// Two candidates, of which the second one is better, and a controller that looks once in a tick. Users whose election is over begin anew.
fn coordinated(clears_stale: bool) -> Scenario<Service> {
    let mut scenario = Scenario::<Service>::new("coordinated").clients(2).rounds(UNLIMITED);
    scenario = scenario.message_delay(0).wake_delay(0).server_delay(0);
    scenario.network.replies = Replies::Instant;
    scenario.fairness.weak.push(ActionKind::Command);
    let settings = Settings {
        lease: ticks(4),
        renew_deadline: ticks(2),
        retry_period: ticks(1),
        sleep_max: Ticks::ZERO,
        ..Settings::default()
    };
    for client in [1, 2].map(ClientId) {
        let elector = ClientGo::of(&settings, client);
        let mut candidate = elector.expect("they are settings of client-go");
        candidate.coordinated = true;
        candidate.identity = Some(Name::Candidate(u8::try_from(client.0).expect("1 or 2")));
        scenario = scenario.program(client, candidate);
    }
    scenario.service = settings;
    let controller = ElectionController { requeue_interval: ticks(1), lease_duration: ticks(4), clears_stale };
    scenario.program(ClientId(3), controller)
}

fn verdict(scenario: &Scenario<Service>, property: Property) -> &'static str {
    verdict_by(scenario, property, &Options::default())
}

fn verdict_by(scenario: &Scenario<Service>, property: Property, options: &Options) -> &'static str {
    let outcomes = SERVICE.any(scenario).check(options).unwrap_or_else(|error| panic!("{error}"));
    let found = outcomes.iter().find(|outcome| outcome.finding.property == property);
    let verdict = &found.expect("it is promised").finding.verdict;
    if let Some(story) = verdict.story() {
        // Shown if the test fails.
        story.steps.iter().for_each(|step| println!("{}", step.label));
    }
    verdict.word()
}

/// `expect stale preferredHolder: LV=violated MX-B=holds` · `expect cleared: LV=holds`
#[test]
fn ol_20_the_preferred_candidate_is_gone_and_no_other_is_written_in() {
    let with = |clears_stale: bool, deletes: bool| {
        let scenario = coordinated(clears_stale);
        let scenario = if deletes { scenario.program(ClientId(4), CandidateDeletion { left: 1 }) } else { scenario };
        let scenario = scenario.promise(Property::MutualExclusion).promise(Property::EventuallyAcquired);
        [Property::MutualExclusion, Property::EventuallyAcquired].map(|property| verdict(&scenario, property))
    };
    assert_eq!(with(false, false), ["proven", "proven"], "the object is not deleted");
    assert_eq!(with(false, true), ["proven", "violated"], "stale preferredHolder");
    assert_eq!(with(true, true), ["proven", "proven"], "cleared");
}

#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn the_searches_agree_about_coordinated_elections() {
    let scenario = coordinated(false).program(ClientId(4), CandidateDeletion { left: 1 });
    let scenario = scenario.promise(Property::EventuallyAcquired).promise(Property::MutualExclusion);
    for engine in [Engine::Dataflow, Engine::Stateright] {
        let plain = Options { engine, symmetry: false, ..Options::default() };
        assert_eq!(verdict_by(&scenario, Property::MutualExclusion, &plain), "proven", "{engine:?}");
        assert_eq!(verdict_by(&scenario, Property::EventuallyAcquired, &plain), "violated", "{engine:?}");
    }
}

/// A number that does not name the client, candidates that start alike, and candidates at whom no controller looks.
#[test]
fn ol_k_16_candidates_say_who_they_are() {
    let refused = |scenario: &Scenario<Service>| {
        let scenario = scenario.clone().promise(Property::MutualExclusion);
        SERVICE.any(&scenario).check(&Options::default()).expect_err("it is refused").to_string()
    };
    let named = |name: Name| {
        let mut scenario = coordinated(false);
        let mut candidate = ClientGo::of(&scenario.service, ClientId(1)).expect("they are settings of client-go");
        (candidate.coordinated, candidate.identity) = (true, Some(name));
        scenario.programs.retain(|program| program.client == Some(ClientId(3)));
        scenario.programs(candidate)
    };
    let error = refused(&named(Name::Candidate(9)));
    assert!(error.contains("there are candidates 1 to 2, and no candidate 9"), "{error}");
    let error = refused(&named(Name::Candidate(1)));
    assert!(error.contains("candidates are not interchangeable"), "{error}");
    let mut alone = coordinated(false);
    alone.programs.retain(|program| program.client != Some(ClientId(3)));
    let error = refused(&alone);
    assert!(error.contains("only a controller looks at candidates"), "{error}");
}

/// The controller believes the writer's clock: renewTime + L < its own. A holder that is cut acts for R + D = 3 after the last renewal, and the next one
/// is written in 5 after it, less the offset: at an offset of 2 at the same instant.
#[test]
fn ol_k_16_the_controller_counts_a_lease_by_its_own_wall_clock() {
    let with = |offset: i64| {
        let scenario = coordinated(true).service(|settings| {
            settings.wall_ahead = vec![Ticks::ZERO, Ticks::ZERO, ticks(offset)];
        });
        let scenario = scenario.budget(|budget| budget.allow::<LeaseFault>("store_errors", 1));
        verdict(&scenario.promise(Property::MutualExclusion), Property::MutualExclusion)
    };
    assert_eq!([1, 2].map(with), ["proven", "violated"]);
}
