//! A scenario of any service.

use std::any::Any;
use std::fmt::Debug;
use std::io;
use std::net::SocketAddr;

use fencepost_checker::mutants::Subject;
use fencepost_checker::{CertificateError, CertificateSize, InternalError, Options, browse, certify, check};
use fencepost_model::assumption::Assumption;
use fencepost_model::finding::{Finding, Split};
use fencepost_model::mutation::Mutation;
use fencepost_model::properties::Property;
use fencepost_model::scenario::{
    Axis, Note, Promise, Scenario, SettingError, Suite, Varied, from_toml, text_in_units, vary,
};
use fencepost_model::service::{Service, Settings as _};
use fencepost_model::time::Ticks;
use fencepost_model::trace::{ScriptError, Trace, TraceError, perform};
use fencepost_model::units::Duration;
use fencepost_sim::{Hunt, Hunted, RunSummary, Settings, Violation, hunt, prepare, ready, simulate, split, summarize};

use crate::shorten::shorten;
use crate::trace::AnyTrace;

/// A scenario of any service: everything that can be done with it without knowing which.
pub trait AnyScenario: Debug + Send + Sync + 'static {
    /// What it says of itself.
    fn description(&self) -> Description<'_>;

    /// The scenario as a TOML file.
    fn to_toml(&self) -> String;

    /// The length of a tick, if its durations have units.
    fn tick(&self) -> Option<Duration>;

    /// The dotted paths of all durations in its file that are not 0.
    fn duration_paths(&self) -> Vec<String>;

    /// The shortest TOML file of a scenario with the same executions and the same promises: without settings that have their
    /// default values, without goals, and without what people are told.
    fn to_short_toml(&self) -> String;

    /// The assumptions of its verdicts.
    fn assumptions(&self) -> Vec<Assumption>;

    /// Settings that have no effect.
    fn notes(&self) -> Vec<Note>;

    /// Whether it makes sense.
    ///
    /// # Errors
    /// What is wrong, and where.
    fn validate(&self) -> Result<(), SettingError>;

    /// Another one like it.
    fn copy(&self) -> Box<dyn AnyScenario>;

    /// Whether the other one is the same scenario.
    fn is_same(&self, other: &dyn AnyScenario) -> bool;

    /// The same scenario with only some of its promises judged.
    fn judging(&self, wanted: &dyn Fn(&Promise) -> bool) -> Box<dyn AnyScenario>;

    /// The same scenario with one promise more.
    ///
    /// # Errors
    /// The service cannot make that promise.
    fn promising(&self, promise: Promise) -> Result<Box<dyn AnyScenario>, SettingError>;

    /// The same scenario with a fault built in on purpose, or without one.
    fn mutated(&self, mutation: Option<Mutation>) -> Box<dyn AnyScenario>;

    /// The same scenario on a finer clock: every duration is multiplied by the factor.
    fn refined(&self, factor: i64) -> Box<dyn AnyScenario>;

    /// The same scenario with every combination of the values of these axes.
    fn vary(&self, axes: &[Axis]) -> Vec<Varied<Box<dyn AnyScenario>>>;

    /// Checks every promise; see [`fencepost_checker::check`].
    ///
    /// # Errors
    /// An internal error; a search that a limit stopped is a finding.
    fn check(&self, options: &Options) -> Result<Vec<AnyOutcome>, InternalError>;

    /// Writes a certificate for the promises that these findings call proven; see [`fencepost_checker::certify`].
    ///
    /// # Errors
    /// There is nothing to certify, or it cannot be written.
    fn certify(
        &self,
        findings: &[Finding],
        options: &Options,
        out: &mut dyn io::Write,
    ) -> Result<CertificateSize, CertificateError>;

    /// Simulates it from a seed, and records the trace; see [`fencepost_sim::simulate`].
    fn simulate(&self, settings: &Settings) -> AnyRun;

    /// Simulates it from a seed, and records nothing but what it comes to.
    fn summarize(&self, settings: &Settings) -> RunSummary;

    /// Searches seeds for a violation; see [`fencepost_sim::hunt`]. `is_over` receives the number of finished seeds, and may
    /// stop it.
    fn hunt(&self, hunt: &Hunt, is_over: &(dyn Fn(u64) -> bool + Sync)) -> Hunted;

    /// Estimates how likely a rare violation is; see [`fencepost_sim::split`].
    fn split(&self, settings: &Settings, promise: Property, effort: u64) -> Split;

    /// Whether it makes sense once it is refined and widened as the settings of a simulation say.
    ///
    /// # Errors
    /// What does not, as a sentence.
    fn can_be_simulated(&self, settings: &Settings) -> Result<(), String>;

    /// Serves it to stateright's Explorer, for ever.
    fn browse(&self, address: SocketAddr);

    /// Performs a script; see [`fencepost_model::trace::perform`].
    ///
    /// # Errors
    /// The first line that names nothing that may happen there.
    fn perform(&self, script: &str) -> Result<String, ScriptError>;

    /// Reads a trace of a scenario of the same service.
    ///
    /// # Errors
    /// The line and step that cannot be read.
    fn read_trace(&self, text: &str) -> Result<Box<dyn AnyTrace>, TraceError>;

    /// The scenario as what mutants are tried on.
    fn subject(&self) -> Box<dyn Subject>;

    /// The scenario itself, for code that knows the service: `scenario.as_any().downcast_ref::<Scenario<S>>()`.
    fn as_any(&self) -> &dyn Any;
}

