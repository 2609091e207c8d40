//! Entries at log positions: what is shown there is one entry, positions grow, and what was certainly changed is not shown again.

use std::collections::BTreeMap;

use super::Case;
use super::evidence::{Content, Gone, Kind, Seen, Write};

type Rule = (&'static str, &'static str);

const ONE_ENTRY: Rule = ("C-GEN-3", "one log entry is one step, and what it leaves is one entry");
const GROWS: Rule = ("C-KV-7", "the position of an entry grows, and a read of the leader shows the last");
const ANEW: Rule = ("C-KV-18", "an entry that is made anew begins at a new position");
const STORE: Rule = ("C-KV-20", "the index of a key that is not there is that of the whole store");
const READ: Rule = ("C-KV-20", "the index of a read is that of its entry");
const LISTED: Rule = ("C-KV-21", "the index of a list is no lower than that of any entry");
const CAS: Rule = ("C-KV-9", "a cas is done at just its index");
const DELETED: Rule = ("C-KV-14", "a deletion takes the entry away");
const WRITTEN: Rule = ("C-KV-8", "a write changes the entry, unless it is the same");
const ACQUIRED: Rule = ("C-KV-11", "an acquire changes the entry, unless it is the holder's own and the same");
const RELEASED: Rule = ("C-KV-12", "a release takes the session away");

/// What is shown of a key, so that it can be asked what was shown before and after an instant.
struct Order {
    /// By when the answer arrived: the highest position shown up to it.
    before: Vec<(i64, Seen)>,
    /// By when the request was sent, of reads that show the present: the lowest position shown from it on.
    after: Vec<(i64, Seen)>,
    /// The same for where the entry began.
    began: Vec<(i64, Seen)>,
}

impl Order {
    fn of(seen: &[Seen]) -> Order {
        let mut before: Vec<(i64, Seen)> = seen.iter().map(|seen| (seen.span.received, seen.clone())).collect();
        before.sort_by_key(|(at, _)| *at);
        for at in 1..before.len() {
            if before[at].1.modify < before[at - 1].1.modify {
                before[at].1 = before[at - 1].1.clone();
            }
        }
        let fresh: Vec<(i64, Seen)> =
            seen.iter().filter(|seen| seen.is_fresh).map(|seen| (seen.span.sent, seen.clone())).collect();
        let after = lowest(fresh.clone(), |seen| seen.modify);
        let began = lowest(fresh, |seen| seen.create.unwrap_or(u64::MAX));
        Order { before, after, began }
    }

    /// The highest position that was certainly there before an instant.
    fn before(&self, instant: i64) -> Option<&Seen> {
        let place = self.before.partition_point(|(at, _)| *at < instant);
        place.checked_sub(1).map(|last| &self.before[last].1)
    }

    /// The lowest position that was shown after an instant.
    fn after(&self, instant: i64) -> Option<&Seen> {
        self.after.get(self.after.partition_point(|(at, _)| *at <= instant)).map(|(_, seen)| seen)
    }

    /// The entry with the earliest beginning that was shown after an instant.
    fn began_after(&self, instant: i64) -> Option<&Seen> {
        let place = self.began.partition_point(|(at, _)| *at <= instant);
        self.began.get(place).map(|(_, seen)| seen).filter(|seen| seen.create.is_some())
    }
}

/// Each replaced by the lowest from it on.
fn lowest(mut all: Vec<(i64, Seen)>, rank: impl Fn(&Seen) -> u64) -> Vec<(i64, Seen)> {
    all.sort_by_key(|(at, _)| *at);
    for at in (1..all.len()).rev() {
        if rank(&all[at].1) < rank(&all[at - 1].1) {
            all[at - 1].1 = all[at].1.clone();
        }
    }
    all
}

