//! A list of services: what they ship with, and which of them reads a file.

use fencepost_model::mutation::{Mutation, common};
use fencepost_model::scenario::{ScenarioError, system_of};
use fencepost_model::trace::{TraceError, system_of_trace};

use crate::scenario::AnyScenario;
use crate::service::AnyService;
use crate::trace::AnyTrace;

/// A list of services. Each is behind a function, so that the explorers are compiled for it where the function is written, and not
/// again where the list is.
#[derive(Copy, Clone, Debug)]
pub struct Catalogue(pub &'static [fn() -> &'static dyn AnyService]);

impl Catalogue {
    /// The services, in order.
    pub fn services(self) -> impl Iterator<Item = &'static dyn AnyService> {
        self.0.iter().map(|service| service())
    }

    /// Every scenario that the services ship with, in order.
    ///
    /// # Panics
    /// One of them cannot be read: tests read them all.
    pub fn all(self) -> Vec<Box<dyn AnyScenario>> {
        let read = |service: &dyn AnyService, (name, text): &(&str, &str)| {
            service.read(text, name).expect("the files of the catalogue are tested")
        };
        self.services().flat_map(|service| service.scenarios().iter().map(move |file| read(service, file))).collect()
    }

    /// The scenario of this name, if a service ships with it. No other one is read.
    ///
    /// # Panics
    /// It cannot be read: tests read them all.
    pub fn named(self, name: &str) -> Option<Box<dyn AnyScenario>> {
        let read = |service: &dyn AnyService| {
            let (name, text) = service.scenarios().iter().find(|(of_file, _)| *of_file == name)?;
            Some(service.read(text, name).expect("the files of the catalogue are tested"))
        };
        self.services().find_map(read)
    }

    /// Names and texts of the scenario files that the services ship with, in order.
    pub fn files(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.services().flat_map(|service| service.scenarios()).copied()
    }

    /// What published documents say, and which promises show that it is wrong: TOML, as `reports` reads it.
    pub fn documents(self) -> impl Iterator<Item = &'static str> {
        self.services().flat_map(|service| service.documents()).copied()
    }

    /// The names of all systems.
    pub fn systems(self) -> impl Iterator<Item = &'static str> {
        self.services().flat_map(|service| service.systems()).copied()
    }

    /// Every mutation: those of each service, then those of kernel and checker.
    pub fn mutations(self) -> Vec<Mutation> {
        self.services().flat_map(|service| service.mutations()).copied().chain(common()).collect()
    }

    /// Reads a scenario of whichever system the text names. `file` is only used in messages.
    ///
    /// # Errors
    /// Anything a person can get wrong, with line and column.
    pub fn read(self, text: &str, file: &str) -> Result<Box<dyn AnyScenario>, ScenarioError> {
        let system = system_of(text, file)?;
        let Some(service) = self.service(&system) else {
            let known: Vec<&str> = self.systems().collect();
            let message = format!("there is no system `{system}`; there are `{}`", known.join("`, `"));
            return Err(ScenarioError::system(text, file, message));
        };
        service.read(text, file)
    }

    /// The JSON Schema (draft 7) of the scenario files of all services. Each service has its definitions below the name of
    /// its first system.
    pub fn schema(self) -> serde_json::Value {
        let mut definitions = serde_json::Map::new();
        let mut choices = Vec::new();
        for service in self.services() {
            let name = service.systems()[0];
            let mut schema = service.schema(&format!("/definitions/{name}"));
            let root = schema.as_object_mut().expect("a schema is an object");
            root.remove("$schema");
            if let Some(serde_json::Value::Object(own)) = root.remove("definitions") {
                definitions.extend(own);
            }
            choices.push(schema);
        }
        serde_json::json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "title": "A scenario",
            "oneOf": choices,
            "definitions": definitions,
        })
    }

    /// Names in a scenario text that are still read and have new names by now.
    pub fn outdated(self, text: &str, file: &str) -> Vec<ScenarioError> {
        let system = system_of(text, file).unwrap_or_default();
        self.service(&system).map(|service| service.outdated(text, file)).unwrap_or_default()
    }

    /// Reads a trace file of whichever system its header names.
    ///
    /// # Errors
    /// The line and step that cannot be read.
    pub fn read_trace(self, text: &str) -> Result<Box<dyn AnyTrace>, TraceError> {
        let system = system_of_trace(text)?;
        let service = self.service(&system);
        service.ok_or_else(|| TraceError::UnknownSystem(system.clone()))?.read_trace(text)
    }

    /// Names in a trace's header that are still read and have new names by now.
    pub fn outdated_in_trace(self, text: &str) -> Vec<String> {
        let first = text.lines().next().unwrap_or_default();
        let Ok(header) = serde_json::from_str::<serde_json::Value>(first) else { return Vec::new() };
        let service = header["system"].as_str().and_then(|system| self.service(system));
        service.map(|service| service.outdated_in_trace(&header)).unwrap_or_default()
    }

    /// The service of a system.
    pub fn service(self, system: &str) -> Option<&'static dyn AnyService> {
        self.services().find(|service| service.systems().contains(&system))
    }
}
