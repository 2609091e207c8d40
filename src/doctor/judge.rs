//! A promise under settings: kept, broken or unknown. What was explored once is remembered.

use std::collections::BTreeMap;
use std::sync::Arc;

use fencepost_checker::{InternalError, Limits, Options, Supervisor, Unsupervised};
use fencepost_consul::Consul;
use fencepost_consul_explore::SERVICE;
use fencepost_model::finding::Verdict as Explained;
use fencepost_model::trace::Trace;

use crate::coarse::Coarse;
use crate::pace::paces;
use crate::promise::{Promise, exactly};
use crate::question::Question;
use crate::retime::retimed;
use crate::wider::InTicks;
use crate::{narrower, wider};

/// What can be said of a promise under settings.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// It is proven.
    Kept(Proof),
    /// An execution breaks it, in exact durations.
    Broken(Box<Execution>),
    /// Neither a proof nor an execution was found.
    Unknown {
        /// What was tried.
        why: String,
    },
}

/// A proof.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Proof {
    /// The scenario in which it was found, and its tick.
    pub sized: InTicks,
    /// States explored.
    pub states: u64,
}

/// An execution that breaks a promise.
#[derive(Clone, PartialEq, Debug)]
pub struct Execution {
    /// The scenario in which it was found, and its tick.
    pub sized: InTicks,
    /// It, in ticks of [`FINEST`](crate::FINEST).
    pub trace: Trace<Consul>,
}

impl Verdict {
    /// The word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Kept(_) => "kept",
            Verdict::Broken(_) => "broken",
            Verdict::Unknown { .. } => "unknown",
        }
    }

    /// Whether it is proven.
    pub fn is_kept(&self) -> bool {
        matches!(self, Verdict::Kept(_))
    }

    /// Whether it is broken.
    pub fn is_broken(&self) -> bool {
        matches!(self, Verdict::Broken(_))
    }
}

/// What exploring a small scenario came to.
#[derive(Clone, Debug)]
enum Explored {
    Proven { states: u64 },
    Violated { trace: Box<Trace<Consul>> },
    Cut { by: String },
}

/// The maximum number of states of one scenario.
const STATES_MAX: u64 = 3_000_000;

/// Judges settings, and remembers.
pub struct Doctor {
    workers: usize,
    supervisor: Arc<dyn Supervisor>,
    explored: BTreeMap<Coarse, Explored>,
    judged: BTreeMap<(Question, Promise), Verdict>,
    states: u64,
}

impl Default for Doctor {
    fn default() -> Self {
        Doctor::new(1, Arc::new(Unsupervised))
    }
}

impl Doctor {
    /// A doctor that searches on this number of threads and stops when the supervisor says so: an undecided promise is unknown.
    pub fn new(workers: usize, supervisor: Arc<dyn Supervisor>) -> Self {
        Doctor { workers, supervisor, explored: BTreeMap::new(), judged: BTreeMap::new(), states: 0 }
    }

    /// How many scenarios were explored, and how many states.
    pub fn effort(&self) -> (usize, u64) {
        (self.explored.len(), self.states)
    }

    /// Judges one promise.
    ///
    /// ```
    /// use fencepost_doctor::{Doctor, LockBelief, Promise, Question};
    ///
    /// let second = |text: &str| text.parse().expect("a duration");
    /// let mut asked = Question { pause: second("20s"), latency: second("200ms"), ..Question::of_recipe("go-lock").expect("it is known") };
    /// let mut doctor = Doctor::default();
    /// assert_eq!(doctor.judge(&asked, Promise::MutualExclusion).expect("no internal error").word(), "broken");
    /// // A holder that counts its lease stops in time, whatever the others think.
    /// asked.belief = LockBelief::SelfLimiting;
    /// assert_eq!(doctor.judge(&asked, Promise::MutualExclusion).expect("no internal error").word(), "kept");
    /// ```
    ///
    /// # Errors
    /// An internal error.
    ///
    /// # Panics
    /// The question is not valid: [`Question::validate`] says why.
    pub fn judge(&mut self, question: &Question, promise: Promise) -> Result<Verdict, InternalError> {
        if let Err(mistake) = question.validate() {
            panic!("the question is not valid: {mistake}");
        }
        let key = (question.clone(), promise);
        if let Some(verdict) = self.judged.get(&key) {
            return Ok(verdict.clone());
        }
        let verdict = self.decide(question, promise)?;
        self.judged.insert(key, verdict.clone());
        Ok(verdict)
    }

