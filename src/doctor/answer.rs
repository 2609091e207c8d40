//! The whole answer to a question: each promise with its verdict, its room, and what would repair it.

use fencepost_checker::InternalError;

use crate::judge::{Doctor, Verdict};
use crate::promise::Promise;
use crate::question::{LockBelief, Question};
use crate::repair::Repair;
use crate::slack::Boundary;

/// What is said of one promise.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// The promise.
    pub promise: Promise,
    /// The verdict.
    pub verdict: Verdict,
    /// If it is kept: where it breaks.
    pub boundaries: Vec<Boundary>,
    /// If it is broken: changes of one setting or of two that make it hold, the smallest first.
    pub repairs: Vec<Repair>,
    /// What the verdict rests on.
    pub assumptions: Vec<String>,
}

impl Doctor {
    /// Answers a question whole.
    ///
    /// # Errors
    /// An internal error.
    pub fn answer(&mut self, question: &Question) -> Result<Vec<Answer>, InternalError> {
        Promise::of(question).iter().copied().map(|promise| self.answer_about(question, promise)).collect()
    }

    /// Answers it for one promise.
    ///
    /// # Errors
    /// An internal error.
    pub fn answer_about(&mut self, question: &Question, promise: Promise) -> Result<Answer, InternalError> {
        let verdict = self.judge(question, promise)?;
        let boundaries = if verdict.is_kept() { self.boundaries(question, promise)? } else { Vec::new() };
        let repairs = if verdict.is_broken() { self.repairs(question, promise)? } else { Vec::new() };
        Ok(Answer { promise, verdict, boundaries, repairs, assumptions: assumptions(question, promise) })
    }
}

/// What verdicts about the question rest on.
pub fn assumptions(question: &Question, promise: Promise) -> Vec<String> {
    let mut list = vec![
        format!(
            "a client stands still for at most {} at a time, as often as it likes: its deadlines fire that late",
            question.pause
        ),
        format!(
            "a message takes at most {}: {} on the network, and the pause of the client that sends or hears it",
            question.message(),
            question.latency
        ),
        "no message is lost, no link is cut, no client crashes".to_owned(),
        "the servers keep their leader; they may be as late as they like, and never early".to_owned(),
    ];
    if let Some(ttl) = question.ttl {
        let skew = question.drift.of(ttl);
        list.push(match question.drift.0 {
            0 => "clocks of clients run as fast as the servers'".to_owned(),
            _ => format!(
                "clocks of clients are slower than the servers' by at most {}: {skew} over the TTL, the longest span that is compared; none is faster",
                question.drift
            ),
        });
        list.push(format!("the server waits for {} times the TTL (C-TTL-2)", question.ttl_multiplier));
    }
    if promise != Promise::KeepsLock {
        list.push(if question.false_alarm {
            "gossip is wrong about a client's node at most once; no operator touches sessions or the key".to_owned()
        } else {
            "gossip gives up no node that lives; no operator touches sessions or the key".to_owned()
        });
        list.push(
            "each client has a session of its own, stops before it releases, and asks through no other key".to_owned(),
        );
        list.push(
            "any number of clients and rounds: a violation takes two clients and one round each, see reports/docs/doctor.md".to_owned(),
        );
    }
    if question.slots.is_some() && promise == Promise::SlotLimit {
        list.push(
            "one slot stands for any number: the other holders stay where they are, see reports/docs/doctor.md"
                .to_owned(),
        );
    }
    if question.belief == LockBelief::SelfLimiting {
        list.push("the holder looks at its lease before each write, and its clock does not jump".to_owned());
    }
    list
}
