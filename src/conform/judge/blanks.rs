//! Log positions that answers show, and that no write is known to belong to: the creation of an entry that was changed before
//! it was read, a deletion that only the index of a listing tells of, the end of a session. Of the requests that may have been
//! carried out then, the one whose answer arrived first is the likely one.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};

use super::super::consul::HttpRequest;
use super::super::log::LogRecord;
use super::ahead::Ahead;
use super::subject::Subject;
use super::writes::Write;

/// What is known of a position besides.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Blank {
    /// A write of this value, which left the key to this session.
    Entry { key: String, value: Option<Vec<u8>>, session: Option<String> },
    /// The creation of a key.
    Creation(String),
    /// A session came or went.
    Session,
    /// Something below a prefix was deleted, and none of these keys.
    Below(String, Vec<String>),
    /// A key was deleted, or another one was changed.
    Absent(String),
}

/// When the log has got to a position: not before the one instant, and not after the other.
pub(super) struct Clock {
    positions: Vec<(u64, i64, i64)>,
}

impl Clock {
    /// From when requests were sent whose position is known, and from reads that show what was changed at the next position.
    pub(super) fn of(ahead: &Ahead, lines: &[LogRecord], exact: &[Option<u64>]) -> Clock {
        let mut indexes: BTreeSet<u64> = ahead.positions().collect();
        indexes.extend(exact.iter().flatten());
        indexes.extend(ahead.ranked.iter().map(|(index, _)| *index));
        let mut earliest: BTreeMap<u64, i64> =
            ahead.ranked.iter().map(|(index, place)| (*index, lines[*place].sent)).collect();
        let keys: BTreeSet<u64> = ahead.positions().collect();
        let mut after = |index: Option<u64>, sent: i64| {
            if let Some(index) = index {
                let known = earliest.entry(index).or_insert(sent);
                *known = sent.max(*known);
            }
        };
        for (place, shown) in exact.iter().enumerate() {
            let (Some(shown), sent) = (shown, lines[place].sent) else { continue };
            match Subject::of_line(&lines[place]) {
                Subject::Keys(keys) => {
                    keys.iter().for_each(|key| after(ahead.next(key, *shown).map(|next| next.modify), sent))
                }
                Subject::Store => after(keys.range((Excluded(*shown), Unbounded)).next().copied(), sent),
                _ => {}
            }
        }
        let mut positions: Vec<(u64, i64, i64)> = indexes
            .iter()
            .map(|index| (*index, earliest.get(index).copied().unwrap_or(i64::MIN), ahead.latest(*index)))
            .collect();
        let mut floor = i64::MIN;
        for (_, from, _) in &mut positions {
            floor = floor.max(*from);
            *from = floor;
        }
        let mut ceiling = i64::MAX;
        for (index, _, to) in positions.iter_mut().rev() {
            let written = ahead.ranked.binary_search_by_key(index, |(index, _)| *index).ok();
            let answered = written.map_or(i64::MAX, |rank| lines[ahead.ranked[rank].1].received);
            ceiling = ceiling.min(*to).min(answered);
            *to = ceiling;
        }
        Clock { positions }
    }

    /// Whether a request may have been carried out at a position.
    fn allows(&self, index: u64, line: &LogRecord) -> bool {
        let place = self.positions.partition_point(|(other, ..)| *other < index);
        self.positions.get(place).is_none_or(|(_, from, to)| line.sent <= *to && line.received >= *from)
    }
}

