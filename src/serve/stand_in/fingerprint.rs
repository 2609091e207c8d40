//! What decides how a run goes on from here: the state of the server, what is left of the plan, and everything that each client was told.
//! A client that is a function of what it was told, as the runs without faults show, goes on in the same way from equal ones.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Write};
use std::hash::{DefaultHasher, Hasher};

use super::{Backend, Journey, RequestOutcome, StandIn};
use crate::faults::FaultPlan;

/// A hash of 128 bits of all that: two that are equal by chance are not met in any number of runs.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fingerprint([u64; 2]);

impl Fingerprint {
    /// Of texts that differ if what they stand for does.
    fn of(parts: &[&dyn Debug]) -> Fingerprint {
        let mut hash = TextHash(std::array::from_fn(|half| {
            let mut hasher = DefaultHasher::new();
            hasher.write_usize(half);
            hasher
        }));
        for part in parts {
            // Hashing never fails.
            let _ = writeln!(hash, "{part:?}");
        }
        Fingerprint(hash.0.map(|hasher| hasher.finish()))
    }
}

/// Hashes text instead of keeping it.
struct TextHash([DefaultHasher; 2]);

impl fmt::Write for TextHash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.iter_mut().for_each(|hasher| hasher.write(text.as_bytes()));
        Ok(())
    }
}

/// Everything that each client was told, in its order.
#[derive(Clone, Debug, Default)]
pub(super) struct Told(BTreeMap<String, Fingerprint>);

impl Told {
    /// A request of a client has ended.
    pub(super) fn note(&mut self, journey: &Journey, outcome: &RequestOutcome) {
        let before = self.0.get(&journey.client);
        let now = Fingerprint::of(&[&before, &journey.question.method, &journey.question.url, outcome]);
        self.0.insert(journey.client.clone(), now);
    }
}

impl FaultPlan {
    /// The rules that may still strike, and how many requests they let pass before.
    fn left(&self) -> Vec<(String, Option<u64>)> {
        let left = |rule: &crate::faults::Rule, seen: u64| match rule.occurrence() {
            None => Some((rule.to_string(), None)),
            Some(number) => {
                number.checked_sub(seen).filter(|left| *left > 0).map(|left| (rule.to_string(), Some(left)))
            }
        };
        self.counts().filter_map(|(rule, seen)| left(rule, seen)).collect()
    }
}

impl<B: Backend> StandIn<B> {
    /// What decides how the run goes on.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&[&self.server_state(), &self.plan.left(), &self.told])
    }

    /// Of the server, and of what stands around it: deadlines, messages on their way, what clients say of themselves and have written.
    fn server_state(&self) -> impl Debug + '_ {
        let waiting = (self.now, &self.waiting, self.last_ticket);
        (self.backend.state(), waiting, &self.clients, self.judge.state())
    }
}

#[cfg(test)]
mod tests {
    use fencepost_conform::HttpRequest;

    use super::Fingerprint;
    use crate::clock::Clock;
    use crate::settings::Settings;
    use crate::stand_in::{Incoming, StandIn};

    /// The fingerprint after a client has created a session and read a key, under a plan.
    fn after(plan: &str) -> Fingerprint {
        let plan = plan.parse().expect("a plan");
        let mut stand_in: StandIn = StandIn::new(Settings { clock: Clock::Manual, plan, ..Settings::default() });
        for (method, url) in [("PUT", "/v1/session/create"), ("GET", "/v1/kv/lead")] {
            let question = HttpRequest { method: method.to_owned(), url: url.to_owned(), body: Vec::new() };
            stand_in.arrive(Incoming { client: "a".to_owned(), question, content_type: None, has_token: false });
        }
        stand_in.fingerprint()
    }

    #[test]
    fn an_event_that_changes_nothing_leaves_everything_equal() {
        assert_eq!(after(""), after("on GET /v1/kv/lead #1: check-critical"), "the agent has no checks");
        assert_eq!(after(""), after("on PUT /v1/session/create #1: session-destroyed"), "there was no session yet");
    }

    #[test]
    fn another_state_of_the_server_makes_a_difference_that_no_client_was_told_of() {
        assert_ne!(after(""), after("on GET /v1/kv/lead #1: session-destroyed"));
    }

    #[test]
    fn a_rule_that_is_left_makes_a_difference_before_it_strikes() {
        assert_ne!(after(""), after("on GET /v1/kv/lead #2: reset"));
        assert_ne!(after("on GET /v1/kv/lead #3: reset"), after("on GET /v1/kv/lead #2: reset"));
    }

    #[test]
    fn what_a_client_was_told_makes_a_difference_in_the_same_state() {
        let (lost, refused) = ("lose-answer", "status 500 \"rpc error making call: EOF\" after");
        let at = |fault: &str| after(&format!("on GET /v1/kv/lead #1: {fault}"));
        assert_ne!(at(lost), after(""));
        assert_ne!(at(lost), at(refused));
    }
}
