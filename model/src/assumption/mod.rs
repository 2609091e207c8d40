//! The assumptions of a verdict, as typed data: bounds on delays, clocks, budgets of faults, fairness, settings of the
//! service, and the limits of the model. Each declaration of an assumption has a sentence and a check of an execution.
//!
//! ```text
//! mod          one assumption, and a list of those that are declared
//! execution    an execution with every state that it passed, for the checks
//! kernel       the kernel's assumptions: network, clocks, processes, faults, fairness
//! fault_places where faults strike
//! limits       the kernel's limits
//! ```

mod execution;
mod fairness;
mod fault_places;
mod faults;
mod kernel;
mod limits;
mod timing;

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use execution::{Execution, Moment};
pub use faults::declare_retries;
pub use timing::messages_arrive_within;

use crate::scenario::{Promise, Scenario};
use crate::service::{Service, Settings as _};
use crate::units::in_units;

/// One assumption of a verdict.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Assumption {
    /// Its subject, in kebab-case: `message-delay`, `losses`, `clock-jumps`, `session-ttl`, `finite-rounds`. A kind has
    /// the same meaning in every verdict.
    pub kind: Cow<'static, str>,
    /// Its category.
    pub class: Class,
    /// Its quantity, name or list of names, if it has one. Durations are in ticks.
    pub value: AssumptionValue,
    /// Its source: the dotted path of a setting in the scenario (`budget.losses`), or `model` for a limit of the model.
    pub source: Cow<'static, str>,
    /// The assumption as a sentence, with units if the scenario has them.
    pub sentence: String,
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// The category of an assumption.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// A fault built into the model on purpose: the verdict is about a mutant, not about the service.
    Mutation,
    /// A bound on a delay, or a statement about clocks.
    Timing,
    /// A fairness assumption.
    Fairness,
    /// A setting of the service or of the clients.
    Setting,
    /// The maximum number of faults of a kind.
    Budget,
    /// A limit of the model: the verdict does not cover executions beyond it.
    Limit,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Mutation => "mutation",
            Class::Timing => "timing",
            Class::Fairness => "fairness",
            Class::Setting => "setting",
            Class::Budget => "budget",
            Class::Limit => "limit",
        })
    }
}

/// The value of an assumption.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AssumptionValue {
    /// It has no value.
    None,
    /// A count, or a duration in ticks.
    Number(i64),
    /// A name.
    Name(String),
    /// Several names.
    Names(Vec<String>),
}

impl From<i64> for AssumptionValue {
    fn from(number: i64) -> Self {
        AssumptionValue::Number(number)
    }
}

impl From<crate::time::Ticks> for AssumptionValue {
    fn from(ticks: crate::time::Ticks) -> Self {
        AssumptionValue::Number(ticks.count())
    }
}

impl From<&str> for AssumptionValue {
    fn from(name: &str) -> Self {
        AssumptionValue::Name(name.to_owned())
    }
}

impl FromIterator<String> for AssumptionValue {
    fn from_iter<T: IntoIterator<Item = String>>(names: T) -> Self {
        AssumptionValue::Names(names.into_iter().collect())
    }
}

/// The promises for which an assumption matters.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Every promise.
    Every,
    /// Promises about endless executions.
    Endless,
    /// Promises about accepted writes.
    Effect,
}

/// Checks whether an assumption holds for an execution; the error says where it does not.
pub type Check<P> = Box<dyn Fn(&Execution<P>) -> Result<(), String>>;

/// An assumption with its check.
pub struct Declared<P: Service> {
    /// The assumption.
    pub assumption: Assumption,
    /// The promises for which it matters.
    pub scope: Scope,
    check: Option<Check<P>>,
}

impl<P: Service> Declared<P> {
    /// Whether the assumption holds of an execution.
    ///
    /// # Errors
    /// It does not: a sentence that names the step.
    pub fn holds(&self, execution: &Execution<P>) -> Result<(), String> {
        self.check.as_ref().map_or(Ok(()), |check| check(execution))
    }

