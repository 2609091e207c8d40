//! Laws: what must be true of every scenario, whatever happens in it. Proptest takes random walks through each scenario
//! of the catalogue; at every step the laws are looked at.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use fencepost_model::catalogue;
use fencepost_model::fact::Fact;
use fencepost_model::goal::Reached;
use fencepost_model::hash::Fingerprinter;
use fencepost_model::ids::ClientId;
use fencepost_model::protocol::Protocol;
use fencepost_model::scenario::{Budget, Scenario};
use fencepost_model::trace::{Recorder, Trace, perform, replay};
use fencepost_model::with_scenario;
use fencepost_model::world::{Action, NormalForm, Pool, Step, Stepper, Symmetry, World};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// Takes a law on random walks through every scenario. The walks are the same in every run; `PROPTEST_CASES` says how many.
macro_rules! law {
    ($name:ident, $law:ident) => {
        #[test]
        fn $name() {
            for scenario in catalogue::all() {
                with_scenario!(&scenario, scenario => {
                    let config = ProptestConfig { cases: ProptestConfig::default().cases.min(100), failure_persistence: None, ..ProptestConfig::default() };
                    let mut runner = TestRunner::new_with_rng(config, proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha));
                    runner
                        .run(&vec(any::<u16>(), 1..60), |choices| {
                            $law(scenario, &choices);
                            Ok(())
                        })
                        .unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
                });
            }
        }
    };
}

law!(the_normal_form_is_invisible, normal_form_is_invisible);
law!(who_is_who_does_not_matter, symmetry_is_invisible);
law!(a_step_renews_the_normal_form, renewal_is_invisible);
law!(step_is_deterministic_and_total_on_enabled, step_is_a_function);
law!(is_enabled_agrees_with_enabled, both_questions_have_one_answer);
law!(labels_are_unique_among_enabled, labels_are_unique);
law!(labels_are_enough_to_replay, labels_replay);
law!(everything_survives_json, json_round_trip);
law!(a_refined_scenario_agrees, refinement_agrees);
law!(what_is_not_budgeted_for_cannot_happen, budgets_are_kept);

/// Walks through a scenario and shows each world with what is enabled in it.
fn walk<P: Protocol>(scenario: &Scenario<P>, choices: &[u16], mut look: impl FnMut(&World<P>, &[Action<P>])) {
    let mut world = scenario.start();
    let mut enabled = Vec::new();
    for choice in choices {
        scenario.enabled(&world, &mut enabled);
        look(&world, &enabled);
        let Some(action) = enabled.get(usize::from(*choice) % enabled.len().max(1)) else { return };
        scenario.step(&mut world, action);
    }
}

fn after<P: Protocol>(scenario: &Scenario<P>, world: &World<P>, action: &Action<P>) -> (World<P>, Step<P>) {
    let mut next = world.clone();
    let step = scenario.step(&mut next, action);
    (next, step)
}

fn normal<P: Protocol>(scenario: &Scenario<P>, world: &World<P>) -> World<P> {
    let mut world = world.clone();
    scenario.normalise(&mut world);
    world
}

fn fingerprint(value: &impl std::hash::Hash) -> u64 {
    let mut hash = Fingerprinter::default();
    value.hash(&mut hash);
    std::hash::Hasher::finish(&hash)
}

/// The kinds of facts, without the numbers that the normal form changes.
fn kinds<P: Protocol>(facts: &[Fact<P>]) -> Vec<String> {
    facts.iter().map(|fact| format!("{fact:?}").split([' ', '(']).next().unwrap_or_default().to_owned()).collect()
}

/// What can happen next, as a sorted list of (normal successor, kinds of facts, broken properties).
fn successors<P: Protocol>(scenario: &Scenario<P>, world: &World<P>) -> Vec<(u64, Vec<String>, Vec<String>)> {
    let mut enabled = Vec::new();
    scenario.enabled(world, &mut enabled);
    let mut list: Vec<_> = enabled
        .iter()
        .map(|action| {
            let (next, step) = after(scenario, world, action);
            let broken = step.breaches.iter().map(|breach| breach.property.to_string()).collect();
            (fingerprint(&normal(scenario, &next)), kinds(&step.facts), broken)
        })
        .collect();
    list.sort();
    list
}

fn normal_form_is_invisible<P: Protocol>(scenario: &Scenario<P>, choices: &[u16]) {
    walk(scenario, choices, |world, _| {
        let form = normal(scenario, world);
        assert_eq!(form, normal(scenario, &form), "it is its own normal form");
        assert_eq!(
            successors(scenario, world),
            successors(scenario, &form),
            "nobody can tell from what happens next:\n{world:#?}\n{form:#?}"
        );
    });
}

fn step_is_a_function<P: Protocol>(scenario: &Scenario<P>, choices: &[u16]) {
    walk(scenario, choices, |world, enabled| {
        for action in enabled {
            assert!(scenario.is_enabled(world, action), "{action} is listed, and then it is not enabled");
            assert_eq!(after(scenario, world, action), after(scenario, world, action));
        }
    });
}