/// The likely request of each position without a known writer.
pub(super) fn likely(
    ahead: &Ahead,
    lines: &[LogRecord],
    exact: &[Option<u64>],
    writes: &BTreeMap<String, Vec<Write>>,
) -> Vec<(u64, usize)> {
    let clock = Clock::of(ahead, lines, exact);
    let mut blanks: BTreeMap<u64, Blank> = BTreeMap::new();
    let mut note = |index: u64, blank: Blank| {
        if index > 1 && !ahead.is_ranked(index) && blanks.get(&index).is_none_or(|known| blank < *known) {
            blanks.insert(index, blank);
        }
    };
    for (key, version) in ahead.all() {
        let (value, session) = (version.value.clone(), version.session.clone());
        note(version.modify, Blank::Entry { key: key.clone(), value, session });
        if version.create != version.modify {
            note(version.create, Blank::Creation(key.clone()));
        }
    }
    for (place, shown) in exact.iter().enumerate() {
        let (Some(index), question) = (shown, &lines[place].question) else { continue };
        match Subject::of(question) {
            Subject::Sessions => note(*index, Blank::Session),
            Subject::Keys(keys) => keys.into_iter().for_each(|key| note(*index, Blank::Absent(key))),
            Subject::Prefix(start) => {
                let there = ahead.read_by(place).map(str::to_owned).collect();
                note(*index, Blank::Below(start, there));
            }
            _ => {}
        }
    }
    let changes = Changes::of(lines);
    let mut taken: BTreeSet<usize> = ahead.ranked.iter().map(|(_, place)| *place).collect();
    let mut found = Vec::new();
    for (index, blank) in blanks {
        let may = |place: &usize| !taken.contains(place) && clock.allows(index, &lines[*place]);
        let best = candidates(&blank, &changes, writes)
            .into_iter()
            .find_map(|candidates| candidates.into_iter().filter(may).min_by_key(|place| lines[*place].received));
        if let Some(place) = best {
            taken.insert(place);
            found.push((index, place));
        }
    }
    found
}

/// Requests that may have written a position that no entry shows, by place.
struct Changes {
    /// Deletions that took effect, with their keys.
    deletes: Vec<(usize, Vec<String>)>,
    /// Sessions that were created or destroyed.
    sessions: Vec<usize>,
}

impl Changes {
    fn of(lines: &[LogRecord]) -> Changes {
        let (mut deletes, mut sessions) = (Vec::new(), Vec::new());
        for (place, line) in lines.iter().enumerate().filter(|(_, line)| !super::is_idle(line)) {
            let HttpRequest { method, url, .. } = &line.question;
            let starts = ["/v1/session/create", "/v1/session/destroy/"];
            if method == "PUT" && starts.iter().any(|start| url.starts_with(start)) {
                sessions.push(place);
            }
            if let (true, Subject::Keys(keys)) = (method == "DELETE", Subject::of(&line.question)) {
                deletes.push((place, keys));
            }
        }
        Changes { deletes, sessions }
    }

    fn deletes(&self, is_wanted: &dyn Fn(&str) -> bool) -> Vec<usize> {
        let about = self.deletes.iter().filter(|(_, keys)| keys.iter().all(|key| is_wanted(key)));
        about.map(|(place, _)| *place).collect()
    }
}

/// Who may have written a position: groups, the likely first.
fn candidates(blank: &Blank, changes: &Changes, writes: &BTreeMap<String, Vec<Write>>) -> Vec<Vec<usize>> {
    let of_key = |key: &String| writes.get(key).map_or(&[][..], Vec::as_slice).iter();
    match blank {
        Blank::Entry { key, value, session } => {
            let makes = |write: &&Write| {
                value.as_ref().is_none_or(|value| *value == write.value) && write.may_make(session.as_deref())
            };
            vec![of_key(key).filter(makes).map(|write| write.place).collect()]
        }
        Blank::Creation(key) => vec![of_key(key).map(|write| write.place).collect()],
        Blank::Session => vec![changes.sessions.clone()],
        Blank::Below(start, there) => {
            vec![changes.deletes(&|key| key.starts_with(start.as_str()) && !there.iter().any(|other| other == key))]
        }
        Blank::Absent(key) => {
            let others = writes.values().flatten().map(|write| write.place).collect();
            vec![changes.deletes(&|other| other == key), changes.deletes(&|_| true), others]
        }
    }
}
