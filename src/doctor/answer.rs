//! The whole answer to a question: each promise with its verdict, its room, and what would repair it.

use fencepost_checker::InternalError;

use crate::asked::Asked;
use crate::judge::{Doctor, Verdict};
use crate::promise::Promise;
use crate::repair::Repair;
use crate::slack::Boundary;

/// What is said of one promise.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer<Q: Asked> {
    /// The promise.
    pub promise: Promise,
    /// The verdict.
    pub verdict: Verdict<Q>,
    /// If it is kept: where it breaks.
    pub boundaries: Vec<Boundary>,
    /// If it is broken: changes of one setting or of two that make it hold, the smallest first.
    pub repairs: Vec<Repair<Q>>,
    /// What the verdict rests on.
    pub assumptions: Vec<String>,
}

impl<Q: Asked> Doctor<Q> {
    /// Answers a question whole.
    ///
    /// # Errors
    /// An internal error.
    pub fn answer(&mut self, question: &Q) -> Result<Vec<Answer<Q>>, InternalError> {
        question.promises().iter().copied().map(|promise| self.answer_about(question, promise)).collect()
    }

    /// Answers it for one promise.
    ///
    /// # Errors
    /// An internal error.
    pub fn answer_about(&mut self, question: &Q, promise: Promise) -> Result<Answer<Q>, InternalError> {
        let verdict = self.judge(question, promise)?;
        let boundaries = if verdict.is_kept() { self.boundaries(question, promise)? } else { Vec::new() };
        let repairs = if verdict.is_broken() { self.repairs(question, promise)? } else { Vec::new() };
        Ok(Answer { promise, verdict, boundaries, repairs, assumptions: question.assumptions(promise) })
    }
}
