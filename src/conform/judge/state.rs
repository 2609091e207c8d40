//! What the server may be in while a log is judged.

use std::hash::{DefaultHasher, Hash, Hasher};

use fencepost_model::hash::Fingerprinter;
use fencepost_model::ids::SessionId;

use super::super::consul::Agent;

/// A state that the server may be in.
#[derive(Clone)]
pub(super) struct State {
    pub(super) agent: Agent,
    /// Sessions whose timer has fired and whose end is not applied, with since when it may have; in order.
    pub(super) expiring: Vec<(SessionId, i64)>,
    /// Requests that it has carried out and whose answers have not arrived, in order.
    pub(super) done: Vec<usize>,
    /// Requests that the leader has let pass, and the log has not applied, in order. C-LD-9.
    pub(super) passed: Vec<usize>,
    /// How many of the writes whose log position is certain it has carried out.
    pub(super) next_rank: usize,
    /// How many answers have arrived.
    pub(super) at: usize,
    /// Requests from this one on have not been tried since they were sent.
    pub(super) seen: usize,
    /// Reads that would tell a log position too early, in order.
    pub(super) early: Vec<usize>,
    /// The last of what has led to it, if that is kept.
    pub(super) path: Option<usize>,
    /// When the last request was carried out, in a part of a log whose instants are kept.
    pub(super) reached: i64,
    /// Requests that changed nothing and were sent later than that, with when each is carried out, in such a part.
    pub(super) floating: Vec<(usize, i64)>,
    /// By whom the keys that are there were created, and when, in such a part, where no answer has told at which log position.
    pub(super) creators: Vec<(String, usize, i64)>,
    /// How many requests of the plan have been carried out.
    pub(super) planned: usize,
    /// How many requests have been carried out since it was tidied up.
    pub(super) untidy: usize,
}

impl Hash for State {
    /// All the rest follows from this, and from which answers have arrived.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.agent, &self.expiring, &self.done, &self.passed, &self.creators).hash(state);
    }
}

impl State {
    pub(super) fn new(agent: Agent) -> Self {
        let (expiring, done, passed, early) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        State {
            agent,
            expiring,
            done,
            passed,
            next_rank: 0,
            at: 0,
            seen: 0,
            early,
            path: None,
            reached: i64::MIN,
            floating: Vec::new(),
            creators: Vec::new(),
            planned: 0,
            untidy: 0,
        }
    }

    /// 128 bits that tell states apart.
    pub(super) fn fingerprint(&self) -> u128 {
        let mut both = Both(Fingerprinter::default(), DefaultHasher::new());
        self.hash(&mut both);
        u128::from(both.0.finish()) << 64 | u128::from(both.1.finish())
    }

    /// The timer of a session has fired, since it might, and its end is not applied. C-TTL-5.
    pub(super) fn decide_expiry(&mut self, session: SessionId, since: i64) {
        self.agent.decide_expiry(session);
        self.expiring.push((session, since));
        self.expiring.sort_unstable();
    }

    pub(super) fn is_done(&self, request: usize) -> bool {
        self.done.binary_search(&request).is_ok()
    }

    /// The request is carried out.
    pub(super) fn finish(&mut self, request: usize) {
        self.passed.retain(|passed| *passed != request);
        if let Err(place) = self.done.binary_search(&request) {
            self.done.insert(place, request);
        }
    }

    /// Its answer has arrived; false: it has not been carried out.
    pub(super) fn forget(&mut self, request: usize) -> bool {
        let place = self.done.binary_search(&request);
        place.is_ok_and(|place| self.done.remove(place) == request)
    }
}

/// Two hashes in one walk.
struct Both(Fingerprinter, DefaultHasher);

impl Hasher for Both {
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
        self.1.write(bytes);
    }

    fn finish(&self) -> u64 {
        self.0.finish()
    }
}
