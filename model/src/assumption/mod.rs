//! What a verdict rests on, as typed data: bounds on lateness, clocks, budgets of faults, fairness, settings of the service, and
//! what the model leaves out. Whoever declares an assumption says it in words, and says how an execution is checked against it.
//!
//! ```text
//! mod          one assumption, and a list of those that are declared
//! execution    an execution with every state that it passed, for the checks
//! kernel       what the kernel declares: network, clocks, processes, faults, fairness
//! limits       what the kernel leaves out
//! ```

mod execution;
mod fairness;
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

/// Something that a verdict rests on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Assumption {
    /// What it is about, in kebab-case: `message-delay`, `losses`, `clock-jumps`, `session-ttl`, `finite-rounds`. The same
    /// kind has the same meaning in every verdict.
    pub kind: Cow<'static, str>,
    /// What sort of thing it is.
    pub class: Class,
    /// The quantity, name or list of names that it states, where there is one. Durations are in ticks.
    pub value: Value,
    /// Where it comes from: the dotted path of a setting in the scenario (`budget.losses`), or `model` for what is left out.
    pub source: Cow<'static, str>,
    /// The assumption for people.
    pub sentence: String,
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// What sort of thing an assumption is.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// A fault built into the model on purpose: the verdict is about a mutant, and not about the service.
    Mutation,
    /// How late something may be, and what clocks do.
    Timing,
    /// What a fair execution cannot put off.
    Fairness,
    /// A setting of the service or of the clients.
    Setting,
    /// How many faults there may be, and of which kinds.
    Budget,
    /// What the model leaves out: nothing is said of executions in which that happens.
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
pub enum Value {
    /// There is none.
    None,
    /// A count, or a duration in ticks.
    Number(i64),
    /// A name.
    Name(String),
    /// Several names.
    Names(Vec<String>),
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Number(number)
    }
}

impl From<crate::time::Ticks> for Value {
    fn from(ticks: crate::time::Ticks) -> Self {
        Value::Number(ticks.count())
    }
}

impl From<&str> for Value {
    fn from(name: &str) -> Self {
        Value::Name(name.to_owned())
    }
}

impl FromIterator<String> for Value {
    fn from_iter<T: IntoIterator<Item = String>>(names: T) -> Self {
        Value::Names(names.into_iter().collect())
    }
}

/// For which promises an assumption matters.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Scope {
    /// For each.
    Every,
    /// For those about endless executions.
    Endless,
    /// For those about what the resource accepted.
    Effect,
}

/// Looks whether an assumption holds of an execution; the error says where it does not.
pub type Check<P> = Box<dyn Fn(&Execution<P>) -> Result<(), String>>;

/// An assumption with its check.
pub struct Declared<P: Service> {
    /// What is assumed.
    pub assumption: Assumption,
    /// For which promises.
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

    /// Whether some execution of the model could break it: what is left out altogether, or unbounded, none can.
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

    /// Declares what no execution of the model can break: something is unbounded, or not there at all.
    pub fn leave_out(&mut self, assumption: Assumption) {
        self.leave_out_for(Scope::Every, assumption);
    }

    /// The same for some promises only.
    pub fn leave_out_for(&mut self, scope: Scope, assumption: Assumption) {
        self.list.push(Declared { assumption, scope, check: None });
    }
}

impl Assumption {
    /// An assumption without a value.
    pub fn new(class: Class, kind: &'static str, source: impl Into<Cow<'static, str>>, sentence: String) -> Self {
        Assumption { kind: kind.into(), class, value: Value::None, source: source.into(), sentence }
    }

    /// The same with a value.
    #[must_use]
    pub fn of(self, value: impl Into<Value>) -> Self {
        Assumption { value: value.into(), ..self }
    }

    /// A limit of the model, named in kebab-case.
    pub fn limit(kind: &'static str, sentence: &str) -> Self {
        Assumption::new(Class::Limit, kind, "model", sentence.to_owned())
    }
}

impl<P: Service> Scenario<P> {
    /// Everything that verdicts of this scenario rest on, with the checks.
    pub fn declared(&self) -> Vec<Declared<P>> {
        let mut declarations = Declarations { list: Vec::new() };
        self.declare_mutation(&mut declarations);
        self.declare_timing(&mut declarations);
        self.declare_fairness(&mut declarations);
        P::Settings::assumptions(self, &mut declarations);
        self.declare_faults(&mut declarations);
        self.declare_limits(&mut declarations);
        let mut list = declarations.list;
        list.sort_by_key(|declared| declared.assumption.class);
        list
    }

    /// What verdicts of this scenario rest on. A mutation comes first, and what the model leaves out last.
    pub fn assumptions(&self) -> Vec<Assumption> {
        let is_endless = |promise: &Promise| promise.property.is_about_endless_runs(promise.bound);
        let has_endless = self.promises.iter().any(is_endless);
        let matters = |declared: &Declared<P>| declared.scope != Scope::Endless || has_endless;
        self.declared().into_iter().filter(matters).map(|declared| declared.assumption).collect()
    }

    /// What the verdict on one promise rests on.
    pub fn assumptions_of(&self, promise: &Promise) -> Vec<Assumption> {
        let is_endless = promise.property.is_about_endless_runs(promise.bound);
        let matters = |declared: &Declared<P>| match declared.scope {
            Scope::Every => true,
            Scope::Endless => is_endless,
            Scope::Effect => promise.property.level() == crate::properties::Level::Effect,
        };
        self.declared().into_iter().filter(matters).map(|declared| declared.assumption).collect()
    }
}
