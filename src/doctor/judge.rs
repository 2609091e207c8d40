//! A promise under settings: kept, broken or unknown. What was explored once is remembered.

use std::collections::BTreeMap;
use std::sync::Arc;

use fencepost_checker::{InternalError, Limits, Options, Supervisor, Unsupervised};
use fencepost_model::finding::Verdict as Explained;
use fencepost_model::trace::Trace;

use crate::asked::{Asked, InTicks, SmallScenario};
use crate::promise::Promise;
use crate::retime::retimed;

/// What can be said of a promise under settings.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict<Q: Asked> {
    /// It is proven.
    Kept(Proof<Q::Small>),
    /// An execution breaks it, in exact durations.
    Broken(Box<Execution<Q>>),
    /// Neither a proof nor an execution was found.
    Unknown {
        /// What was tried.
        why: String,
    },
}

/// A proof.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Proof<S> {
    /// The scenario in which it was found, and its tick.
    pub sized: InTicks<S>,
    /// States explored.
    pub states: u64,
}

/// An execution that breaks a promise.
#[derive(Clone, PartialEq, Debug)]
pub struct Execution<Q: Asked> {
    /// The scenario in which it was found, and its tick; none: it was arranged in exact durations.
    pub sized: Option<InTicks<Q::Small>>,
    /// It, in ticks of [`FINEST`](crate::FINEST).
    pub trace: Trace<Q::Service>,
}

impl<Q: Asked> Verdict<Q> {
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
enum Explored<Q: Asked> {
    Proven { states: u64 },
    Violated { trace: Box<Trace<Q::Service>> },
    Cut { by: String },
}

/// Why nothing decides a question where not even a formula has found a tick.
const NEAR: &str = "no tick that is coarse enough decides it: too close to the boundary";

/// Judges settings, and remembers.
pub struct Doctor<Q: Asked> {
    workers: usize,
    supervisor: Arc<dyn Supervisor>,
    explored: BTreeMap<Q::Small, Explored<Q>>,
    judged: BTreeMap<(Q, Promise), Verdict<Q>>,
    states: u64,
}

impl<Q: Asked> Default for Doctor<Q> {
    fn default() -> Self {
        Doctor::new(1, Arc::new(Unsupervised))
    }
}

impl<Q: Asked> Doctor<Q> {
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
    /// use fencepost_doctor::{Doctor, LockBelief, LockQuestion, Promise};
    ///
    /// let second = |text: &str| text.parse().expect("a duration");
    /// let mut asked = LockQuestion { pause: second("20s"), latency: second("200ms"), ..LockQuestion::of_recipe("go-lock").expect("it is known") };
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
    /// The question is not valid: [`Asked::validate`] says why.
    pub fn judge(&mut self, question: &Q, promise: Promise) -> Result<Verdict<Q>, InternalError> {
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

    fn decide(&mut self, question: &Q, promise: Promise) -> Result<Verdict<Q>, InternalError> {
        let mut tried = Vec::new();
        for sized in question.wider(promise) {
            match self.explore(sized.scenario)? {
                Explored::Proven { states } => return Ok(Verdict::Kept(Proof { sized, states })),
                Explored::Violated { .. } => {
                    tried.push(format!("{}, which allows more than the settings do, is violated", sized.scenario));
                }
                Explored::Cut { by } => tried.push(format!("{} was stopped by {by}", sized.scenario)),
            }
        }
        if Q::is_arranged(promise) {
            if let Some(trace) = question.arranged() {
                return Ok(Verdict::Broken(Box::new(Execution { sized: None, trace })));
            }
            let why = if tried.is_empty() { NEAR } else { "no arranged execution breaks it" };
            tried.push(why.to_owned());
            return Ok(Verdict::Unknown { why: tried.join("; ") });
        }
        for sized in question.narrower(promise) {
            match self.explore(sized.scenario)? {
                Explored::Violated { trace } => {
                    let exact = question.exactly(promise, &sized);
                    match question.paces(&sized).iter().find_map(|pace| retimed::<Q::Small>(&trace, &exact, pace)) {
                        Some(trace) => return Ok(Verdict::Broken(Box::new(Execution { sized: Some(sized), trace }))),
                        None => tried.push(format!("no execution of {} fits the exact durations", sized.scenario)),
                    }
                }
                Explored::Proven { .. } => {
                    tried.push(format!("{}, which allows less than the settings do, is proven", sized.scenario));
                }
                Explored::Cut { by } => tried.push(format!("{} was stopped by {by}", sized.scenario)),
            }
        }
        let why = match tried[..] {
            [] => NEAR.to_owned(),
            _ => tried.join("; "),
        };
        Ok(Verdict::Unknown { why })
    }

    /// A small scenario that is violated like the question, with its tick, for a file; none: there is none that is small enough.
    ///
    /// # Errors
    /// An internal error.
    pub fn violated(&mut self, question: &Q, promise: Promise) -> Result<Option<InTicks<Q::Small>>, InternalError> {
        for sized in question.narrower(promise) {
            if matches!(self.explore(sized.scenario)?, Explored::Violated { .. }) {
                return Ok(Some(sized));
            }
        }
        Ok(None)
    }

    fn explore(&mut self, small: Q::Small) -> Result<Explored<Q>, InternalError> {
        if let Some(explored) = self.explored.get(&small) {
            return Ok(explored.clone());
        }
        let proven = self.explored.iter().find_map(|(other, explored)| match explored {
            Explored::Proven { states } if other.is_wider_than(&small) => Some(*states),
            _ => None,
        });
        if let Some(states) = proven {
            return Ok(Explored::Proven { states });
        }
        let scenario = small.scenario();
        let options = Options {
            limits: Limits { states: Some(Q::STATES_MAX), depth: None },
            supervisor: Arc::clone(&self.supervisor),
            workers: self.workers,
            ..Options::default()
        };
        let outcome = (Q::Small::erase())(&scenario).check(&options)?.pop().expect("it promises one thing");
        self.states += outcome.finding.states;
        let trace = outcome.trace.as_ref().and_then(|trace| trace.as_any().downcast_ref::<Trace<Q::Service>>());
        let explored = match (&outcome.finding.verdict, trace) {
            (Explained::Proven(_), _) => Explored::Proven { states: outcome.finding.states },
            (Explained::Violated(_), Some(trace)) => Explored::Violated { trace: Box::new(trace.clone()) },
            (Explained::Bounded { by }, _) if by.starts_with("--max-states") => {
                Explored::Cut { by: format!("its size: a search here has at most {} states", Q::STATES_MAX) }
            }
            (Explained::Bounded { by }, _) => Explored::Cut { by: by.clone() },
            (Explained::Vacuous { missing }, _) => {
                Explored::Cut { by: format!("goals that are out of reach: {}", missing.join(", ")) }
            }
            (Explained::Violated(_), None) => {
                return Err(InternalError::Panic(format!("{small} is violated without an execution")));
            }
        };
        // What a signal or a clock has cut may be decided next time.
        if !matches!(&explored, Explored::Cut { by } if !by.starts_with("its size") && !by.starts_with("goals")) {
            self.explored.insert(small, explored.clone());
        }
        Ok(explored)
    }
}
