//! A trace of any service.

use std::any::Any;
use std::fmt::Debug;

use fencepost_checker::{CheckOutcome, InternalError, Options, check_around};
use fencepost_model::finding::Property;
use fencepost_model::service::Service;
use fencepost_model::trace::{ReplayError, Replayed, ShrinkError, Trace, realign, script, shrink};
use fencepost_model::world::Action;

use crate::scenario::{AnyOutcome, AnyScenario};

/// A trace of any service: everything that can be done with it without knowing which.
pub trait AnyTrace: Debug + Send + Sync + 'static {
    /// The scenario that it is an execution of.
    fn scenario(&self) -> Box<dyn AnyScenario>;

    /// The scenario's name.
    fn scenario_name(&self) -> &str;

    /// The first promise that it breaks, as it was written down.
    fn broken(&self) -> Option<Property>;

    /// How many steps it has, passages of time not counted.
    fn steps(&self) -> usize;

    /// The file's text.
    fn to_text(&self) -> String;

    /// Another one like it.
    fn copy(&self) -> Box<dyn AnyTrace>;

    /// Whether the other one is the same trace.
    fn is_same(&self, other: &dyn AnyTrace) -> bool;

    /// Shrinks an execution that breaks the promise; see [`fencepost_model::trace::shrink()`].
    ///
    /// # Errors
    /// It does not break it.
    fn shrink(&self, property: Property) -> Result<Box<dyn AnyTrace>, ShrinkError>;

    /// The execution as a script; see [`fencepost_model::trace::script()`].
    fn script(&self) -> String;

    /// Whether this promise is broken by how the execution goes on, and not by a single step.
    fn is_about_the_end(&self, property: Property) -> bool;

    /// Repeats what can still happen; see [`fencepost_model::trace::realign()`].
    ///
    /// # Errors
    /// The scenario is impossible by now.
    fn realign(&self) -> Result<AnyRealigned, ReplayError>;

    /// Repeats the execution and tells it.
    ///
    /// # Errors
    /// The first step at which the trace and the model disagree.
    fn replay(&self) -> Result<Replayed, ReplayError>;

    /// Checks the promises of its scenario in what can follow its first `after` steps; see
    /// [`fencepost_checker::check_around`].
    ///
    /// # Errors
    /// An internal error.
    fn check_around(&self, after: usize, options: &Options) -> Result<Vec<AnyOutcome>, InternalError>;

    /// The trace itself, for code that knows the service.
    fn as_any(&self) -> &dyn Any;
}

/// An execution as it happens now.
#[derive(Clone, Debug)]
pub struct AnyRealigned {
    /// What happens now.
    pub trace: Box<dyn AnyTrace>,
    /// Where it first has a different effect than in the trace, and how.
    pub diverges: Option<ReplayError>,
    /// The numbers of the steps that were left out.
    pub skipped: Vec<usize>,
}

impl Clone for Box<dyn AnyTrace> {
    fn clone(&self) -> Self {
        self.copy()
    }
}

impl PartialEq for dyn AnyTrace {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other)
    }
}

impl<S: Service> From<CheckOutcome<S>> for AnyOutcome {
    fn from(outcome: CheckOutcome<S>) -> Self {
        let trace = outcome.trace.map(|trace| Box::new(trace) as Box<dyn AnyTrace>);
        AnyOutcome { finding: outcome.finding, trace }
    }
}

impl<S: Service> AnyTrace for Trace<S> {
    fn scenario(&self) -> Box<dyn AnyScenario> {
        Box::new(self.header.scenario.clone())
    }

    fn scenario_name(&self) -> &str {
        &self.header.scenario.name
    }

    fn broken(&self) -> Option<Property> {
        let broken = self.steps.iter().find_map(|step| step.violations.first());
        let lasso = self.header.lasso.as_ref().map(|lasso| lasso.property);
        let wait = self.header.waits.first().map(|wait| wait.property);
        broken.map(|violation| violation.property).or(lasso).or(wait)
    }

    fn steps(&self) -> usize {
        self.steps.iter().filter(|step| !matches!(step.action, Action::Advance(_))).count()
    }

    fn to_text(&self) -> String {
        Trace::to_text(self)
    }

    fn copy(&self) -> Box<dyn AnyTrace> {
        Box::new(self.clone())
    }

    fn is_same(&self, other: &dyn AnyTrace) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| self == other)
    }

    fn shrink(&self, property: Property) -> Result<Box<dyn AnyTrace>, ShrinkError> {
        shrink(self, property).map(|small| Box::new(small) as Box<dyn AnyTrace>)
    }

    fn script(&self) -> String {
        script(self)
    }

    fn is_about_the_end(&self, property: Property) -> bool {
        self.header.is_about_the_end(property)
    }

    fn realign(&self) -> Result<AnyRealigned, ReplayError> {
        realign(self).map(|found| AnyRealigned {
            trace: Box::new(found.trace),
            diverges: found.diverges,
            skipped: found.skipped,
        })
    }

    fn replay(&self) -> Result<Replayed, ReplayError> {
        Replayed::of(self)
    }

    fn check_around(&self, after: usize, options: &Options) -> Result<Vec<AnyOutcome>, InternalError> {
        Ok(check_around(self, after, options)?.into_iter().map(AnyOutcome::from).collect())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
