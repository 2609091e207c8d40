//! The counterexamples to reenact: from files, or found by the checker.

use std::path::Path;

use fencepost::model::scenario::Expect;
use fencepost::model::trace::Trace;
use fencepost::{AnyScenario, AnyTrace, Property, catalogue};
use fencepost_reenact::{Driven, PlanError, RealServer, is_alone, narrower, plan};

use super::Reenact;
use crate::args::Common;
use crate::exit::CommandError;
use crate::output::write_trace;
use crate::target;

/// A counterexample.
pub struct Subject<S: Driven> {
    pub scenario: String,
    /// The promise that it violates.
    pub property: String,
    /// The digest of the checker's counterexample.
    pub digest: String,
    pub trace: Trace<S>,
    /// What is other in the scenario of the trace, if it is not the checker's counterexample.
    pub other: Option<&'static str>,
    /// Where it is written.
    pub file: Option<String>,
}

impl<S: Driven> Subject<S> {
    /// Whether nothing else can go on at the server.
    pub fn is_alone(&self) -> bool {
        is_alone(&self.trace)
    }
}

/// The counterexamples that are meant.
pub fn subjects<R: RealServer>(
    server: &R,
    arguments: &Reenact,
    common: &Common,
) -> Result<Vec<Subject<R::Service>>, CommandError> {
    let mut subjects = Vec::new();
    if arguments.all {
        for scenario in catalogue::all() {
            if scenario.of::<R::Service>().is_some() {
                subjects.extend(violations(&*scenario, server, arguments, common)?);
            }
        }
        return Ok(subjects);
    }
    for word in &arguments.targets {
        let found = match word.ends_with(".jsonl") {
            true => vec![from_file(word, server)?],
            false => {
                let mut found = Vec::new();
                for scenario in target::find(word, common)? {
                    found.extend(violations(&*scenario, server, arguments, common)?);
                }
                found
            }
        };
        if found.is_empty() {
            let message = match arguments.property {
                Some(property) => format!("{word}: no counterexample of `{property}`"),
                None => format!("{word}: no promise is violated, so there is no counterexample"),
            };
            return Err(CommandError::Input(message));
        }
        subjects.extend(found);
    }
    Ok(subjects)
}

fn from_file<R: RealServer>(file: &str, server: &R) -> Result<Subject<R::Service>, CommandError> {
    let trace = target::trace(Path::new(file))?;
    trace.replay().map_err(|error| CommandError::Input(format!("{file}: {error}")))?;
    let property = trace.broken().map_or_else(|| "none".to_owned(), |property| property.name().to_owned());
    let trace = of_service(&*trace, file, server)?;
    let (scenario, digest) = (trace.header.scenario.name.clone(), trace.header.digest.clone());
    Ok(Subject { scenario, property, digest, trace, other: None, file: Some(file.to_owned()) })
}

/// The trace, if it is one of the server's kind.
fn of_service<R: RealServer>(trace: &dyn AnyTrace, name: &str, server: &R) -> Result<Trace<R::Service>, CommandError> {
    let other = || {
        let system = trace.scenario().system().to_owned();
        CommandError::Input(format!("{name} is an execution of {system}, and the server is {}", server.name()))
    };
    trace.as_any().downcast_ref::<Trace<R::Service>>().cloned().ok_or_else(other)
}

/// A counterexample of each promise of a scenario that is violated.
fn violations<R: RealServer>(
    scenario: &dyn AnyScenario,
    server: &R,
    arguments: &Reenact,
    common: &Common,
) -> Result<Vec<Subject<R::Service>>, CommandError> {
    let is_meant = |property: Property| arguments.property.is_none_or(|only| only == property);
    let mut found = Vec::new();
    for promise in scenario.promises() {
        // The catalogue keeps what it is expected to keep; a scenario in a file may not.
        let is_kept = arguments.all && promise.expect == Expect::Proven;
        if is_kept || !is_meant(promise.property) {
            continue;
        }
        let Some(trace) = counterexample(scenario, promise.property, arguments, common)? else { continue };
        let trace = of_service(&*trace, scenario.name(), server)?;
        let property = promise.property.name();
        let digest = trace.header.digest.clone();
        let (trace, other) = possible(trace, promise.property, server, arguments, common)?;
        let name = format!("{}--{property}--reenacted", scenario.name());
        let file = write_trace(common.out.as_deref(), &name, &trace.to_text())?;
        found.push(Subject {
            scenario: scenario.name().to_owned(),
            property: property.to_owned(),
            digest,
            trace,
            other,
            file: file.map(|file| file.display().to_string()),
        });
    }
    Ok(found)
}

/// The checker's counterexample of a promise, if it is violated.
fn counterexample(
    scenario: &dyn AnyScenario,
    property: Property,
    arguments: &Reenact,
    common: &Common,
) -> Result<Option<Box<dyn AnyTrace>>, CommandError> {
    let judged = scenario.judging(&|promise| promise.property == property);
    let outcomes = arguments.search.watched((scenario.name(), None), common, |options| judged.check(options))?;
    Ok(outcomes.into_iter().find_map(|outcome| outcome.trace))
}

/// The counterexample; or one of the same promise in a scenario with fewer executions, if only that one can happen from outside.
fn possible<R: RealServer>(
    trace: Trace<R::Service>,
    property: Property,
    server: &R,
    arguments: &Reenact,
    common: &Common,
) -> Result<(Trace<R::Service>, Option<&'static str>), CommandError> {
    let is_hopeless = |trace: &Trace<R::Service>| match plan(trace, server.means(), 1) {
        Err(PlanError::Hopeless(outcome)) => outcome.is_matter_of_time(),
        Ok(_) | Err(PlanError::NoExecution(_)) => false,
    };
    if !is_hopeless(&trace) {
        return Ok((trace, None));
    }
    for (how, other) in narrower(&trace.header.scenario) {
        let other = target::parse(&other.to_toml(), &other.name)?;
        let Some(found) = counterexample(&*other, property, arguments, common)? else { continue };
        let found = of_service(&*found, other.name(), server)?;
        if !is_hopeless(&found) {
            return Ok((found, Some(how)));
        }
    }
    Ok((trace, None))
}
