//! The recipes as programs, line by line from their sources, against the state machine with their settings: the same verdicts on every
//! scenario of the catalogue whose clients can be programs.

use fencepost_checker::{Engine, Options};
use fencepost_etcd::as_programs;
use fencepost_etcd_explore::{SERVICE, Service, service};
use fencepost_model::scenario::Scenario;
use fencepost_registry::AnyScenario;

/// The scenario of the catalogue.
pub(super) fn shipped(name: &str) -> Scenario<Service> {
    let (_, text) = service().scenarios().iter().find(|(other, _)| *other == name).expect("it is in the list");
    let scenario = service().read(text, name).expect("it is valid");
    scenario.of::<Service>().expect("it is one of this service").clone()
}

/// Promises and verdicts; that no program panics is promised of programs only.
fn words(scenario: &dyn AnyScenario, options: &Options) -> Vec<(String, &'static str)> {
    let outcomes = scenario.check(options);
    let findings = outcomes.unwrap_or_else(|error| panic!("{error}")).into_iter().map(|outcome| outcome.finding);
    let words = findings.map(|finding| (finding.property.to_string(), finding.verdict.word()));
    words.filter(|(property, word)| property != NO_PANIC || *word == "violated").collect()
}

const NO_PANIC: &str = "no-panic";

#[test]
fn the_recipes_line_by_line_get_the_verdicts_of_the_state_machine() {
    let usual = Options { workers: 2, ..Options::default() };
    let (mut compared, mut differ) = (0, Vec::new());
    let only = std::env::var("ONLY").unwrap_or_default();
    for (name, _) in service().scenarios() {
        if !name.contains(&only) {
            continue;
        }
        let machine = shipped(name);
        let Some(program) = as_programs(&machine) else { continue };
        let began = std::time::Instant::now();
        let (machine, program) = (words(SERVICE.any(&machine), &usual), words(SERVICE.any(&program), &usual));
        eprintln!("{}{name}: {:?} {:?}", if machine == program { "" } else { "DIFFER " }, began.elapsed(), program);
        if machine != program {
            differ.push(format!("{name}: {machine:?}, and of the programs {program:?}"));
        }
        compared += 1;
    }
    assert!(differ.is_empty(), "{} differ\n{}", differ.len(), differ.join("\n"));
    assert_eq!(compared, 89);
}

#[test]
fn the_searches_agree_about_the_recipes() {
    for name in ["e02-3-4", "e03-looks", "e13-fixed", "e19-own-key"] {
        let program = as_programs(&shipped(name)).expect("it has one");
        let usual = words(SERVICE.any(&program), &Options::default());
        for engine in [Engine::Dataflow, Engine::Stateright] {
            let plain = Options { engine, symmetry: false, ..Options::default() };
            assert_eq!(words(SERVICE.any(&program), &plain), usual, "{name}: {engine:?}");
        }
    }
}
