//! What every execution of a scenario begins with.

use fencepost::lease::{Lease, Settings};
use fencepost_model::finding::Property;
use fencepost_model::ids::ClientId;
use fencepost_model::scenario::{Scenario, from_toml};
use fencepost_model::time::Ticks;
use fencepost_model::trace::{Recorder, TraceStep, replay};
use fencepost_model::world::{Action, Condition};

/// Client 1 is inside, and paused.
fn paused() -> Scenario<Lease> {
    let settings = |settings: &mut Settings| (settings.lease, settings.grace) = (Ticks::new(2), Ticks::new(2));
    Scenario::<Lease>::new("paused")
        .clients(2)
        .writes(1)
        .service(settings)
        .wake_delay(Ticks::new(1))
        .budget(|budget| budget.pauses = 1)
        .promise(Property::MutualExclusion)
        .begins_with("client 1 is asked to take the lock")
        .begins_with("the server receives from client 1: lend me the lock")
        .begins_with("client 1 receives from the server: lent, loan 1")
        .begins_with("client 1 pauses")
}

#[test]
fn a_scenario_file_has_a_prefix() {
    assert_eq!(from_toml::<Lease>(&paused().to_toml(), "file").expect("it can be read"), paused());
}

/// Client 1 has entered in the prefix: that counts.
#[test]
fn goals_of_the_prefix_are_reached() {
    let reached = paused().reached_by_prefix();
    assert!(reached.has_entered(ClientId(1)) && !reached.has_entered(ClientId(2)));
}

#[test]
fn executions_begin_after_the_prefix() {
    let start = paused().observed();
    assert_eq!(start.clients[0].condition, Condition::Paused);
    assert_eq!(start.left.pauses, 0, "the pause of the prefix was taken from the budget");
    assert_eq!(start.world, paused().start());
    let plain = Scenario { prefix: Vec::new(), ..paused() };
    assert_eq!(plain.start(), plain.initial());
}

#[test]
fn a_label_that_is_not_possible_is_refused_with_those_that_are() {
    let text = paused().to_toml().replace("client 1 pauses", "client 1 takes a nap");
    let error = from_toml::<Lease>(&text, "file").expect_err("there are no naps").to_string();
    assert!(
        error.contains("“client 1 takes a nap” is not possible here") && error.contains("client 2 pauses"),
        "{error}"
    );
    assert!(error.starts_with("file:") && error.contains("prefix.3: ") && !error.contains('\n'), "{error}");
    let twice = Scenario { prefix: vec!["client 1 pauses".to_owned(); 2], ..paused() };
    assert_eq!(twice.validate().expect_err("one pause").path, "prefix.1");
}

/// On a finer clock the same time passes in the prefix.
#[test]
fn a_prefix_is_refined_with_its_scenario() {
    let mut scenario = paused();
    scenario.prefix.push("5 ticks pass".to_owned());
    let fine = scenario.refined(3);
    assert_eq!(fine.prefix.last().expect("it has some"), "15 ticks pass");
    assert_eq!(fine.validate(), Ok(()));
    assert_eq!(fine.start().now.ticks(), 3 * scenario.start().now.ticks());
}

/// What the prefix violates is not judged; what it did is remembered.
#[test]
fn the_prefix_is_not_judged_and_is_remembered() {
    let mut scenario = paused();
    scenario.prefix.extend(
        [
            "5 ticks pass",
            "client 2 is asked to take the lock",
            "the server receives from client 2: lend me the lock",
            "client 2 receives from the server: lent, loan 2",
            "client 2 is asked to write",
            "the resource receives from client 2: write (token 2)",
        ]
        .map(str::to_owned),
    );
    let scenario = scenario.promise(Property::TokenOrder);
    assert_eq!(scenario.validate(), Ok(()));
    // Both are inside: the prefix alone violates mutual exclusion, and each write from now on is judged against its write.
    let whole = Scenario { prefix: Vec::new(), ..scenario.clone() };
    let mut world = whole.observed();
    let actions = scenario.prefix_actions().expect("it is possible");
    let violated: Vec<Property> =
        actions.iter().flat_map(|action| world.step(&whole, action).violations).map(|it| it.property).collect();
    assert_eq!(violated, [Property::MutualExclusion]);
    assert_eq!((&world.world, &world.monitor), (&scenario.observed().world, &scenario.observed().monitor));
}

/// A trace is one of its scenario; with its prefix it is one of the scenario without.
#[test]
fn a_trace_becomes_one_from_the_processes_start() {
    let scenario = paused();
    let (mut world, mut recorder) = (scenario.observed(), Recorder::default());
    let (mut enabled, mut steps) = (Vec::new(), 0);
    while steps < 12 {
        scenario.enabled(&world, &mut enabled);
        let Some(action) = enabled.iter().rev().find(|action| !matches!(action, Action::Lose(_))).copied() else {
            break;
        };
        recorder.step(&scenario, &mut world, &action);
        steps += 1;
    }
    let trace = recorder.finish(&scenario, "a test", None);
    assert_eq!(replay(&trace).expect("it is an execution").steps, trace.steps);
    let whole = trace.with_prefix();
    assert_eq!(whole.steps.len(), steps + scenario.prefix.len());
    assert!(whole.header.scenario.prefix.is_empty());
    assert_eq!(replay(&whole).expect("it is an execution"), whole);
    let actions = |steps: &[TraceStep<Lease>]| steps.iter().map(|step| step.action).collect::<Vec<_>>();
    assert_eq!(actions(&whole.steps[scenario.prefix.len()..]), actions(&trace.steps));
}
