//! What is judged: what clients say of themselves (that they are inside, what they write), against what the checker promises by the
//! same names.
//!
//! ```text
//! keys     who is inside, what the resource accepted       misuse   what no client should do with a session
//! story    how it came to that, line by line               verdict  all of it
//! ```

mod keys;
mod misuse;
mod story;
mod verdict;

use std::collections::BTreeMap;

use fencepost_conform::Agent;

use crate::clock::seconds;
use crate::faults::FaultPlan;
use crate::settings::Settings;
use crate::stand_in::{Answer, Journey};
use keys::KeyState;
use misuse::Sessions;
use story::Story;

pub(crate) use keys::Write;
pub use misuse::Misuse;
pub use verdict::{Finding, Verdict};

/// How many keys stories tell of before the first report of a client inside: each event names their holders.
const KEYS_MAX: usize = 16;

/// Everything that has been said and seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Judge {
    keys: BTreeMap<String, KeyState>,
    sessions: Sessions,
    story: Story,
    findings: Vec<Finding>,
    misuse: Vec<Misuse>,
    /// Whether a client was ever inside.
    was_inside: bool,
}

impl Judge {
    /// A client has created a session.
    pub(crate) fn session(&mut self, id: &str, client: &str, body: &[u8]) {
        self.sessions.created(id, client, body);
    }

    /// The sessions that a client has created.
    pub(crate) fn sessions_of(&self, client: &str) -> Vec<String> {
        self.sessions.of(client)
    }

    /// Something else than an answer happens to a request.
    pub(crate) fn note(&mut self, now: i64, journey: &Journey, what: &str) {
        let text = format!("{}: {}: {what}", journey.client, self.sessions.request(&journey.question));
        self.story.add(now, text);
    }

    /// A request of a client is answered, whether or not the answer arrives.
    pub(crate) fn answered(&mut self, now: i64, journey: &Journey, answer: &Answer) {
        let question = &journey.question;
        self.sessions.answered(now, journey, answer, &mut self.misuse);
        if let Some(key) = misuse::acquired_key(question).filter(|_| self.keys.len() < KEYS_MAX) {
            self.keys.entry(key).or_default();
        }
        if question.method != "GET" || answer.status != 200 {
            let text = format!("{}: {} → {}", journey.client, self.sessions.request(question), told(answer));
            self.story.add(now, text);
        }
    }

    /// The timer of a session does something.
    pub(crate) fn timer(&mut self, now: i64, session: &str, what: &str) {
        let text = format!("{}: {what}", self.sessions.name(session));
        self.story.add(now, text);
    }

    /// After each event: who holds the keys now, by record and by belief.
    pub(crate) fn observe(&mut self, agent: &mut Agent) {
        for (name, key) in &self.keys {
            let holder = agent.holder(name).map(|session| self.sessions.owner(&session));
            self.story.observe(name, holder, key.inside());
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
        } else if self.sessions.has_lost(client, key) {
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
    fn found(&mut self, now: i64, key: &str, broken: Vec<(&'static str, String)>) {
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

    pub(crate) fn verdict(&self, settings: &Settings, plan: &FaultPlan, unannounced: Option<&str>) -> Verdict {
        Verdict {
            findings: self.findings.clone(),
            misuse: self.misuse.clone(),
            unannounced: unannounced.map(str::to_owned),
            was_inside: self.was_inside,
            assumptions: [
                format!("clock: {}", settings.clock),
                format!("timers: {}", settings.timers),
                format!("seed: {}", settings.seed),
            ]
            .into_iter()
            .chain(self.open_waits())
            .collect(),
            faults: plan.counts().map(|(rule, seen)| (rule.to_string(), seen)).collect(),
        }
    }
}

/// The beginning of an answer.
fn told(answer: &Answer) -> String {
    let text = String::from_utf8_lossy(&answer.body);
    let begin: String = text.trim().chars().take(60).collect();
    match (answer.status, begin.is_empty()) {
        (200, false) => begin,
        (status, true) => status.to_string(),
        (status, false) => format!("{status} {begin}"),
    }
}