/// What a scenario says of itself.
#[derive(Copy, Clone, Debug)]
pub struct Description<'a> {
    /// Unique name, also the file's.
    pub name: &'a str,
    /// The system that the scenario names.
    pub system: &'a str,
    /// The published hazard it shows, as `B-01`.
    pub hazard: Option<&'a str>,
    /// Further hazards.
    pub also: &'a [String],
    /// What the hazard is called.
    pub title: &'a str,
    /// Which variant of the hazard.
    pub variant: &'a str,
    /// One sentence for people.
    pub about: &'a str,
    /// What happens, and why it matters.
    pub story: &'a str,
    /// Where that is published, or which rules it follows from.
    pub sources: &'a [String],
    /// Which suite it belongs to.
    pub suite: Suite,
    /// How many clients want the lock.
    pub clients: u16,
    /// How often each client's user asks for the lock.
    pub rounds: u8,
    /// What must always hold, or is known to break.
    pub promises: &'a [Promise],
    /// A fault built in on purpose.
    pub mutation: Option<Mutation>,
}

/// A finding, and the counterexample that shows it.
#[derive(Clone, Debug)]
pub struct AnyOutcome {
    /// The verdict with its evidence.
    pub finding: Finding,
    /// The counterexample.
    pub trace: Option<Box<dyn AnyTrace>>,
}

/// What an execution from a seed came to.
#[derive(Clone, Debug)]
pub struct AnyRun {
    /// The scenario's name.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// One number for all of it.
    pub digest: String,
    /// How many actions.
    pub actions: u64,
    /// How much time went by, on the refined clock.
    pub ticks: i64,
    /// Whether it came to rest by itself.
    pub is_at_rest: bool,
    /// The first violation of each promise that broke.
    pub violations: Vec<Violation>,
    /// The execution.
    pub trace: Box<dyn AnyTrace>,
}

impl PartialEq for AnyRun {
    fn eq(&self, other: &Self) -> bool {
        let numbers = |run: &Self| (run.seed, run.actions, run.ticks, run.is_at_rest);
        let named = |run: &Self| (run.scenario.clone(), run.digest.clone(), run.violations.clone());
        numbers(self) == numbers(other) && named(self) == named(other) && *self.trace == *other.trace
    }
}

impl dyn AnyScenario {
    /// The scenario's name.
    pub fn name(&self) -> &str {
        self.description().name
    }

    /// Which system it is about.
    pub fn system(&self) -> &str {
        self.description().system
    }

    /// Its promises with their expected verdicts.
    pub fn promises(&self) -> &[Promise] {
        self.description().promises
    }

    /// The text of its file, or a shorter one, with units in place of ticks if it has them.
    pub fn in_units(&self, text: &str) -> String {
        match self.tick() {
            Some(tick) => text_in_units(text, &self.duration_paths(), tick),
            None => text.to_owned(),
        }
    }

    /// A number of ticks as it is told: with its unit, if there is one.
    pub fn told_ticks(&self, ticks: Ticks) -> String {
        ticks.told(self.tick())
    }

    /// The scenario itself, if it is one of this service.
    pub fn of<S: Service>(&self) -> Option<&Scenario<S>> {
        self.as_any().downcast_ref()
    }

    /// The fault that is built into the model on purpose, if there is one.
    pub fn mutation(&self) -> Option<Mutation> {
        self.description().mutation
    }
}

impl Clone for Box<dyn AnyScenario> {
    fn clone(&self) -> Self {
        self.copy()
    }
}

impl PartialEq for dyn AnyScenario {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other)
    }
}

impl<S: Service> From<Scenario<S>> for Box<dyn AnyScenario>
where
    Scenario<S>: AnyScenario,
{
    fn from(scenario: Scenario<S>) -> Self {
        Box::new(scenario)
    }
}