impl Case<'_> {
    pub(super) fn versions(&mut self) {
        let (seen, gone, writes) = (
            std::mem::take(&mut self.evidence.seen),
            std::mem::take(&mut self.evidence.gone),
            std::mem::take(&mut self.evidence.writes),
        );
        for (key, seen) in &seen {
            let order = Order::of(seen);
            seen.iter().for_each(|seen| self.agrees_with_itself(key, seen));
            self.one_entry_each(key, seen);
            self.positions_grow(key, seen, &order);
            for gone in gone.get(key).into_iter().flatten() {
                self.stays_away(key, *gone, &order);
            }
            for write in writes.get(key).into_iter().flatten() {
                self.is_seen(key, write, &order);
            }
        }
        let all: Vec<&Seen> = seen.values().flatten().collect();
        self.store_grows(&all);
        (self.evidence.seen, self.evidence.gone, self.evidence.writes) = (seen, gone, writes);
    }

    /// C-KV-20, C-KV-21: the index of an answer is its entry's, or no lower than those of a list; an entry changes no earlier than it
    /// begins.
    fn agrees_with_itself(&mut self, key: &str, seen: &Seen) {
        let fits = |(index, is_list): (u64, bool)| if is_list { index >= seen.modify } else { index == seen.modify };
        if let Some((index, is_list)) = seen.index.filter(|index| !fits(*index)) {
            let why = format!("X-Consul-Index is {index}, and {key:?} is at {}", seen.modify);
            self.object(seen.at, if is_list { LISTED } else { READ }, why);
        }
        if let Some(create) = seen.create.filter(|create| *create > seen.modify) {
            let why = format!("{key:?} is at {}, and was created later, at {create}", seen.modify);
            self.object(seen.at, GROWS, why);
        }
    }

    fn one_entry_each(&mut self, key: &str, seen: &[Seen]) {
        let mut known: BTreeMap<u64, (usize, Option<u64>, Content)> = BTreeMap::new();
        for other in seen {
            let Some(content) = &other.content else { continue };
            let Some((first, create, entry)) = known.get(&other.modify).cloned() else {
                known.insert(other.modify, (other.at, other.create, content.clone()));
                continue;
            };
            self.compare(other.at);
            if (create, &entry) != (other.create, content) {
                let (last, line) = if first > other.at { (first, other.at) } else { (other.at, first) };
                let why =
                    format!("{key:?} at index {} is another entry than in line {}", other.modify, self.number(line));
                self.object(last, ONE_ENTRY, why);
            }
        }
    }

    fn positions_grow(&mut self, key: &str, seen: &[Seen], order: &Order) {
        for other in seen.iter().filter(|seen| seen.is_fresh) {
            let Some(before) = order.before(other.span.sent) else { continue };
            self.compare(other.at);
            if before.modify > other.modify {
                let why = format!(
                    "{key:?} is shown at index {}, and was at {} in line {}",
                    other.modify,
                    before.modify,
                    self.number(before.at)
                );
                self.object(other.at, GROWS, why);
            }
        }
    }

    /// An entry does not come back.
    fn stays_away(&mut self, key: &str, gone: Gone, order: &Order) {
        let Some(before) = order.before(gone.span.sent) else { return };
        let Some(after) = order.began_after(gone.span.received) else { return };
        self.compare(after.at);
        if after.create.is_some_and(|create| create <= before.modify) {
            let is_deletion = self.lines[gone.at].question.method == "DELETE";
            let why = format!(
                "{key:?} has been there since before index {}, and was {} in line {}",
                before.modify,
                if is_deletion { "deleted" } else { "not there" },
                self.number(gone.at)
            );
            self.object(after.at, if is_deletion { DELETED } else { ANEW }, why);
        }
    }

    /// What a write has certainly changed is not shown again.
    fn is_seen(&mut self, key: &str, write: &Write, order: &Order) {
        let (before, after) = (order.before(write.span.sent), order.after(write.span.received));
        if let (Some(before), Kind::Cas(index), Some(true)) = (before, &write.kind, write.is_done) {
            self.compare(write.at);
            if *index > 0 && before.modify > *index {
                let why = format!("{key:?} was at index {} in line {}", before.modify, self.number(before.at));
                return self.object(write.at, CAS, why);
            }
        }
        let (Some(before), Some(after)) = (before, after) else { return };
        let is_untouched = after.modify <= before.modify;
        match (&write.kind, write.is_done) {
            (Kind::Cas(0), Some(true)) => {
                if is_untouched {
                    let why = format!("{key:?} was there all the time, at index {}", before.modify);
                    self.object(write.at, CAS, why);
                }
                return;
            }
            (Kind::Cas(index), Some(false)) => {
                if is_untouched && before.modify == *index {
                    let why = format!("{key:?} was at index {index} all the time");
                    self.object(write.at, CAS, why);
                }
                return;
            }
            (Kind::DeleteCas | Kind::Part, _) | (_, None | Some(false)) => return,
            _ => {}
        }
        self.compare(after.at);
        if is_untouched && changes(write, before.content.as_ref()) {
            let rule = match write.kind {
                Kind::Acquire(_) => ACQUIRED,
                Kind::Release(_) => RELEASED,
                Kind::Delete => DELETED,
                _ => WRITTEN,
            };
            let why = format!(
                "{key:?} is shown at index {}, as in line {}, and line {} has changed it",
                after.modify,
                self.number(before.at),
                self.number(write.at)
            );
            self.object(after.at, rule, why);
        }
    }

    /// C-KV-20: the index of the store is no lower than any entry's before, nor than itself.
    fn store_grows(&mut self, seen: &[&Seen]) {
        let mut highest: Vec<(i64, u64, usize)> =
            seen.iter().map(|seen| (seen.span.received, seen.modify, seen.at)).collect();
        let store = std::mem::take(&mut self.evidence.store);
        highest.extend(store.iter().map(|(gone, index)| (gone.span.received, *index, gone.at)));
        highest.sort_unstable();
        for at in 1..highest.len() {
            if highest[at].1 < highest[at - 1].1 {
                (highest[at].1, highest[at].2) = (highest[at - 1].1, highest[at - 1].2);
            }
        }
        for (gone, index) in &store {
            let place = highest.partition_point(|(at, ..)| *at < gone.span.sent);
            let Some((_, known, line)) = place.checked_sub(1).map(|last| highest[last]) else { continue };
            self.compare(gone.at);
            if known > *index {
                let why = format!("the store is at index {index}, and was at {known} in line {}", self.number(line));
                self.object(gone.at, STORE, why);
            }
        }
    }
}

/// Whether a write that was done has changed an entry for certain.
fn changes(write: &Write, entry: Option<&Content>) -> bool {
    let is_other = |entry: &Content| {
        let is_other_value = match (&write.value, &entry.value) {
            (Some(mine), Some(other)) => mine != other,
            _ => false,
        };
        is_other_value || write.flags != entry.flags
    };
    match &write.kind {
        Kind::Delete | Kind::Release(_) => true,
        // C-KV-8, C-KV-9: LockIndex becomes 0.
        Kind::Put | Kind::Cas(_) => entry.is_some_and(|entry| is_other(entry) || entry.lock_index != 0),
        Kind::Acquire(session) => entry.is_some_and(|entry| entry.session.as_ref() != Some(session) || is_other(entry)),
        Kind::DeleteCas | Kind::Part => false,
    }
}