/// Asks about everything that could happen anywhere on the walk, in every world of the walk.
fn both_questions_have_one_answer<P: Protocol>(scenario: &Scenario<P>, choices: &[u16]) {
    let mut anywhere = BTreeSet::new();
    walk(scenario, choices, |_, enabled| anywhere.extend(enabled.iter().copied()));
    walk(scenario, choices, |world, enabled| {
        for action in &anywhere {
            assert_eq!(scenario.is_enabled(world, action), enabled.contains(action), "{action}");
        }
    });
}

fn labels_are_unique<P: Protocol>(scenario: &Scenario<P>, choices: &[u16]) {
    walk(scenario, choices, |_, enabled| {
        let labels: BTreeSet<String> = enabled.iter().map(ToString::to_string).collect();
        assert_eq!(labels.len(), enabled.len(), "{labels:#?}");
    });
}

/// Records the walk as a trace.
fn record<P: Protocol>(scenario: &Scenario<P>, choices: &[u16]) -> Trace<P> {
    let (mut world, mut recorder, mut enabled) = (scenario.start(), Recorder::default(), Vec::new());
    for choice in choices {
        scenario.enabled(&world, &mut enabled);
        let Some(action) = enabled.get(usize::from(*choice) % enabled.len().max(1)) else { break };
        recorder.step(scenario, &mut world, action);
    }
    recorder.finish(scenario, "a law", None)
}

fn labels_replay<P: Protocol>(scenario: &Scenario<P>, choices: &[u16]) {
    let trace = record(scenario, choices);
    let mut script = String::new();
    for line in &trace.steps {
        script += &format!("{}\n", line.label);
        line.facts.iter().for_each(|fact| script += &format!("    {fact}\n"));
        line.breaches.iter().for_each(|breach| script += &format!("    ✗ {}: {}\n", breach.property, breach.message));
    }
    assert_eq!(perform(&script, scenario).expect("every label names what it named"), script);
}

fn json_round_trip<P: Protocol>(scenario: &Scenario<P>, choices: &[u16]) {
    let trace = record(scenario, choices);
    let again = Trace::from_text(&trace.to_text()).expect("what was written can be read");
    assert_eq!(again, trace);
    assert_eq!(replay(&again).expect("what was recorded can be repeated"), trace);
    walk(scenario, choices, |world, _| {
        let text = serde_json::to_string(world).expect("a world can be written");
        assert_eq!(&serde_json::from_str::<World<P>>(&text).expect("and read"), world);
    });
}

/// On a finer clock the same things can happen: same labels, same facts, same breaches.
fn refinement_agrees<P: Protocol>(scenario: &Scenario<P>, choices: &[u16]) {
    const FACTOR: i64 = 3;
    let fine = scenario.refined(FACTOR);
    let (mut world, mut fine_world) = (scenario.start(), fine.start());
    let (mut enabled, mut fine_enabled) = (Vec::new(), Vec::new());
    for choice in choices {
        scenario.enabled(&world, &mut enabled);
        let Some(action) = enabled.get(usize::from(*choice) % enabled.len().max(1)) else { return };
        let fine_action = match action {
            Action::Advance(ticks) => Action::Advance(ticks.times(FACTOR)),
            Action::Slip { process, by } => Action::Slip { process: *process, by: by.times(FACTOR) },
            other => {
                fine.enabled(&fine_world, &mut fine_enabled);
                *fine_enabled
                    .iter()
                    .find(|fine| fine.to_string() == other.to_string())
                    .expect("it can happen on the finer clock, too")
            }
        };
        assert!(fine.is_enabled(&fine_world, &fine_action), "{fine_action} can happen on the finer clock, too");
        let (step, fine_step) = (scenario.step(&mut world, action), fine.step(&mut fine_world, &fine_action));
        assert_eq!(kinds(&step.facts), kinds(&fine_step.facts));
        let broken = |step: &Step<P>| step.breaches.iter().map(|breach| breach.property).collect::<Vec<_>>();
        assert_eq!(broken(&step), broken(&fine_step));
    }
}

fn budgets_are_kept<P: Protocol>(scenario: &Scenario<P>, choices: &[u16]) {
    let Budget {
        losses,
        duplicates,
        crashes,
        restarts,
        pauses,
        cuts,
        slips,
        operator,
        retries: _,
        outages,
        endless_outages,
        server_restarts,
        false_alarms,
    } = scenario.budget;
    // What an outage breaks may be mended again.
    let of_the_service = if endless_outages { u8::MAX } else { 2 * outages + server_restarts + false_alarms };
    let budgets = [
        ("lose", losses),
        ("duplicate", duplicates),
        ("crash", crashes),
        ("restart", restarts),
        ("pause", pauses),
        ("cut", cuts),
        ("slip", slips),
        ("operator", operator),
        ("service-fault", of_the_service),
    ];
    let trace = record(scenario, choices);
    for (kind, budget) in budgets {
        let taken = trace.steps.iter().filter(|line| line.action.kind() == kind).count();
        assert!(taken <= usize::from(budget), "{taken} × {kind}, and {budget} are allowed");
    }
}