impl<S: Service> AnyScenario for Scenario<S> {
    fn description(&self) -> Description<'_> {
        Description {
            name: &self.name,
            system: &self.system,
            hazard: self.hazard.as_deref(),
            also: &self.also,
            title: &self.title,
            variant: &self.variant,
            about: &self.about,
            story: self.story.trim_end(),
            sources: &self.sources,
            suite: self.suite,
            clients: self.clients,
            rounds: self.rounds,
            promises: &self.promises,
            mutation: self.mutation,
        }
    }

    fn to_toml(&self) -> String {
        Scenario::to_toml(self)
    }

    fn tick(&self) -> Option<Duration> {
        self.tick
    }

    fn duration_paths(&self) -> Vec<String> {
        Scenario::duration_paths(self)
    }

    fn to_short_toml(&self) -> String {
        let bare = Scenario {
            hazard: None,
            also: Vec::new(),
            title: String::new(),
            variant: String::new(),
            story: String::new(),
            sources: Vec::new(),
            suite: Suite::default(),
            goals: Vec::new(),
            ..self.clone()
        };
        let means_the_same = |text: &str| from_toml::<S>(text, "short").is_ok_and(|read| read == bare);
        shorten(&AnyScenario::to_toml(&bare), &means_the_same)
    }

    fn assumptions(&self) -> Vec<Assumption> {
        Scenario::assumptions(self)
    }

    fn notes(&self) -> Vec<Note> {
        Scenario::notes(self)
    }

    fn validate(&self) -> Result<(), SettingError> {
        Scenario::validate(self)
    }

    fn copy(&self) -> Box<dyn AnyScenario> {
        Box::new(self.clone())
    }

    fn is_same(&self, other: &dyn AnyScenario) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| self == other)
    }

    fn judging(&self, wanted: &dyn Fn(&Promise) -> bool) -> Box<dyn AnyScenario> {
        Box::new(Scenario::judging(self, wanted))
    }

    fn promising(&self, promise: Promise) -> Result<Box<dyn AnyScenario>, SettingError> {
        let more = self.clone().promised(promise);
        Scenario::validate(&more)?;
        Ok(Box::new(more))
    }

    fn mutated(&self, mutation: Option<Mutation>) -> Box<dyn AnyScenario> {
        Box::new(Scenario { mutation, ..self.clone() })
    }

    fn refined(&self, factor: i64) -> Box<dyn AnyScenario> {
        Box::new(Scenario::refined(self, factor))
    }

    fn vary(&self, axes: &[Axis]) -> Vec<Varied<Box<dyn AnyScenario>>> {
        let boxed = |varied: Varied<Self>| Varied {
            settings: varied.settings,
            scenario: varied.scenario.map(|scenario| Box::new(scenario) as Box<dyn AnyScenario>),
        };
        vary(self, axes).into_iter().map(boxed).collect()
    }

    fn check(&self, options: &Options) -> Result<Vec<AnyOutcome>, InternalError> {
        Ok(check(self, options)?.into_iter().map(AnyOutcome::from).collect())
    }

    fn certify(
        &self,
        findings: &[Finding],
        options: &Options,
        out: &mut dyn io::Write,
    ) -> Result<CertificateSize, CertificateError> {
        certify(self, findings, options, out)
    }

    fn simulate(&self, settings: &Settings) -> AnyRun {
        let run = simulate(self, settings);
        AnyRun {
            scenario: run.scenario,
            seed: run.seed,
            digest: run.digest,
            actions: run.actions,
            ticks: run.ticks,
            is_at_rest: run.is_at_rest,
            violations: run.violations,
            trace: Box::new(run.trace),
        }
    }

    fn summarize(&self, settings: &Settings) -> RunSummary {
        summarize(&ready(self, settings), settings)
    }

    fn hunt(&self, task: &Hunt, is_over: &(dyn Fn(u64) -> bool + Sync)) -> Hunted {
        hunt(self, task, is_over)
    }

    fn split(&self, settings: &Settings, promise: Property, effort: u64) -> Split {
        split(&ready(self, settings), settings, promise, effort)
    }

    fn can_be_simulated(&self, settings: &Settings) -> Result<(), String> {
        let refined = prepare(self, settings);
        refined.validate().map_err(|mistake| format!("{}, refined: {mistake}", self.name))?;
        let Some(detector) = &settings.profile.detector else { return Ok(()) };
        if !refined.service.has_failure_detector() {
            return Err(format!(
                "{}: the profile has gossip, but the service does not listen to any; set `service.health.detection`",
                self.name
            ));
        }
        detector.validate(usize::from(refined.clients)).map_err(|why| format!("{}: {why}", self.name))
    }

    fn browse(&self, address: SocketAddr) {
        browse(self, address);
    }

    fn perform(&self, script: &str) -> Result<String, ScriptError> {
        perform(script, self)
    }

    fn read_trace(&self, text: &str) -> Result<Box<dyn AnyTrace>, TraceError> {
        Trace::<S>::from_text(text).map(|trace| Box::new(trace) as Box<dyn AnyTrace>)
    }

    fn subject(&self) -> Box<dyn Subject> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
