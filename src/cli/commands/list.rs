//! `fencepost list`: the scenarios with their promises.

use clap::Args;
use fencepost::registry::Description;
use fencepost::{AnyScenario, Promise, Suite};

use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::json::{ExpectationJson, ScenarioJson};
use crate::output::{say, say_json};
use crate::target;

#[derive(Args, Debug)]
pub struct List {
    /// Only these: scenarios, hazards (B-06) or files
    targets: Vec<String>,
}

pub fn run(list: &List, common: &Common) -> Result<Exit, CommandError> {
    let mut scenarios = Vec::new();
    for word in &list.targets {
        scenarios.extend(target::find(word, common)?);
    }
    if list.targets.is_empty() {
        scenarios = target::suite(Suite::Full);
    }
    for scenario in &scenarios {
        if common.json {
            let Description {
                name, system, hazard, also, title, variant, about, story, sources, suite, promises, ..
            } = scenario.description();
            let expected =
                |promise: &Promise| ExpectationJson { name: promise.property.name(), expect: promise.expect };
            let properties = promises.iter().map(expected).collect();
            say_json(&ScenarioJson {
                scenario: name,
                system,
                hazard,
                also,
                title,
                variant,
                about,
                story,
                sources,
                suite,
                properties,
            });
        } else {
            describe(&**scenario);
        }
    }
    Ok(Exit::AsExpected)
}

fn describe(scenario: &dyn AnyScenario) {
    let Description { name, hazard, about, promises, .. } = scenario.description();
    say(&format!("{name:<32} {:<5} {about}\n", hazard.unwrap_or("")));
    for promise in promises {
        let bound = promise.bound.map(|bound| format!(", {}", scenario.told_ticks(bound))).unwrap_or_default();
        say(&format!("{:<38} {}: {}{bound}\n", "", promise.property, promise.expect));
    }
}
