//! What the locks protect, and which of it a request writes: one key, or every key below a prefix.

use std::collections::BTreeSet;

use super::super::log::{Episode, LogRecord};
use super::asks::{Ask, Asked, asks, is_done};
use super::tenures::Tenure;

/// The keys that the locks protect: those named; without any, all keys that no lock was ever acquired on.
pub(super) struct Protection<'a> {
    named: &'a [String],
    locks: BTreeSet<String>,
    /// The keys that the log speaks of and that are no locks.
    others: BTreeSet<String>,
}

impl<'a> Protection<'a> {
    pub fn new(episode: &Episode, tenures: &[Tenure], named: &'a [String]) -> Self {
        let mut locks: BTreeSet<String> = tenures.iter().map(|tenure| tenure.key.clone()).collect();
        let mut others = BTreeSet::new();
        let lines = episode.lines.iter().filter(|_| named.is_empty());
        for (asked, is_done) in lines.flat_map(|line| asks(line).into_iter().map(move |asked| (asked, is_done(line)))) {
            match asked.ask {
                // A session's own key beside a semaphore is acquired, too.
                Ask::Acquire(_) if is_done => locks.insert(asked.key),
                _ if !asked.is_prefix => others.insert(asked.key),
                _ => continue,
            };
        }
        others.retain(|key| !locks.contains(key));
        Protection { named, locks, others }
    }

    /// The protected keys that something writes. C-KV-17: a recursive delete writes every key that begins with its prefix; of a prefix that
    /// no key of the log begins with, the prefix itself stands for what is below it.
    pub fn written(&self, asked: &Asked) -> Vec<String> {
        let is_of = |key: &&str| asked.is_about(key);
        if !self.named.is_empty() {
            return self.named.iter().map(String::as_str).filter(is_of).map(str::to_owned).collect();
        }
        let others = || self.others.iter().map(String::as_str);
        let is_of_locks = self.locks.iter().any(|key| asked.is_about(key));
        if !asked.is_prefix || !is_of_locks && !others().any(|key| is_of(&key)) {
            return if is_of_locks { Vec::new() } else { vec![asked.key.clone()] };
        }
        others().filter(is_of).map(str::to_owned).collect()
    }

    /// What a request does to the first protected key that it writes, in words.
    pub fn write_of(&self, line: &LogRecord) -> Option<String> {
        writes(line).find_map(|asked| Some(in_words(&asked, self.written(&asked).first()?)))
    }
}

/// What a request writes or deletes.
pub(super) fn writes(line: &LogRecord) -> impl Iterator<Item = Asked> {
    asks(line).into_iter().filter(|asked| matches!(asked.ask, Ask::Write | Ask::Delete))
}

/// Whether a write may have been carried out.
pub(super) fn is_accepted(line: &LogRecord) -> bool {
    line.reply.is_none() || is_done(line)
}

/// What a client did to a key, in words.
pub(super) fn in_words(asked: &Asked, key: &str) -> String {
    match (&asked.ask, asked.is_prefix) {
        (Ask::Delete, true) if asked.key != key => format!("deleted `{key}`, with every key below `{}`,", asked.key),
        (Ask::Delete, true) => format!("deleted every key below `{key}`"),
        (Ask::Delete, false) => format!("deleted `{key}`"),
        _ => format!("wrote `{key}`"),
    }
}