    fn decide(&mut self, question: &Question, promise: Promise) -> Result<Verdict, InternalError> {
        let mut tried = Vec::new();
        for sized in wider::candidates(question, promise) {
            match self.explore(sized.scenario)? {
                Explored::Proven { states } => return Ok(Verdict::Kept(Proof { sized, states })),
                Explored::Violated { .. } => tried.push(format!("{} is violated", sized.scenario)),
                Explored::Cut { by } => tried.push(format!("{} was stopped by {by}", sized.scenario)),
            }
        }
        let exact = exactly(question, promise);
        for sized in narrower::candidates(question, promise) {
            match self.explore(sized.scenario)? {
                Explored::Violated { trace } => {
                    match paces(&sized, question).iter().find_map(|pace| retimed(&trace, &exact, pace)) {
                        Some(trace) => return Ok(Verdict::Broken(Box::new(Execution { sized, trace }))),
                        None => tried.push(format!("no execution of {} fits the exact durations", sized.scenario)),
                    }
                }
                Explored::Proven { .. } => tried.push(format!("{} is proven", sized.scenario)),
                Explored::Cut { by } => tried.push(format!("{} was stopped by {by}", sized.scenario)),
            }
        }
        let why = match tried[..] {
            [] => "no tick that is coarse enough decides it: too close to the boundary".to_owned(),
            _ => tried.join("; "),
        };
        Ok(Verdict::Unknown { why })
    }

    fn explore(&mut self, coarse: Coarse) -> Result<Explored, InternalError> {
        if let Some(explored) = self.explored.get(&coarse) {
            return Ok(explored.clone());
        }
        let proven = self.explored.iter().find_map(|(other, explored)| match explored {
            Explored::Proven { states } if other.is_wider_than(&coarse) => Some(*states),
            _ => None,
        });
        if let Some(states) = proven {
            return Ok(Explored::Proven { states });
        }
        let scenario = coarse.scenario();
        let options = Options {
            limits: Limits { states: Some(STATES_MAX), depth: None },
            supervisor: Arc::clone(&self.supervisor),
            workers: self.workers,
            ..Options::default()
        };
        let outcome = SERVICE.any(&scenario).check(&options)?.pop().expect("it promises one thing");
        self.states += outcome.finding.states;
        let trace = outcome.trace.as_ref().and_then(|trace| trace.as_any().downcast_ref::<Trace<Consul>>());
        let explored = match (&outcome.finding.verdict, trace) {
            (Explained::Proven(_), _) => Explored::Proven { states: outcome.finding.states },
            (Explained::Violated(_), Some(trace)) => Explored::Violated { trace: Box::new(trace.clone()) },
            (Explained::Bounded { by }, _) => Explored::Cut { by: by.clone() },
            (Explained::Vacuous { missing }, _) => {
                Explored::Cut { by: format!("goals that are out of reach: {}", missing.join(", ")) }
            }
            (Explained::Violated(_), None) => {
                return Err(InternalError::Panic(format!("{coarse} is violated without an execution")));
            }
        };
        // What a signal or a clock has cut may be decided next time.
        if !matches!(&explored, Explored::Cut { by } if !by.starts_with("--max-states") && !by.starts_with("goals")) {
            self.explored.insert(coarse, explored.clone());
        }
        Ok(explored)
    }
}