    /// Whether an execution of the model could violate it. No execution can violate a limit of the model or an
    /// unbounded delay.
    pub fn can_fail(&self) -> bool {
        self.check.is_some()
    }
}

/// The assumptions of a scenario, while they are declared.
pub struct Declarations<P: Service> {
    list: Vec<Declared<P>>,
}

impl<P: Service> Declarations<P> {
    /// Declares an assumption.
    pub fn declare(&mut self, assumption: Assumption, check: impl Fn(&Execution<P>) -> Result<(), String> + 'static) {
        self.declare_for(Scope::Every, assumption, check);
    }

    /// Declares an assumption that matters for some promises only.
    pub fn declare_for(
        &mut self,
        scope: Scope,
        assumption: Assumption,
        check: impl Fn(&Execution<P>) -> Result<(), String> + 'static,
    ) {
        self.list.push(Declared { assumption, scope, check: Some(Box::new(check)) });
    }

    /// Declares an assumption that no execution of the model can violate: something is unbounded or absent.
    pub fn leave_out(&mut self, assumption: Assumption) {
        self.leave_out_for(Scope::Every, assumption);
    }

    /// Declares the same for some promises only.
    pub fn leave_out_for(&mut self, scope: Scope, assumption: Assumption) {
        self.list.push(Declared { assumption, scope, check: None });
    }
}

impl Assumption {
    /// An assumption without a value.
    pub fn new(class: Class, kind: &'static str, source: impl Into<Cow<'static, str>>, sentence: String) -> Self {
        Assumption { kind: kind.into(), class, value: AssumptionValue::None, source: source.into(), sentence }
    }

    /// The same with a value.
    #[must_use]
    pub fn of(self, value: impl Into<AssumptionValue>) -> Self {
        Assumption { value: value.into(), ..self }
    }

    /// A limit of the model, named in kebab-case.
    pub fn limit(kind: &'static str, sentence: &str) -> Self {
        Assumption::new(Class::Limit, kind, "model", sentence.to_owned())
    }
}

impl<P: Service> Scenario<P> {
    /// All assumptions of verdicts of this scenario, with their checks.
    pub fn declared(&self) -> Vec<Declared<P>> {
        let mut declarations = Declarations { list: Vec::new() };
        self.declare_mutation(&mut declarations);
        self.declare_programs(&mut declarations);
        self.declare_timing(&mut declarations);
        self.declare_fairness(&mut declarations);
        P::Settings::assumptions(self, &mut declarations);
        self.declare_faults(&mut declarations);
        self.declare_limits(&mut declarations);
        let mut list = declarations.list;
        if let Some(tick) = self.tick {
            for Declared { assumption, .. } in &mut list {
                assumption.sentence = in_units(&assumption.sentence, tick);
            }
        }
        list.sort_by_key(|declared| declared.assumption.class);
        list
    }

    /// The assumptions of verdicts of this scenario. A mutation comes first, limits of the model come last.
    pub fn assumptions(&self) -> Vec<Assumption> {
        let is_endless = |promise: &Promise| promise.property.is_about_endless_runs(promise.bound);
        let has_endless = self.promises.iter().any(is_endless);
        let matters = |declared: &Declared<P>| declared.scope != Scope::Endless || has_endless;
        self.declared().into_iter().filter(matters).map(|declared| declared.assumption).collect()
    }

    /// The assumptions of the verdict on one promise.
    pub fn assumptions_of(&self, promise: &Promise) -> Vec<Assumption> {
        let is_endless = promise.property.is_about_endless_runs(promise.bound);
        let matters = |declared: &Declared<P>| match declared.scope {
            Scope::Every => true,
            Scope::Endless => is_endless,
            // That items stay in the queue is the resource's doing.
            Scope::Effect => {
                promise.property.level() == crate::properties::Level::Effect || promise.property.is_about_items()
            }
        };
        self.declared().into_iter().filter(matters).map(|declared| declared.assumption).collect()
    }
}
