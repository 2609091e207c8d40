//! Who is known, and whether all of them wait: then a clock that is `auto` may jump. A jump passes over whatever a client does without
//! saying so; a client that acts after a jump although nothing has woken it shows that it did, and what is found from then on is
//! inconclusive.

use std::collections::BTreeMap;

use crate::clock::seconds;

/// Clients, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clients {
    known: BTreeMap<String, Known>,
    /// The first one that acted although nothing had woken it.
    unannounced: Option<String>,
}

#[derive(Clone, Debug)]
struct Known {
    /// How many of its requests must wait for it to wait.
    tasks: usize,
    /// The last jump, from and to, if it has been told nothing since.
    jump: Option<(i64, i64)>,
}

impl Default for Known {
    fn default() -> Self {
        Known { tasks: 1, jump: None }
    }
}

impl Clients {
    /// A client sends a request.
    pub(crate) fn acts(&mut self, name: &str, now: i64) {
        let known = self.known.entry(name.to_owned()).or_default();
        if let Some((from, to)) = known.jump.take()
            && self.unannounced.is_none()
        {
            self.unannounced = Some(format!(
                "{name} acts at {} s, and nothing has woken it since the clock jumped from {} s to {} s: it slept without saying so",
                seconds(now),
                seconds(from),
                seconds(to)
            ));
        }
    }

    /// A client says how many of its tasks wait when it waits.
    pub(crate) fn has_tasks(&mut self, name: &str, tasks: usize) {
        self.known.entry(name.to_owned()).or_default().tasks = tasks;
    }

    /// A client ends, and is not waited for any more.
    pub(crate) fn leaves(&mut self, name: &str) {
        self.known.remove(name);
    }

    /// Something comes back to a client.
    pub(crate) fn is_told(&mut self, name: &str) {
        if let Some(known) = self.known.get_mut(name) {
            known.jump = None;
        }
    }

    /// Whether every one of them waits, given those that do, once for each of their requests.
    pub(crate) fn all_wait(&self, waiting: &BTreeMap<&str, usize>) -> bool {
        !self.known.is_empty()
            && self
                .known
                .iter()
                .all(|(name, known)| waiting.get(name.as_str()).is_some_and(|count| *count >= known.tasks))
    }

    /// The clock has jumped while all of them waited.
    pub(crate) fn jumped(&mut self, from: i64, to: i64) {
        for known in self.known.values_mut() {
            known.jump = Some(known.jump.map_or((from, to), |(first, _)| (first, to)));
        }
    }

    /// Why findings are inconclusive, if they are.
    pub(crate) fn unannounced(&self) -> Option<&str> {
        self.unannounced.as_deref()
    }
}
