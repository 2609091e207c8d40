//! What a service ships with, and how its files are read.

use std::fmt::Debug;

use fencepost_model::goal::Goal;
use fencepost_model::mutation::Mutation;
use fencepost_model::scenario::{Scenario, ScenarioError, from_toml, outdated, outdated_in_trace};
use fencepost_model::service::Service;
use fencepost_model::trace::{Trace, TraceError};
use schemars::JsonSchema;

use crate::scenario::AnyScenario;
use crate::trace::AnyTrace;

/// A service of any kind.
pub trait AnyService: Debug + Send + Sync {
    /// The names of its systems in scenario files.
    fn systems(&self) -> &'static [&'static str];

    /// The scenarios that it ships with: names and texts.
    fn scenarios(&self) -> &'static [(&'static str, &'static str)];

    /// What published documents say of it, and which promises show that it is wrong: TOML, as `reports` reads it.
    fn documents(&self) -> &'static [&'static str];

    /// Values of its settings that are mistakes of a client, or faults of a server, and no choice of an operator: the dotted path, and a word,
    /// `true` or `false`.
    fn mistakes(&self) -> &'static [(&'static str, &'static str)];

    /// The goals that only its events reach.
    fn goals(&self) -> &'static [Goal];

    /// The faults that can be built into its sources on purpose.
    fn mutations(&self) -> &'static [Mutation];

    /// Reads a scenario of one of its systems. `file` is only used in messages.
    ///
    /// # Errors
    /// Anything a person can get wrong, with line and column.
    fn read(&self, text: &str, file: &str) -> Result<Box<dyn AnyScenario>, ScenarioError>;

    /// Names in a scenario text that are still read and have new names by now.
    fn outdated(&self, text: &str, file: &str) -> Vec<ScenarioError>;

    /// The JSON Schema of its scenario files; see [`Scenario::schema`].
    fn schema(&self, definitions: &str) -> serde_json::Value;

    /// Reads a trace of one of its systems.
    ///
    /// # Errors
    /// The line and step that cannot be read.
    fn read_trace(&self, text: &str) -> Result<Box<dyn AnyTrace>, TraceError>;

    /// The same for the header of a trace.
    fn outdated_in_trace(&self, header: &serde_json::Value) -> Vec<String>;
}

/// A service, registered with what it ships with.
#[derive(Debug)]
pub struct Registered<S: Service> {
    scenarios: &'static [(&'static str, &'static str)],
    documents: &'static [&'static str],
    mistakes: &'static [(&'static str, &'static str)],
    programs: fn(),
    erase: Erase<S>,
}

/// Puts a scenario behind its object-safe trait. The explorers are compiled where the function is made, and not where it is
/// called.
pub type Erase<S> = fn(&Scenario<S>) -> &dyn AnyScenario;

/// Makes such a function.
pub const fn erase<S: Service>() -> Erase<S> {
    |scenario| scenario
}

impl<S: Service> Registered<S> {
    /// A service with these scenarios: names and texts.
    pub const fn new(scenarios: &'static [(&'static str, &'static str)]) -> Self {
        Registered { scenarios, documents: &[], mistakes: &[], programs: || (), erase: erase() }
    }

    /// The same with what published documents say of it.
    #[must_use]
    pub const fn with_documents(self, documents: &'static [&'static str]) -> Self {
        Registered { documents, ..self }
    }

    /// The same with values of settings that no operator chooses; see [`AnyService::mistakes`].
    #[must_use]
    pub const fn with_mistakes(self, mistakes: &'static [(&'static str, &'static str)]) -> Self {
        Registered { mistakes, ..self }
    }

    /// The same with a function that makes its programs known, so that scenario files and traces can name them.
    #[must_use]
    pub const fn with_programs(self, programs: fn()) -> Self {
        Registered { programs, ..self }
    }

    /// Puts a scenario behind its object-safe trait.
    pub fn erase(&self) -> Erase<S> {
        self.erase
    }

    /// The scenario behind its object-safe trait. A caller that checks or simulates it so compiles no explorer.
    pub fn any<'a>(&self, scenario: &'a Scenario<S>) -> &'a dyn AnyScenario {
        (self.erase)(scenario)
    }
}

impl<S: Service> AnyService for Registered<S>
where
    S::Settings: JsonSchema,
{
    fn systems(&self) -> &'static [&'static str] {
        S::SYSTEMS
    }

    fn scenarios(&self) -> &'static [(&'static str, &'static str)] {
        self.scenarios
    }

    fn documents(&self) -> &'static [&'static str] {
        self.documents
    }

    fn mistakes(&self) -> &'static [(&'static str, &'static str)] {
        self.mistakes
    }

    fn goals(&self) -> &'static [Goal] {
        S::GOALS
    }

    fn mutations(&self) -> &'static [Mutation] {
        S::MUTATIONS
    }

    fn read(&self, text: &str, file: &str) -> Result<Box<dyn AnyScenario>, ScenarioError> {
        (self.programs)();
        from_toml::<S>(text, file).map(|scenario| Box::new(scenario) as Box<dyn AnyScenario>)
    }

    fn outdated(&self, text: &str, file: &str) -> Vec<ScenarioError> {
        outdated::<S>(text, file)
    }

    fn schema(&self, definitions: &str) -> serde_json::Value {
        Scenario::<S>::schema(definitions)
    }

    fn read_trace(&self, text: &str) -> Result<Box<dyn AnyTrace>, TraceError> {
        (self.programs)();
        Trace::<S>::from_text(text).map(|trace| Box::new(trace) as Box<dyn AnyTrace>)
    }

    fn outdated_in_trace(&self, header: &serde_json::Value) -> Vec<String> {
        outdated_in_trace::<S>(header)
    }
}
