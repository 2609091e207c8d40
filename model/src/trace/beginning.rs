//! Where the executions of a scenario begin: at the processes' start, or after the actions of its prefix.

use super::script::find;
use super::{Lasso, Recorder, Trace, Wait};
use crate::goal::Reached;
use crate::monitor::{Monitor, Observed};
use crate::scenario::{Scenario, SettingError};
use crate::service::Service;
use crate::world::{Action, World};

impl<P: Service> Scenario<P> {
    /// The world in which executions begin.
    ///
    /// # Panics
    /// The prefix is not possible: [`validate`](Scenario::validate) refuses it.
    pub fn start(&self) -> World<P> {
        if self.prefix.is_empty() { self.initial() } else { self.observed().world }
    }

    /// The same with a monitor for the promises of the scenario. It has seen the prefix, and forgets what that violates: a write of the
    /// prefix, say, can make a later one a lost update.
    ///
    /// # Panics
    /// See [`start`](Scenario::start).
    pub fn observed(&self) -> Observed<P> {
        let world = self.initial();
        let monitor = Monitor::new(self, world.clients.len());
        let mut start = Observed { world, monitor };
        for (place, label) in self.prefix.iter().enumerate() {
            let action = self.prefixed(&start, place, label).unwrap_or_else(|error| panic!("{}: {error}", self.name));
            start.step(self, &action);
        }
        start
    }

    /// The actions of the prefix.
    ///
    /// # Errors
    /// The first label that names no action which is possible there, with those that are.
    pub fn prefix_actions(&self) -> Result<Vec<Action<P>>, SettingError> {
        if self.prefix.is_empty() {
            return Ok(Vec::new());
        }
        let mut world = self.initial();
        let labels = self.prefix.iter().enumerate();
        labels
            .map(|(place, label)| {
                let action = self.prefixed(&world, place, label)?;
                self.step(&mut world, &action);
                Ok(action)
            })
            .collect()
    }

    /// The goals that the prefix reaches.
    ///
    /// # Panics
    /// See [`start`](Scenario::start).
    pub fn reached_by_prefix(&self) -> Reached {
        let actions = self.prefix_actions().unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let mut world = self.initial();
        actions
            .iter()
            .fold(Reached(0), |all, action| Reached(all.0 | self.reached(&self.step(&mut world, action).facts).0))
    }

    fn prefixed(&self, world: &World<P>, place: usize, label: &str) -> Result<Action<P>, SettingError> {
        // The message of a setting is one line.
        find(self, world, label).map_err(|message| {
            let message = message.replacen(":\n    ", ": ", 1).replace("\n    ", "; ");
            SettingError::at(&format!("prefix.{place}"), message)
        })
    }
}

impl<P: Service> Trace<P> {
    /// The same execution from the processes' start, in the scenario without its prefix: what the prefix does are steps, too.
    ///
    /// # Panics
    /// The prefix or a step is not possible: replay refuses the trace.
    #[must_use]
    pub fn with_prefix(&self) -> Trace<P> {
        let header = &self.header;
        let prefix = header.scenario.prefix_actions().unwrap_or_else(|error| panic!("{error}"));
        if prefix.is_empty() {
            return self.clone();
        }
        let scenario = Scenario { prefix: Vec::new(), ..header.scenario.clone() };
        let mut world = scenario.observed();
        let mut recorder = Recorder::default();
        for action in prefix.iter().chain(self.steps.iter().map(|step| &step.action)) {
            recorder.step(&scenario, &mut world, action);
        }
        let mut whole = recorder.finish(&scenario, &header.origin, header.seed);
        whole.header.lasso = header.lasso.clone().map(|lasso| Lasso { from: lasso.from + prefix.len(), ..lasso });
        let later = |wait: &Wait| Wait {
            calm_from: wait.calm_from + prefix.len(),
            step: wait.step + prefix.len(),
            ..wait.clone()
        };
        whole.header.waits = header.waits.iter().map(later).collect();
        whole
    }
}
