//! What is judged: what clients say of themselves (that they are inside, what they write), against what the checker promises by the
//! same names.
//!
//! ```text
//! keys     who is inside, what the resource accepted       misuse   what no client should do with a session
//! story    how it came to that, line by line               verdict  all of it
//! leases   who was told to hold which lease                lease_run  what a verdict tells of that
//! ```

mod keys;
mod lease_run;
mod leases;
mod misuse;
mod story;
mod verdict;

use std::collections::BTreeMap;

use crate::clock::seconds;
use crate::faults::FaultPlan;
use crate::settings::Settings;
use crate::stand_in::{Answer, Backend, Journey, Witness};
use keys::KeyState;
use story::Story;

pub(crate) use keys::Write;
pub use lease_run::{LeaseRun, LeaseTakeover, LeaseTenure};
pub use leases::LeaseWitness;
pub(crate) use leases::{LeaseChange, LeaseTerms, whole_seconds};
pub use misuse::{Misuse, Sessions};
pub use verdict::{Finding, Verdict};

/// A promise that is broken, by its name, with a sentence.
pub type Violated = (&'static str, String);

/// How many keys stories tell of before the first report of a client inside: each event names their holders.
const KEYS_MAX: usize = 16;

/// Everything that has been said and seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Judge<W> {
    keys: BTreeMap<String, KeyState>,
    witness: W,
    story: Story,
    findings: Vec<Finding>,
    misuse: Vec<Misuse>,
    /// Whether a client was ever inside.
    was_inside: bool,
}

impl Judge<Sessions> {
    /// A client has created a session.
    pub(crate) fn session(&mut self, id: &str, client: &str, body: &[u8]) {
        self.witness.created(id, client, body);
    }

    /// The timer of a session does something.
    pub(crate) fn timer(&mut self, now: i64, session: &str, what: &str) {
        let text = format!("{}: {what}", self.witness.name(session));
        self.story.add(now, text);
    }
}

impl Judge<LeaseWitness> {
    /// A request has changed a lease.
    pub(crate) fn changed(&mut self, now: i64, journey: &Journey, change: LeaseChange<'_>) {
        if let Some(text) = self.witness.changed(now, journey, change) {
            self.story.add(now, text);
        }
    }
}

impl<W: Witness> Judge<W> {
    /// What is seen of clients in their requests.
    pub(crate) fn witness(&self) -> &W {
        &self.witness
    }

    /// Something else than an answer happens to a request.
    pub(crate) fn note(&mut self, now: i64, journey: &Journey, what: &str) {
        let text = format!("{}: {}: {what}", journey.client, self.witness.request(&journey.question));
        self.story.add(now, text);
    }

    /// A request of a client is answered, whether or not the answer arrives.
    pub(crate) fn answered(&mut self, now: i64, journey: &Journey, answer: &Answer) {
        let question = &journey.question;
        self.witness.answered(now, journey, answer, &mut self.misuse);
        if let Some(key) = W::acquired_key(question).filter(|_| self.keys.len() < KEYS_MAX) {
            self.keys.entry(key).or_default();
        }
        if question.method != "GET" || answer.status != 200 {
            let text =
                format!("{}: {} → {}", journey.client, self.witness.request(question), self.witness.told(answer));
            self.story.add(now, text);
        }
    }

    /// The answer to a request arrives.
    pub(crate) fn delivered(&mut self, now: i64, journey: &Journey) {
        for (key, broken) in self.witness.delivered(now, journey) {
            self.found(now, &key, vec![broken]);
        }
    }

    /// The keys that stories tell of.
    pub(crate) fn key_names(&self) -> Vec<String> {
        self.keys.keys().cloned().collect()
    }

    /// After each event: who holds a key now, by record and by belief.
    pub(crate) fn observe(&mut self, key: &str, holder: Option<String>) {
        if let Some(state) = self.keys.get(key) {
            self.story.observe(key, holder, state.inside());
        }
    }

    /// A client says that it is inside. `limit` is that of a semaphore; 1 for a lock.
    pub(crate) fn enters(&mut self, now: i64, client: &str, key: &str, limit: usize, token: Option<u64>) {
        self.was_inside = true;
        let with = token.map(|token| format!(" with token {token}")).unwrap_or_default();
        self.story.add(now, format!("{client} is inside {key}{with}"));
        let state = self.keys.entry(key.to_owned()).or_default();
        let broken = state.enters(client, limit, token);
        self.found(now, key, broken);
    }

