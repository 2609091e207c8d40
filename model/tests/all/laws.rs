//! Laws: what must be true of every scenario, whatever happens in it. Proptest takes random walks through each scenario
//! of the catalogue; the laws are looked at on each of them.

use std::collections::BTreeSet;
use std::env;

use fencepost::catalogue;
use fencepost::with_scenario;
use fencepost_model::fact::Fact;
use fencepost_model::laws::{
    LawViolation, budgets_are_kept, enabled_and_is_enabled_agree, faults_have_their_effect,
    properties_agree_with_their_twins,
};
use fencepost_model::monitor::{Observed, ObservedStep};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::trace::{Recorder, Trace, perform, replay, script};
use fencepost_model::world::Action;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

/// How many walks are taken through each scenario, unless `PROPTEST_CASES` says how many, as `.ci/run` does.
const WALKS: u32 = 8;

/// Takes random walks. They are the same in every run.
fn take_walks(scenario: &str, law: &dyn Fn(&[u16]) -> Result<(), LawViolation>) {
    let cases = env::var_os("PROPTEST_CASES").map_or(WALKS, |_| ProptestConfig::default().cases);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let walk = |choices: Vec<u16>| law(&choices).map_err(|violation| TestCaseError::fail(violation.to_string()));
    runner.run(&vec(any::<u16>(), 1..60), walk).unwrap_or_else(|error| panic!("{scenario}: {error}"));
}

/// Takes a law on random walks through every scenario.
macro_rules! law {
    ($name:ident, $law:ident) => {
        #[test]
        fn $name() {
            for scenario in catalogue::all() {
                with_scenario!(&scenario, scenario => take_walks(&scenario.name, &|choices| $law(scenario, choices)));
            }
        }
    };
}

law!(step_is_deterministic_and_total_on_enabled, step_is_a_function);
law!(is_enabled_agrees_with_enabled, enabled_and_is_enabled_agree);
law!(each_property_agrees_with_its_naive_twin, properties_agree_with_their_twins);
law!(a_fault_has_its_effect, faults_have_their_effect);
law!(labels_are_unique_among_enabled, labels_are_unique);
law!(labels_are_enough_to_replay, labels_replay);
law!(everything_survives_json, json_round_trip);
law!(a_refined_scenario_agrees, refinement_agrees);
law!(what_is_not_budgeted_for_cannot_happen, budgets_are_kept);

/// Walks through a scenario and shows each world with what is enabled in it.
fn walk<P: Service>(scenario: &Scenario<P>, choices: &[u16], mut look: impl FnMut(&Observed<P>, &[Action<P>])) {
    let mut world = scenario.observed();
    let mut enabled = Vec::new();
    for choice in choices {
        scenario.enabled(&world, &mut enabled);
        look(&world, &enabled);
        let Some(action) = enabled.get(usize::from(*choice) % enabled.len().max(1)) else { return };
        world.step(scenario, action);
    }
}

fn after<P: Service>(
    scenario: &Scenario<P>,
    world: &Observed<P>,
    action: &Action<P>,
) -> (Observed<P>, ObservedStep<P>) {
    let mut next = world.clone();
    let step = next.step(scenario, action);
    (next, step)
}

/// The kinds of facts, without the numbers that the normal form changes.
fn kinds<P: Service>(facts: &[Fact<P>]) -> Vec<String> {
    facts.iter().map(|fact| format!("{fact:?}").split([' ', '(']).next().unwrap_or_default().to_owned()).collect()
}

fn step_is_a_function<P: Service>(scenario: &Scenario<P>, choices: &[u16]) -> Result<(), LawViolation> {
    walk(scenario, choices, |world, enabled| {
        for action in enabled {
            assert!(scenario.is_enabled(world, action), "{action} is listed, and then it is not enabled");
            assert_eq!(after(scenario, world, action), after(scenario, world, action));
        }
    });
    Ok(())
}

