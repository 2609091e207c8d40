//! Log positions that answers show, and that no write is known to belong to: the creation of an entry that was changed before
//! it was read, a deletion that only the index of a listing tells of, the end of a session. Of the requests that may have been
//! carried out then, the one whose answer arrived first is the likely one.

use std::collections::{BTreeMap, BTreeSet};

use super::super::consul::HttpRequest;
use super::super::log::LogRecord;
use super::ahead::Ahead;
use super::clock::Clock;
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