/// Where clients are interchangeable, a world in which they have changed places allows the same, done by others, and what
/// comes of it is the same but for the names.
fn symmetry_is_invisible<P: Protocol>(scenario: &Scenario<P>, choices: &[u16]) {
    let symmetry = scenario.symmetry();
    let Some(group) = symmetry.groups().next() else { return };
    let (one, other) = (group[0], group[group.len() - 1]);
    let swap = |client: ClientId| match client {
        client if client == one => other,
        client if client == other => one,
        client => client,
    };
    let arranged = |world: &World<P>| {
        let order: Vec<usize> = (0..world.clients.len()).map(|place| swap(ClientId::of(place)).place()).collect();
        world.arranged(&order)
    };
    walk(scenario, choices, |world, enabled| {
        let swapped = arranged(world);
        let mut there = Vec::new();
        scenario.enabled(&swapped, &mut there);
        let here: BTreeSet<Action<P>> = enabled.iter().map(|action| action.renamed(&swap)).collect();
        assert_eq!(here, there.into_iter().collect(), "other actions are enabled");
        for action in enabled {
            let (next, step) = after(scenario, world, action);
            let (there, like) = after(scenario, &swapped, &action.renamed(&swap));
            assert_eq!(normal(scenario, &arranged(&next)), normal(scenario, &there), "{action}");
            assert_eq!(kinds(&step.facts), kinds(&like.facts), "{action}");
            assert_eq!(step.breaches.is_empty(), like.breaches.is_empty(), "{action}");
            let canonical = NormalForm::new(scenario, symmetry.clone()).form(next.clone());
            assert!(scenario.orbit(&canonical, &symmetry) == scenario.orbit(&normal(scenario, &next), &symmetry));
        }
    });
}

/// What is kept of a world over a step is what would be found by looking again, and a step taken back leaves nothing behind.
fn renewal_is_invisible<P: Protocol>(scenario: &Scenario<P>, choices: &[u16]) {
    for symmetry in [Symmetry::none(), scenario.symmetry()] {
        let form = NormalForm::new(scenario, symmetry);
        let mut before = form.form(scenario.start());
        let pool = Rc::new(RefCell::new(Pool::default()));
        let mut stepper = Stepper::new(scenario, &form, Box::new(Rc::clone(&pool)));
        let mut enabled = Vec::new();
        for choice in choices {
            scenario.enabled(&before, &mut enabled);
            let mut next = before.clone();
            let collapsed = stepper.collapse(&before);
            assert_eq!(**stepper.open(&collapsed), *before);
            for action in &enabled {
                let (after, step) = after(scenario, &before, action);
                scenario.step(next.world_mut(), action);
                form.renew(&mut next, &before, &step.touched);
                let again = form.form(after);
                // What was taken twice may be looked up the third time.
                for _ in 0..3 {
                    let taken = stepper.step(scenario, &form, action);
                    assert_eq!(taken.to, stepper.collapse(&again), "{action}");
                    assert_eq!(taken.is_breach, !step.breaches.is_empty(), "{action}");
                    assert_eq!(taken.reached, Reached::by(&step.facts), "{action}");
                    assert_eq!(pool.borrow().world(scenario, &taken.to), *again, "{action}");
                }
                assert_eq!(*next, *again, "{action}");
                assert_eq!(next.fingerprint(), again.fingerprint(), "{action}");
                next.undo(&before);
                assert_eq!(*next, *before, "{action} was not taken back");
            }
            let Some(action) = enabled.get(usize::from(*choice) % enabled.len().max(1)) else { break };
            let step = scenario.step(next.world_mut(), action);
            form.renew(&mut next, &before, &step.touched);
            before = next;
        }
    }
}

#[test]
fn every_scenario_survives_toml() {
    for scenario in catalogue::all() {
        let text = scenario.to_toml();
        let again = catalogue::AnyScenario::from_toml(&text, scenario.name()).expect("what was written can be read");
        assert_eq!(again, scenario, "{text}");
    }
}

/// Beyond the clients that have words of their own, and the places that have bits of their own.
#[test]
fn a_step_renews_the_normal_form_of_many_clients() {
    for (name, clients) in [("consul-retries", 9), ("consul-third-party", 70), ("lease-duplicates", 9)] {
        let scenario = catalogue::all().into_iter().find(|scenario| scenario.name() == name).expect("it is there");
        with_scenario!(scenario, scenario => {
            let scenario = Scenario { clients, ..scenario };
            let mut choices = 7_u32;
            let walk: Vec<u16> = std::iter::repeat_with(|| {
                choices = choices.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                u16::try_from(choices >> 16).expect("these are 16 bits")
            })
            .take(150)
            .collect();
            renewal_is_invisible(&scenario, &walk);
        });
    }
}

#[test]
fn every_scenario_is_as_possible_on_a_finer_clock() {
    for scenario in catalogue::all() {
        with_scenario!(&scenario, scenario => {
            let refined = scenario.refined(1000);
            assert_eq!(refined.validate(), Ok(()), "{}", scenario.name);
        });
    }
}
