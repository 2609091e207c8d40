//! `fencepost regress`: a run that breaks a promise, as a test in Rust.

use std::path::PathBuf;

use clap::Args;
use fencepost::AnyTrace;
use fencepost::Property;

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
        "#[test]\nfn {name}() {{\n    fencepost::regression(\n{},\n{},\n    );\n}}\n",
        quoted(&scenario),
        quoted(&script)
    )
}
