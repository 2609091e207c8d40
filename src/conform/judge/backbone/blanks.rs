//! Log positions at which the index of the store tells that something was changed, and nothing else does.

use std::collections::BTreeMap;

use super::draft::Draft;
use super::entry::{Effect, Entry};
use super::requests::What;

/// Entries of keys.
pub(super) type Entries = BTreeMap<usize, Entry>;

impl Draft<'_> {
    /// Takes the nearest change that may as well have come there for each, or one that then has its place elsewhere no more. None: there is
    /// none.
    pub(super) fn fill_blanks(&mut self) -> Option<()> {
        // What is filled stays so: each round fills another one.
        for _ in 0..self.sequence.order.len() {
            let blank = self.sequence.order.iter().copied().find(|event| self.is_blank(*event));
            let Some(blank) = blank else { return Some(()) };
            let at = self.sequence.place[blank];
            let mut changes = self.hidden_changes();
            changes.sort_by_key(|event| at.abs_diff(self.sequence.place[*event]));
            if !changes.into_iter().any(|event| self.moves(event, blank)) && !self.reroute(blank) {
                return None;
            }
        }
        None
    }

    /// Changes of keys at log positions that are not known.
    pub(super) fn hidden_changes(&self) -> Vec<usize> {
        let mut entries = Entries::new();
        let mut changes = Vec::new();
        for event in &self.sequence.order {
            let known = &self.sequence.events[*event];
            let Some(request) = known.request else { continue };
            if !self.carry_out(request, &mut entries).is_empty() && known.label.is_none() {
                changes.push(*event);
            }
        }
        changes
    }

    /// Lets a change come at a log position instead, if all that has to do with its keys goes with that.
    pub(super) fn moves(&mut self, event: usize, blank: usize) -> bool {
        let Some(place) = self.sequence.events[event].request else { return false };
        let request = self.request(place);
        if !self.sequence.fits(blank, request.sent, request.received) || !self.lives_at(place, blank) {
            return false;
        }
        let journal = self.journal.len();
        self.sequence.assign(event, None, i64::MIN, i64::MAX);
        self.fill(blank, place);
        if self.sequence.is_possible() && self.keys_of(place).into_iter().all(|key| self.explains(key)) {
            return true;
        }
        self.unwind(journal);
        self.sequence.assign(event, Some(place), request.sent, request.received);
        self.placed[place] = Some(event);
        false
    }

    /// Whether all events about a key fit each other.
    fn explains(&self, key: usize) -> bool {
        let mut entry: Option<Entry> = None;
        for event in &self.sequence.order {
            if let Some(place) = self.sequence.events[*event].request {
                match self.effect(place, key, entry.as_ref()) {
                    Effect::Never => return false,
                    Effect::Nothing if self.must_change(*event) && self.about[key].contains(&place) => return false,
                    Effect::Nothing => {}
                    Effect::Change(new) => entry = new,
                }
            }
            let seen = self.mark(*event, key).and_then(|mark| mark.seen.as_ref());
            if seen.is_some_and(|seen| entry.as_ref().is_none_or(|entry| !entry.is_shown(seen, &self.labels))) {
                return false;
            }
        }
        true
    }

    /// Carries a request out, and says which keys it has changed.
    pub(super) fn carry_out(&self, place: usize, entries: &mut Entries) -> Vec<usize> {
        let request = self.request(place);
        let keys: Vec<usize> = match &request.what {
            What::Destroy(session) => {
                let held = entries.iter().filter(|(_, entry)| entry.session == Some(*session));
                held.map(|(key, _)| *key).collect()
            }
            _ => request.operations().iter().map(|operation| operation.key).collect(),
        };
        let mut changed = Vec::new();
        for key in keys {
            if let Effect::Change(new) = self.effect(place, key, entries.get(&key)) {
                changed.push(key);
                match new {
                    Some(new) => entries.insert(key, new),
                    None => entries.remove(&key),
                };
            }
        }
        changed
    }
}
