//! Faults that are kept to places, and a resource that forgets.

use fencepost::lease::Lease;
use fencepost_model::action_kind::ActionKind;
use fencepost_model::finding::Property;
use fencepost_model::ids::ClientId;
use fencepost_model::resource::{Accepts, Resource};
use fencepost_model::scenario::{Scenario, from_toml};
use fencepost_model::time::Ticks;
use fencepost_model::world::{Action, Fault, World};

/// Bounded delays, a pause, a loss, and a resource that compares tokens and restarts once.
fn scenario() -> Scenario<Lease> {
    let mut scenario = Scenario::<Lease>::new("kept").clients(2).writes(1).resource(Accepts::NotLower);
    scenario.synchrony.message_delay = Some(Ticks::new(1));
    (scenario.budget.pauses, scenario.budget.losses, scenario.budget.resource_restarts) = (1, 1, 1);
    scenario
}

/// The labels of the enabled actions of a kind.
fn labels(scenario: &Scenario<Lease>, world: &World<Lease>, kind: ActionKind) -> Vec<String> {
    let mut enabled = Vec::new();
    scenario.enabled(world, &mut enabled);
    enabled.iter().filter(|action| action.kind() == kind).map(ToString::to_string).collect()
}

/// Takes an action by its label.
fn take(scenario: &Scenario<Lease>, world: &mut World<Lease>, label: &str) {
    let mut enabled = Vec::new();
    scenario.enabled(world, &mut enabled);
    let action = enabled.iter().find(|action| action.to_string() == label).unwrap_or_else(|| panic!("{label}"));
    scenario.step(world, action);
}

#[test]
fn a_fault_strikes_only_before_an_action_of_what_it_strikes() {
    let scenario = scenario().only_before(ActionKind::Pause, "is asked to write");
    let mut world = scenario.start();
    assert!(labels(&scenario, &world, ActionKind::Pause).is_empty());
    for label in [
        "client 2 is asked to take the lock",
        "the server receives from client 2: lend me the lock",
        "client 2 receives from the server: lent, loan 1",
    ] {
        take(&scenario, &mut world, label);
    }
    assert_eq!(labels(&scenario, &world, ActionKind::Pause), ["client 2 pauses"]);
    let pause = Action::Fault(Fault::Pause(ClientId(1).into()));
    assert!(!scenario.is_enabled(&world, &pause), "client 1 is not asked to write");
    take(&scenario, &mut world, "client 2 is asked to write");
    assert!(labels(&scenario, &world, ActionKind::Pause).is_empty());
}

/// A ghost in a write is no part of the label: which promises are watched decides no fault.
#[test]
fn a_write_is_named_without_its_tenure() {
    let lost = |scenario: &Scenario<Lease>| {
        let mut world = scenario.observed();
        let labels_of = |world: &World<Lease>| labels(scenario, world, ActionKind::Lose);
        for label in [
            "client 1 is asked to take the lock",
            "the server receives from client 1: lend me the lock",
            "client 1 receives from the server: lent, loan 1",
            "client 1 is asked to write",
        ] {
            let mut enabled = Vec::new();
            scenario.enabled(&world, &mut enabled);
            let action = enabled.iter().find(|action| action.to_string() == label).unwrap_or_else(|| panic!("{label}"));
            world.step(scenario, action);
        }
        labels_of(&world)
    };
    let plain = scenario().only_before(ActionKind::Lose, "from client #: write (token #)");
    assert_eq!(lost(&plain).len(), 1);
    let watched = plain.promise(Property::NoLostUpdate);
    assert_eq!(lost(&watched), ["lost on the way from client 1 to the resource: write (token 1, tenure 1)"]);
}

/// A message is lost where it could arrive; with two places, each of them counts.
#[test]
fn a_loss_is_of_the_messages_that_are_named() {
    let asked = |scenario: &Scenario<Lease>| {
        let mut world = scenario.start();
        take(scenario, &mut world, "client 1 is asked to take the lock");
        labels(scenario, &world, ActionKind::Lose).len()
    };
    let writes = scenario().only_before(ActionKind::Lose, "the resource receives");
    assert_eq!(asked(&writes), 0);
    assert_eq!(asked(&writes.only_before(ActionKind::Lose, "from client #: lend")), 1);
    assert_eq!(asked(&scenario()), 1);
}

#[test]
fn a_resource_that_restarts_forgets_its_tokens() {
    let scenario = scenario();
    let mut world = scenario.start();
    let restarts = |world: &World<Lease>| labels(&scenario, world, ActionKind::ResourceRestart);
    assert!(restarts(&world).is_empty(), "it has nothing to forget");
    for label in [
        "client 1 is asked to take the lock",
        "the server receives from client 1: lend me the lock",
        "client 1 receives from the server: lent, loan 1",
        "client 1 is asked to write",
        "the resource receives from client 1: write (token 1)",
    ] {
        take(&scenario, &mut world, label);
    }
    assert_eq!(restarts(&world), ["the resource restarts"]);
    take(&scenario, &mut world, "the resource restarts");
    assert_eq!(world.resource, Resource::default());
    assert!(restarts(&world).is_empty(), "there is one restart in the budget");
}

#[test]
fn files_have_places_and_wrong_ones_are_refused() {
    let whole = scenario().only_before(ActionKind::Pause, "is asked to write");
    let text = whole.to_toml();
    assert!(text.contains("[[fault_place]]\nfault = \"pause\"\nbefore = \"is asked to write\"\n"), "{text}");
    assert_eq!(from_toml::<Lease>(&text, "file").as_ref(), Ok(&whole));
    let error = |fault: &str, before: &str| {
        let text = text.replace("\"pause\"", fault).replace("\"is asked to write\"", before);
        from_toml::<Lease>(&text, "file").expect_err("it is wrong").to_string()
    };
    assert!(error("\"resume\"", "\"x\"").contains("unknown variant `resume`, expected one of `operator`"));
    assert!(error("\"pause\"", "\"client 1 is\"").contains("write `#` for each number"));
    assert!(error("\"pause\"", "\"\"").contains("fault_place.0.before: write a part of the label"));
    let idle = scenario().only_before(ActionKind::Crash, "is asked");
    let notes: Vec<String> = idle.notes().iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["fault_place.0: it has no effect, because there is no budget for `crash`"]);
    let plain = scenario().resource(Accepts::All).validate().expect_err("nothing to forget");
    assert_eq!(plain.path, "budget.resource_restarts");
}