    /// A client says that it waits to be inside, and until when that may last.
    pub(crate) fn waits(&mut self, now: i64, client: &str, key: &str, until: i64) {
        self.story.add(now, format!("{client} waits for {key}"));
        self.keys.entry(key.to_owned()).or_default().waits(client, now, until);
    }

    /// When the first client that waits has waited for too long.
    pub(crate) fn patience(&self) -> Option<i64> {
        self.keys.values().filter_map(KeyState::patience).min()
    }

    /// Clients that wait may have waited for too long.
    pub(crate) fn runs_out(&mut self, now: i64) {
        let late: Vec<_> = self.keys.iter_mut().map(|(name, key)| (name.clone(), key.runs_out(now))).collect();
        late.into_iter().for_each(|(key, broken)| self.found(now, &key, broken));
    }

    /// A client says that it is outside again, or waits no more.
    pub(crate) fn leaves(&mut self, now: i64, client: &str, key: &str) -> bool {
        let state = self.keys.get_mut(key);
        let said = if state.as_ref().is_some_and(|state| state.is_inside(client)) {
            "is outside"
        } else {
            "no longer waits for"
        };
        self.story.add(now, format!("{client} {said} {key}"));
        state.is_some_and(|state| state.leaves(client))
    }

    /// A client writes to what the key protects. Says whether that is accepted.
    pub(crate) fn writes(&mut self, now: i64, client: &str, key: &str, write: Write) -> Result<(), u64> {
        let with = write.token.map(|token| format!(" with token {token}")).unwrap_or_default();
        let state = self.keys.entry(key.to_owned()).or_default();
        let (is_inside, (accepted, broken)) = (state.is_inside(client), state.writes(client, write));
        let told = if accepted.is_ok() { "accepted" } else { "refused" };
        self.story.add(now, format!("{client} writes to {key}{with}: {told}"));
        if !is_inside {
            self.misuse.push(Misuse::write_outside(now, client, key));
        } else if self.witness.has_lost(client, key) {
            self.misuse.push(Misuse::write_after_loss(now, client, key));
        }
        self.found(now, key, broken);
        accepted
    }

    /// What clients have said of themselves and written so far, and what that broke.
    pub(crate) fn state(&self) -> impl std::fmt::Debug + '_ {
        let broken = self.findings.iter().map(|found| (found.property, &found.key)).collect::<Vec<_>>();
        (&self.keys, broken, self.was_inside)
    }

    /// What the resource of a key contains.
    pub(crate) fn content(&self, key: &str) -> Option<&[u8]> {
        self.keys.get(key)?.content()
    }

    /// Of each promise about each key the first violation counts.
    fn found(&mut self, now: i64, key: &str, broken: Vec<Violated>) {
        for (property, sentence) in broken {
            let is_known = self.findings.iter().any(|known| (known.property, known.key.as_str()) == (property, key));
            if !is_known {
                self.story.add(now, format!("✗ {property} is violated: {sentence}"));
                let story = Vec::new();
                self.findings.push(Finding { property, key: key.to_owned(), at: now, sentence, story });
            }
        }
    }

    /// Tells the findings of this event how they came about: after what it did was observed.
    pub(crate) fn conclude(&mut self) {
        for finding in self.findings.iter_mut().filter(|finding| finding.story.is_empty()) {
            finding.story = self.story.of(&finding.key);
        }
    }

    /// What the run does not tell: of clients that still wait, whether they would have had their turn.
    fn open_waits(&self) -> impl Iterator<Item = String> + '_ {
        self.keys.iter().flat_map(|(key, state)| {
            let told = move |(client, until)| {
                format!("{client} still waits for {key}: eventually-acquired would be judged at {} s", seconds(until))
            };
            state.waiting().map(told)
        })
    }

    pub(crate) fn verdict<B: Backend>(
        &self,
        settings: &Settings,
        plan: &FaultPlan,
        unannounced: Option<&str>,
    ) -> Verdict {
        let clock = [format!("clock: {}", settings.clock)].into_iter();
        let seed = [format!("seed: {}", settings.seed)];
        let leases = self.witness.leases();
        let was_held = leases.as_ref().is_some_and(|leases| !leases.tenures.is_empty());
        Verdict {
            findings: self.findings.clone(),
            misuse: self.misuse.clone(),
            unannounced: unannounced.map(str::to_owned),
            was_inside: self.was_inside || was_held,
            leases,
            assumptions: clock.chain(B::assumptions(settings)).chain(seed).chain(self.open_waits()).collect(),
            faults: plan.counts().map(|(rule, seen)| (rule.to_string(), seen)).collect(),
        }
    }
}
