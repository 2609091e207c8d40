//! An order of the requests of a log that is not complete: what has its place, and what is known of the rest.

use std::collections::{BTreeMap, BTreeSet};

use super::Effort;
use super::entry::{Effect, Entry, Labels, effect};
use super::lifetimes::Lifetime;
use super::requests::{Request, Requests, Seen, Verb, What};
use super::sequence::{Event, Sequence};

/// The scope of all keys. Further ones are those of prefixes that were listed.
pub(super) const STORE: usize = 0;
/// The scope of all sessions.
pub(super) const SESSIONS: usize = 1;

/// What is known of the change of a key at a log position.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) key: usize,
    /// The entry after it; none: the key was created there.
    pub(super) seen: Option<Seen>,
}

/// An order that is not complete.
#[derive(Clone)]
pub(super) struct Draft<'a> {
    pub(super) requests: &'a Requests,
    pub(super) sequence: Sequence,
    pub(super) labels: Labels,
    /// By request: its event, if it has its place.
    pub(super) placed: Vec<Option<usize>>,
    /// By log position.
    pub(super) marks: BTreeMap<u64, Vec<Mark>>,
    /// By scope: the log positions at which something in it was changed.
    pub(super) positions: Vec<BTreeSet<u64>>,
    /// By key: the scopes that it is in.
    pub(super) scopes: Vec<Vec<usize>>,
    /// By key: the requests about it.
    pub(super) about: Vec<Vec<usize>>,
    /// By session: its end, if that is asked for.
    pub(super) ends: BTreeMap<usize, usize>,
    /// By session: what tells of its end.
    pub(super) lifetimes: Vec<Lifetime>,
    /// By request that creates or ends a session: the log position up to which it was carried out, if a read shows that.
    pub(super) by_position: Vec<Option<u64>>,
    /// By log position: when the last read was sent that shows it as the index of the sessions.
    pub(super) asked: BTreeMap<u64, i64>,
    /// Prefixes that were listed; the first has the scope after that of the sessions.
    pub(super) prefixes: Vec<String>,
    /// Which ways a walk tries first.
    pub(super) policy: usize,
    /// How walks are sought.
    pub(super) effort: Effort,
    /// Whether the time is up.
    pub(super) is_over: &'a dyn Fn() -> bool,
    /// By request: how often walks had to be begun anew because it had no place any more.
    pub(super) urgency: Vec<u32>,
    /// By request: whether it stays where it is.
    pub(super) fixed: Vec<bool>,
    /// By key: whether all requests about it have their places.
    pub(super) is_walked: Vec<bool>,
    /// How much work walks have taken.
    pub(super) work: usize,
    /// What was done: which event got its request, or none for one that was inserted.
    pub(super) journal: Vec<Option<usize>>,
}

