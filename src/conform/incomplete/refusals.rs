//! Answers that no state of the store changes: a request that cannot be read is refused, whatever there is.

use fencepost_model::time::Instant;

use super::super::consul::{Agent, Class, Hint};
use super::super::judge::is_in_doubt;
use super::super::tally::AnswerClass;
use super::Case;

/// Classes of answers that depend on the request only.
const STATELESS: [Class; 16] = [
    Class::PathCleaned,
    Class::WrongMethod,
    Class::ModesConflict,
    Class::BadIndex,
    Class::BadWait,
    Class::Namespace,
    Class::SessionBody,
    Class::SessionDelay,
    Class::SessionBehavior,
    Class::SessionTtl,
    Class::KeyMissing,
    Class::FlagsConflict,
    Class::BadNumber,
    Class::TooLarge,
    Class::TxnBody,
    Class::TxnTooMany,
];

impl Case<'_> {
    pub(super) fn refusals(&mut self) {
        let agent = Agent::new(&self.episode.node, self.episode.options).with_agents(&self.episode.nodes);
        for at in 0..self.lines.len() {
            let line = self.lines[at];
            let Some(reply) = line.reply.as_ref().filter(|reply| !is_in_doubt(reply)) else { continue };
            if line.details.lacks_body || !Agent::knows(&line.question) {
                continue;
            }
            let mut agent = agent.clone();
            let Ok(expected) = agent.ask(&line.question, Instant::at(0), Hint::default()) else { continue };
            let rule = (expected.class.rule(), expected.class.text());
            if STATELESS.contains(&expected.class) {
                self.compare(at);
                if reply.status != expected.status {
                    self.object(at, rule, format!("status {} instead of {}", reply.status, expected.status));
                } else if let Some(why) =
                    (!line.details.lacks_answer).then(|| agent.accept(&expected, reply).err()).flatten()
                {
                    self.object(at, rule, why);
                }
            } else if matches!(reply.status, 301 | 405 | 413) {
                let why = format!("status {}, and nothing is wrong with the request", reply.status);
                self.object(at, ("C-GEN-5", "a request is refused for a reason"), why);
            }
        }
    }
}
