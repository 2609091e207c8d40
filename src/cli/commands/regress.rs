//! `fencepost regress`: a run that breaks a promise, as a test in Rust.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use fencepost::AnyTrace;
use fencepost::Property;
use fencepost::model::service::Service;

use crate::args::{Common, property};
use crate::exit::{CommandError, Exit};
use crate::json::RegressionJson;
use crate::output::{say, say_json};
use crate::target;

#[derive(Args, Debug)]
pub struct Regress {
    /// A trace file whose execution violates a promise
    trace: PathBuf,
    /// The promise whose violation is kept [default: the first that the execution violates]
    #[arg(long, value_parser = property, value_name = "NAME")]
    property: Option<Property>,
    /// Keep every step; otherwise the run is made shorter first
    #[arg(long)]
    whole: bool,
}

pub fn run(regress: &Regress, common: &Common) -> Result<Exit, CommandError> {
    let file = regress.trace.display();
    let bad = |error: &dyn std::fmt::Display| CommandError::Input(format!("{file}: {error}"));
    let trace = target::trace(&regress.trace)?;
    trace.replay().map_err(|error| bad(&error))?;
    let Some(property) = regress.property.or(trace.broken()) else {
        return Err(bad(&"the run breaks no promise: there is nothing to guard against"));
    };
    if trace.is_about_the_end(property) {
        return Err(bad(&"an endless run is no list of steps; keep the file, and `fencepost replay` it"));
    }
    let small = if regress.whole { trace } else { trace.shrink(property).map_err(|error| bad(&error))? };
    let test = test(&*small, property);
    if common.json {
        say_json(&RegressionJson {
            scenario: small.scenario_name(),
            property: property.name(),
            steps: small.steps(),
            test: &test,
        });
    } else {
        say(&test);
    }
    Ok(Exit::AsExpected)
}

fn test(trace: &dyn AnyTrace, property: Property) -> String {
    let name = format!("{}_breaks_{property}", trace.scenario_name()).replace('-', "_");
    let (scenario, script) = (trace.scenario().to_short_toml(), trace.script());
    // As many as it takes to end the strings where they end.
    let hashes = (1..).map(|count| "#".repeat(count)).find(|hashes| {
        let end = format!("\"{hashes}");
        !scenario.contains(&end) && !script.contains(&end)
    });
    let hashes = hashes.expect("some number is enough");
    let quoted = |text: &str| format!("r{hashes}\"\n{}\n\"{hashes}", text.trim());
    format!(
        "#[test]\nfn {name}() {{\n{}    fencepost::regression(\n{},\n{},\n    );\n}}\n",
        registrations(&scenario),
        quoted(&scenario),
        quoted(&script)
    )
}

/// The lines that make recipes of one's own known to the test; none where the services ship with all programs of the scenario. A trace has the name
/// of a recipe and of its crate, and not that of its type, which is taken for the name in Rust's spelling.
fn registrations(scenario: &str) -> String {
    let table: toml::Table = scenario.parse().unwrap_or_default();
    let text = |of: &toml::Value, key: &str| of.get(key).and_then(toml::Value::as_str).unwrap_or_default().to_owned();
    let system = table.get("system").and_then(toml::Value::as_str).unwrap_or_default();
    let programs = table.get("program").and_then(toml::Value::as_array).into_iter().flatten();
    let named = programs.map(|program| (text(program, "package"), text(program, "name")));
    let own: BTreeSet<(String, String)> = named.filter(|(package, _)| !package.starts_with("fencepost_")).collect();
    let Some(service) = service(system).filter(|_| !own.is_empty()) else { return String::new() };
    let line = |(package, name): &(String, String)| {
        format!("    fencepost::model::program::register::<{service}, {package}::{}>();\n", type_name(name))
    };
    let lines: String = own.iter().map(line).collect();
    format!(
        "    // Recipes of one's own. If the type has another name than the recipe, its name belongs here.\n{lines}"
    )
}

/// The type of the service of a system.
fn service(system: &str) -> Option<&'static str> {
    let of = [
        (fencepost::consul::Consul::SYSTEMS, "fencepost::consul::Consul"),
        (fencepost::etcd::Etcd::SYSTEMS, "fencepost::etcd::Etcd"),
        (fencepost::lease::Lease::SYSTEMS, "fencepost::lease::Lease"),
        (fencepost::observed_lease::ObservedLease::SYSTEMS, "fencepost::observed_lease::ObservedLease"),
        (fencepost::rabbitmq::RabbitMq::SYSTEMS, "fencepost::rabbitmq::RabbitMq"),
        (fencepost::redlock::Redlock::SYSTEMS, "fencepost::redlock::Redlock"),
        (fencepost::stores::Stores::SYSTEMS, "fencepost::stores::Stores"),
    ];
    of.into_iter().find(|(systems, _)| systems.contains(&system)).map(|(_, service)| service)
}

/// `our-lock` as `OurLock`.
fn type_name(recipe: &str) -> String {
    let words = recipe.split('-').map(|word| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    });
    words.collect()
}
