//! Coordinated elections (OL-K-16, OL-20): candidates that never take over, and a controller that writes who holds the lease.

use fencepost_checker::Options;
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
    let outcomes = SERVICE.any(scenario).check(&Options::default()).unwrap_or_else(|error| panic!("{error}"));
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