fn labels_are_unique<P: Service>(scenario: &Scenario<P>, choices: &[u16]) -> Result<(), LawViolation> {
    walk(scenario, choices, |_, enabled| {
        let labels: BTreeSet<String> = enabled.iter().map(ToString::to_string).collect();
        assert_eq!(labels.len(), enabled.len(), "{labels:#?}");
    });
    Ok(())
}

/// Records the walk as a trace.
fn record<P: Service>(scenario: &Scenario<P>, choices: &[u16]) -> Trace<P> {
    let (mut world, mut recorder, mut enabled) = (scenario.observed(), Recorder::default(), Vec::new());
    for choice in choices {
        scenario.enabled(&world, &mut enabled);
        let Some(action) = enabled.get(usize::from(*choice) % enabled.len().max(1)) else { break };
        recorder.step(scenario, &mut world, action);
    }
    recorder.finish(scenario, "a law", None)
}

fn labels_replay<P: Service>(scenario: &Scenario<P>, choices: &[u16]) -> Result<(), LawViolation> {
    let trace = record(scenario, choices);
    let told = script(&trace);
    assert_eq!(perform(&told, scenario).expect("every label of a story names what it named"), told);
    let plain = trace.steps.iter().map(|step| format!("{}\n", step.label));
    let plain: String = [format!("scenario {}\n", scenario.name)].into_iter().chain(plain).collect();
    assert_eq!(perform(&plain, scenario).expect("every label of a trace names what it named"), told);
    Ok(())
}

fn json_round_trip<P: Service>(scenario: &Scenario<P>, choices: &[u16]) -> Result<(), LawViolation> {
    let trace = record(scenario, choices);
    let again = Trace::from_text(&trace.to_text()).expect("what was written can be read");
    assert_eq!(again, trace);
    assert_eq!(replay(&again).expect("what was recorded can be repeated"), trace);
    walk(scenario, choices, |world, _| {
        let text = serde_json::to_string(world).expect("a world can be written");
        assert_eq!(&serde_json::from_str::<Observed<P>>(&text).expect("and read"), world);
    });
    Ok(())
}

/// On a finer clock the same things can happen: same labels, same facts, same violations.
fn refinement_agrees<P: Service>(scenario: &Scenario<P>, choices: &[u16]) -> Result<(), LawViolation> {
    const FACTOR: i64 = 3;
    let fine = scenario.refined(FACTOR);
    let (mut world, mut fine_world) = (scenario.observed(), fine.observed());
    let (mut enabled, mut fine_enabled) = (Vec::new(), Vec::new());
    for choice in choices {
        scenario.enabled(&world, &mut enabled);
        let Some(action) = enabled.get(usize::from(*choice) % enabled.len().max(1)) else { break };
        let fine_action = match action {
            Action::Advance(ticks) => Action::Advance(ticks.times(FACTOR)),
            Action::Slip { process, by } => Action::Slip { process: *process, by: by.times(FACTOR) },
            other => {
                fine.enabled(&fine_world, &mut fine_enabled);
                *fine_enabled
                    .iter()
                    .find(|fine| fine.to_string() == other.to_string())
                    .unwrap_or_else(|| panic!("{other} cannot happen on the finer clock at {}", world.now))
            }
        };
        assert!(fine.is_enabled(&fine_world, &fine_action), "{fine_action} can happen on the finer clock, too");
        let (step, fine_step) = (world.step(scenario, action), fine_world.step(&fine, &fine_action));
        assert_eq!(kinds(&step.facts), kinds(&fine_step.facts));
        let broken =
            |step: &ObservedStep<P>| step.violations.iter().map(|violation| violation.property).collect::<Vec<_>>();
        assert_eq!(broken(&step), broken(&fine_step));
    }
    Ok(())
}

#[test]
fn every_scenario_survives_toml() {
    for scenario in catalogue::all() {
        let text = scenario.to_toml();
        let again = catalogue::read(&text, scenario.name()).expect("what was written can be read");
        assert_eq!(*again, *scenario, "{text}");
        assert_eq!(*catalogue::named(scenario.name()).expect("its file has its name"), *scenario);
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