impl<'a> Draft<'a> {
    /// What answers show. None: they contradict each other.
    pub(super) fn new(requests: &'a Requests, is_over: &'a dyn Fn() -> bool) -> Option<Draft<'a>> {
        let (count, keys) = (requests.all.len(), requests.keys.len());
        let mut draft = Draft {
            requests,
            sequence: Sequence::default(),
            labels: vec![None; count],
            placed: vec![None; count],
            marks: BTreeMap::new(),
            positions: vec![BTreeSet::new(), BTreeSet::new()],
            scopes: vec![vec![STORE]; keys],
            about: vec![Vec::new(); keys],
            ends: BTreeMap::new(),
            lifetimes: requests.lifetimes(),
            by_position: vec![None; count],
            asked: BTreeMap::new(),
            prefixes: Vec::new(),
            policy: 0,
            effort: Effort::Wide,
            is_over,
            fixed: vec![false; count],
            urgency: vec![0; count],
            is_walked: vec![false; keys],
            work: 0,
            journal: Vec::new(),
        };
        draft.collect();
        draft.find_writers();
        draft.lay_out();
        draft.bound_sessions();
        draft.by_position = draft.session_positions();
        draft.place_reads()?;
        draft.fixed = draft.placed.iter().map(Option::is_some).collect();
        Some(draft)
    }

    /// The requests that were answered.
    pub(super) fn answered(&self) -> impl Iterator<Item = (usize, &'a Request)> + use<'a> {
        let all = &self.requests.all;
        all.iter().enumerate().filter_map(|(place, request)| Some((place, request.as_ref()?)))
    }

    pub(super) fn request(&self, place: usize) -> &'a Request {
        self.requests.all[place].as_ref().unwrap_or_else(|| unreachable!("only answered requests are placed"))
    }

    /// Notes what answers show.
    fn collect(&mut self) {
        let mut versions: BTreeMap<u64, Vec<Seen>> = BTreeMap::new();
        for (place, request) in self.answered() {
            for seen in &request.shown {
                let known = versions.entry(seen.modify).or_default();
                match known.iter_mut().find(|known| known.key == seen.key) {
                    Some(known) => known.value = known.value.or(seen.value),
                    None => known.push(seen.clone()),
                }
            }
            match &request.what {
                What::Operations(operations) => {
                    let keys: BTreeSet<usize> = operations.iter().map(|operation| operation.key).collect();
                    keys.iter().for_each(|key| self.about[*key].push(place));
                    if request.is_read_of_nothing() {
                        self.positions[STORE].extend(request.index);
                    }
                }
                What::List(prefix) => self.note_list(prefix, request.index),
                What::Destroy(session) => {
                    self.ends.extend(self.lifetimes[*session].end.map(|end| (*session, end)));
                }
                What::Sessions => {
                    self.positions[SESSIONS].extend(request.index);
                    if let Some(index) = request.index {
                        let sent = self.asked.entry(index).or_insert(request.sent);
                        *sent = request.sent.max(*sent);
                    }
                }
                What::Create(_) => {}
            }
        }
        for seen in versions.into_values().flatten() {
            self.note_version(seen);
        }
        self.positions[STORE].extend(self.marks.keys());
    }

    fn note_list(&mut self, prefix: &str, index: Option<u64>) {
        self.positions[STORE].extend(index);
        if prefix.is_empty() {
            return;
        }
        if !self.prefixes.iter().any(|known| known == prefix) {
            self.prefixes.push(prefix.to_owned());
            self.positions.push(BTreeSet::new());
            let scope = self.positions.len() - 1;
            for (key, _) in self.requests.keys.iter().enumerate().filter(|(_, name)| name.starts_with(prefix)) {
                self.scopes[key].push(scope);
            }
        }
        let scope = self.scope_of(prefix);
        self.positions[scope].extend(index);
    }

    fn note_version(&mut self, seen: Seen) {
        if seen.create != seen.modify {
            let created = self.marks.entry(seen.create).or_default();
            if created.iter().all(|mark| mark.key != seen.key) {
                created.push(Mark { key: seen.key, seen: None });
            }
        }
        let at = self.marks.entry(seen.modify).or_default();
        at.retain(|mark| mark.key != seen.key);
        at.push(Mark { key: seen.key, seen: Some(seen) });
    }

    /// The scope of a prefix.
    pub(super) fn scope_of(&self, prefix: &str) -> usize {
        self.prefixes.iter().position(|known| known == prefix).map_or(STORE, |number| SESSIONS + 1 + number)
    }

    /// Keys, those with the most requests first.
    pub(super) fn keys_by_size(&self) -> Vec<usize> {
        let mut keys: Vec<usize> = (0..self.about.len()).collect();
        keys.sort_by_key(|key| std::cmp::Reverse(self.about[*key].len()));
        keys
    }

    /// What is known of a key at an event.
    pub(super) fn mark(&self, event: usize, key: usize) -> Option<&Mark> {
        self.marks.get(&self.sequence.events[event].label?)?.iter().find(|mark| mark.key == key)
    }

    /// The place of a log position.
    pub(super) fn place_of_label(&self, label: u64) -> Option<usize> {
        let event = self.sequence.events.iter().position(|event| event.label == Some(label))?;
        Some(self.sequence.place[event])
    }

    /// Gives a request its event, at a place.
    pub(super) fn insert(&mut self, item: usize, at: usize) -> usize {
        let Request { sent, received, .. } = *self.request(item);
        let number = self.sequence.insert(at, Event::new(Some(item), (sent, received), None));
        self.placed[item] = Some(number);
        self.journal.push(None);
        number
    }

    /// A request was carried out at a log position.
    pub(super) fn fill(&mut self, event: usize, item: usize) {
        let Request { sent, received, .. } = *self.request(item);
        self.sequence.assign(event, Some(item), sent, received);
        (self.labels[item], self.placed[item]) = (self.sequence.events[event].label, Some(event));
        self.journal.push(Some(event));
    }

    /// Takes back what was done since.
    pub(super) fn unwind(&mut self, journal: usize) {
        while self.journal.len() > journal {
            let Some(done) = self.journal.pop() else { break };
            let event = done.unwrap_or(self.sequence.events.len() - 1);
            if let Some(item) = self.sequence.events[event].request {
                (self.labels[item], self.placed[item]) = (None, None);
            }
            match done {
                Some(event) => self.sequence.assign(event, None, i64::MIN, i64::MAX),
                None => self.sequence.take_back(),
            }
        }
    }

    /// Whether only the index of the store tells of an event, and it is not known whose it is. What comes before all that answers show was
    /// there before the log.
    pub(super) fn is_blank(&self, event: usize) -> bool {
        let first = self.marks.keys().next().copied().unwrap_or(u64::MAX);
        self.is_unknown(event).is_some_and(|label| label >= first && self.positions[STORE].contains(&label))
    }

    /// Whether only the index of the sessions tells of an event, and it is not known whose it is.
    pub(super) fn is_session_blank(&self, event: usize) -> bool {
        self.is_unknown(event).is_some_and(|label| self.positions[SESSIONS].contains(&label))
    }

    /// The log position of an event, if nothing else is known of it.
    fn is_unknown(&self, event: usize) -> Option<u64> {
        let event = &self.sequence.events[event];
        event.label.filter(|label| event.request.is_none() && !self.marks.contains_key(label))
    }

    /// Whether the request of an event changes a key, since the index of the store tells of it.
    pub(super) fn must_change(&self, event: usize) -> bool {
        let Event { label: Some(label), request: Some(request), .. } = &self.sequence.events[event] else {
            return false;
        };
        let is_one = self.request(*request).operations().len() == 1;
        is_one && !self.marks.contains_key(label) && self.positions[STORE].contains(label)
    }

    /// What a request does with the entry of a key.
    pub(super) fn effect(&self, place: usize, key: usize, entry: Option<&Entry>) -> Effect {
        effect(place, self.request(place), key, entry, &self.labels, &self.requests.deletes)
    }
}

impl Request {
    /// Whether it is a read of one key that was not there. C-KV-20: then its index is that of the whole store.
    pub(super) fn is_read_of_nothing(&self) -> bool {
        matches!(self.operations(), [operation] if operation.verb == Verb::Get) && !self.is_found
    }
}
