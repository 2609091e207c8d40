//! How it came to that: a line for each event, with who has the lock by record and who is inside by belief.

use std::collections::{BTreeMap, VecDeque};

use crate::clock::seconds;

/// The most lines that are kept, and the most that a story has.
const KEPT: usize = 2_000;
const TOLD: usize = 40;

/// The last events.
#[derive(Clone, Debug, Default)]
pub(super) struct Story {
    lines: VecDeque<StoryLine>,
}

#[derive(Clone, Debug)]
struct StoryLine {
    at: i64,
    text: String,
    /// For each key: who holds it by record, and who is inside by belief.
    held: BTreeMap<String, (String, String)>,
}

impl Story {
    pub(super) fn add(&mut self, at: i64, text: String) {
        if self.lines.len() == KEPT {
            self.lines.pop_front();
        }
        self.lines.push_back(StoryLine { at, text, held: BTreeMap::new() });
    }

    /// What is so after the last event.
    pub(super) fn observe(&mut self, key: &str, holder: Option<String>, inside: &[String]) {
        let inside = if inside.is_empty() { "-".to_owned() } else { inside.join(" ") };
        let held = (holder.unwrap_or_else(|| "-".to_owned()), inside);
        for line in self.lines.iter_mut().rev().take_while(|line| !line.held.contains_key(key)) {
            line.held.insert(key.to_owned(), held.clone());
        }
    }

    /// The last lines, as far as a key is concerned.
    pub(super) fn of(&self, key: &str) -> Vec<String> {
        let from = self.lines.len().saturating_sub(TOLD);
        let lines: Vec<&StoryLine> = self.lines.range(from..).collect();
        let width = lines.iter().map(|line| line.text.chars().count()).max().unwrap_or(0).min(96);
        let told = lines.iter().map(|line| {
            let (record, inside) = line.held.get(key).map_or(("-", "-"), |(record, inside)| (record, inside));
            format!("{:>12}  {:width$}   record: {record:8} inside: {inside}", seconds(line.at), line.text)
        });
        let omitted = (from > 0).then(|| format!("{:>12}  … {from} events before", ""));
        omitted.into_iter().chain(told).collect()
    }
}
