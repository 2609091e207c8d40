//! What operations make of the entry of a key: the rules that an order is looked for with. The model judges what comes of it.

use super::requests::{Operation, Request, Seen, Verb, What};

/// An entry of a key. Log positions are named by the requests that are carried out there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Entry {
    pub(super) value: usize,
    pub(super) flags: u64,
    pub(super) lock_index: u64,
    pub(super) session: Option<usize>,
    pub(super) create: usize,
    pub(super) modify: usize,
}

/// What a request does with a key, if its answer fits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    /// Its answer does not fit.
    Never,
    /// The entry stays as it is.
    Nothing,
    /// The entry is another one.
    Change(Option<Entry>),
}

/// By request: the log position, if it is known.
pub(super) type Labels = Vec<Option<u64>>;

impl Entry {
    /// Whether this is what an answer shows.
    pub(super) fn is_shown(&self, seen: &Seen, labels: &Labels) -> bool {
        self.says(seen) && labels[self.create] == Some(seen.create) && labels[self.modify] == Some(seen.modify)
    }

    /// Whether this may be what a change leaves, of which answers show so much; none of them: only that the key was created by it.
    pub(super) fn fits(&self, seen: Option<&Seen>, before: Option<&Entry>, labels: &Labels) -> bool {
        let is_new = self.create == self.modify;
        match seen {
            Some(seen) => {
                let is_created = is_new && seen.create == seen.modify;
                self.says(seen) && (is_created || labels[self.create] == Some(seen.create))
            }
            None => before.is_none() && is_new,
        }
    }

    /// Whether this is what an answer shows, but for log positions.
    pub(super) fn says(&self, seen: &Seen) -> bool {
        (self.flags, self.lock_index, self.session) == (seen.flags, seen.lock_index, seen.session)
            && seen.value.is_none_or(|value| value == self.value)
    }
}

/// What a request does with the entry of a key.
pub(super) fn effect(
    place: usize,
    request: &Request,
    key: usize,
    entry: Option<&Entry>,
    labels: &Labels,
    deletes: &[bool],
) -> Effect {
    match &request.what {
        What::Operations(operations) => {
            // Something else was wrong with it.
            if operations.len() == 1 && !request.is_done && !request.is_found {
                return Effect::Nothing;
            }
            let mut now = entry.cloned();
            for (number, operation) in operations.iter().enumerate().filter(|(_, operation)| operation.key == key) {
                // C-TXN-7: in a transaction, a read of what is not there fails.
                let is_missing = operation.verb == Verb::Get && operations.len() > 1 && now.is_none();
                let next = applied(place, operation, now, labels, request.is_done).ok().filter(|_| !is_missing);
                let Some(next) = next else {
                    return if request.is_done { Effect::Never } else { Effect::Nothing };
                };
                let seen = if operations.len() == request.shown.len() { request.shown.get(number) } else { None };
                let fits = |seen: &Seen| next.as_ref().is_some_and(|entry| entry.is_shown(seen, labels));
                if request.is_done && !seen.is_none_or(fits) {
                    return Effect::Never;
                }
                if operation.verb == Verb::Get && operations.len() == 1 && next.is_some() != request.is_found {
                    return Effect::Never;
                }
                now = next;
            }
            match request.refuser() {
                Some(refuser) if refuser == key => Effect::Never,
                _ if !request.is_done || now.as_ref() == entry => Effect::Nothing,
                _ => Effect::Change(now),
            }
        }
        What::Destroy(session) => match entry {
            Some(entry) if entry.session == Some(*session) => {
                let free = Entry { session: None, modify: place, ..entry.clone() };
                Effect::Change(Some(free).filter(|_| !deletes[*session]))
            }
            _ => Effect::Nothing,
        },
        What::List(_) => {
            let seen = request.shown.iter().find(|seen| seen.key == key);
            let fits = match (seen, entry) {
                (Some(seen), Some(entry)) => entry.is_shown(seen, labels),
                (None, None) => true,
                _ => false,
            };
            if fits { Effect::Nothing } else { Effect::Never }
        }
        What::Create(_) | What::Sessions => Effect::Nothing,
    }
}

/// C-KV-7 to C-KV-18. An error: it is refused.
fn applied(
    place: usize,
    operation: &Operation,
    entry: Option<Entry>,
    labels: &Labels,
    is_done: bool,
) -> Result<Option<Entry>, ()> {
    let Operation { verb, value, flags, is_shown, .. } = *operation;
    let (create, held) = (entry.as_ref().map_or(place, |entry| entry.create), entry.as_ref().and_then(|e| e.session));
    let lock_index = entry.as_ref().map_or(0, |entry| entry.lock_index);
    let is_at = |index: u64| {
        entry.as_ref().is_some_and(|entry| labels[entry.modify].map_or(is_done && !is_shown, |label| label == index))
    };
    let new = |lock_index: u64, session: Option<usize>| {
        let new = Entry { value, flags, lock_index, session, create, modify: place };
        let modify = |old: &Entry| Entry { modify: old.modify, ..new.clone() } == *old;
        Ok(Some(entry.clone().filter(modify).unwrap_or(new)))
    };
    match verb {
        Verb::Get => Ok(entry),
        Verb::Put => new(0, held),
        Verb::Cas(0) if entry.is_none() => new(0, held),
        Verb::Cas(index) if index > 0 && is_at(index) => new(0, held),
        Verb::Acquire(session) if held.is_none() => new(lock_index + 1, Some(session)),
        Verb::Acquire(session) if held == Some(session) => new(lock_index, Some(session)),
        Verb::Release(session) if held == Some(session) => new(lock_index, None),
        Verb::Delete => Ok(None),
        Verb::DeleteCas(_) if entry.is_none() => Ok(None),
        Verb::DeleteCas(index) if is_at(index) => Ok(None),
        _ => Err(()),
    }
}
