//! What later answers tell of earlier requests. A read shows which entry a key had at which log position, and with that the
//! position of the write that made it: so writes whose position is shown anywhere are carried out in that order and in no
//! other, an entry is not replaced while a read that shows it is still to come, and an entry that a read shows is made with
//! just those indexes. All of it follows from the log, so it cuts off only what could not have been.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::consul::Shown;
use super::super::log::LogRecord;
use super::blanks::likely;
use super::writes::{Endings, Write, writes};

/// An entry of a key at a log position, as answers show it.
#[derive(Clone, Debug)]
pub(super) struct Version {
    pub(super) modify: u64,
    pub(super) create: u64,
    lock_index: u64,
    pub(super) session: Option<String>,
    /// None where the answer does not show it.
    pub(super) value: Option<Vec<u8>>,
    /// The requests whose answers show it, by when these arrived.
    pub(super) readers: Vec<usize>,
}

/// What a log tells of itself.
#[derive(Clone, Default)]
pub(super) struct Ahead {
    /// By key, and by log position.
    versions: BTreeMap<String, Vec<Version>>,
    /// Writes whose log position is certain, in order.
    pub(super) ranked: Vec<(u64, usize)>,
    /// By request: its place among these.
    pub(super) rank: Vec<Option<usize>>,
    /// By request: the highest log position that its answer shows.
    pub(super) shown: Vec<u64>,
    /// When at the latest the log had got to a position, by position.
    known: BTreeMap<u64, i64>,
    /// The positions without a known writer.
    orphans: Vec<(u64, String)>,
}

impl Ahead {
    pub(super) fn of(lines: &[LogRecord]) -> Ahead {
        let mut ahead = Ahead { rank: vec![None; lines.len()], shown: vec![0; lines.len()], ..Ahead::default() };
        let mut by_arrival: Vec<usize> = (0..lines.len()).filter(|place| lines[*place].reply.is_some()).collect();
        by_arrival.sort_by_key(|place| lines[*place].received);
        let mut sessions: BTreeMap<String, u64> = BTreeMap::new();
        for place in by_arrival {
            ahead.look_at(place, &lines[place], &mut sessions);
        }
        ahead.versions.values_mut().for_each(|versions| versions.sort_by_key(|version| version.modify));
        let mut latest = i64::MAX;
        for at in ahead.known.values_mut().rev() {
            latest = latest.min(*at);
            *at = latest;
        }
        ahead.find_writers(lines, &sessions);
        ahead
    }

    /// The same, with the likely writes at positions without a known writer.
    pub(super) fn with_guesses(&self, lines: &[LogRecord], exact: &[Option<u64>]) -> Ahead {
        let mut ahead = self.clone();
        let mut found = self.ranked.clone();
        found.extend(likely(self, lines, exact, &writes(lines)));
        found.sort_unstable();
        ahead.rank_as(found);
        ahead
    }

    /// The same, with these writes at their positions, by position.
    pub(super) fn with_writers(&self, writers: Vec<(u64, usize)>) -> Ahead {
        let mut ahead = self.clone();
        ahead.rank_as(writers);
        ahead
    }

    /// For a log whose order is known anyway.
    pub(super) fn none(lines: usize) -> Ahead {
        Ahead { rank: vec![None; lines], shown: vec![0; lines], ..Ahead::default() }
    }

    /// Notes what an answer shows.
    fn look_at(&mut self, place: usize, line: &LogRecord, sessions: &mut BTreeMap<String, u64>) {
        let Some(reply) = &line.reply else { return };
        let mut shown = reply.index.unwrap_or(0);
        let is_json =
            reply.body.trim_ascii_start().starts_with(b"[") || reply.body.trim_ascii_start().starts_with(b"{");
        let body: Value = if is_json { serde_json::from_slice(&reply.body).unwrap_or_default() } else { Value::Null };
        let is_transaction = line.question.url.starts_with("/v1/txn");
        let empty = Vec::new();
        let items = if is_transaction { body["Results"].as_array() } else { body.as_array() };
        for item in items.unwrap_or(&empty) {
            let item = if is_transaction { &item["KV"] } else { item };
            if let (Some(create), true) = (item["CreateIndex"].as_u64(), item["LockDelay"].is_number()) {
                sessions.insert(item["ID"].as_str().unwrap_or_default().to_owned(), create);
                shown = shown.max(create);
            }
            if let (Some(key), Some(version)) = (item["Key"].as_str(), Version::of(item, is_transaction)) {
                shown = shown.max(version.modify);
                self.note(key, version, place);
            }
        }
        self.shown[place] = shown;
        if shown > 0 {
            let known = self.known.entry(shown).or_insert(line.received);
            *known = line.received.min(*known);
        }
    }

    fn note(&mut self, key: &str, version: Version, reader: usize) {
        let versions = self.versions.entry(key.to_owned()).or_default();
        let place = versions.iter().rposition(|known| known.modify == version.modify);
        let place = place.unwrap_or_else(|| {
            versions.push(version.clone());
            versions.len() - 1
        });
        let known = &mut versions[place];
        known.value = known.value.take().or(version.value);
        known.readers.push(reader);
    }

    /// Finds the writes that must have made what was shown: where just one can have.
    fn find_writers(&mut self, lines: &[LogRecord], sessions: &BTreeMap<String, u64>) {
        let mut found: BTreeMap<u64, usize> = BTreeMap::new();
        let mut doubtful: BTreeSet<u64> = BTreeSet::new();
        let (by_key, endings) = (writes(lines), Endings::of(lines));
        for (key, versions) in &self.versions {
            let none = Vec::new();
            let writes = by_key.get(key).unwrap_or(&none);
            let mut taken: BTreeSet<usize> = BTreeSet::new();
            for version in versions {
                let Some(value) = &version.value else { continue };
                let known = self.latest(version.modify);
                let may = |write: &&Write| write.value == *value && lines[write.place].sent <= known;
                let makes = |write: &&Write| write.may_make(version.session.as_deref());
                let of_value: Vec<&Write> = writes.iter().filter(may).collect();
                let candidates: Vec<&Write> = of_value.iter().copied().filter(makes).collect();
                let [write] = candidates[..] else { continue };
                // The end of a session leaves the value, and so does a write of the same value.
                let may_have_ended = version.session.is_none() && endings.may_free(key, known);
                if may_have_ended || !write.is_certain || of_value.len() > 1 || !taken.insert(write.place) {
                    continue;
                }
                if found.insert(version.modify, write.place).is_some_and(|other| other != write.place) {
                    doubtful.insert(version.modify);
                }
            }
        }
        for (place, line) in lines.iter().enumerate() {
            if let Some(index) = super::writes::created(line).and_then(|id| sessions.get(&id)) {
                found.insert(*index, place);
            }
        }
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        found.values().for_each(|place| *places.entry(*place).or_default() += 1);
        found.retain(|index, place| !doubtful.contains(index) && places[place] == 1);
        self.rank_as(found.into_iter().collect());
    }

    fn rank_as(&mut self, ranked: Vec<(u64, usize)>) {
        self.ranked = ranked;
        self.rank.fill(None);
        for (rank, (_, place)) in self.ranked.iter().enumerate() {
            self.rank[*place] = Some(rank);
        }
        let unknown = self.all().filter(|(_, version)| !self.is_ranked(version.modify));
        let mut orphans: Vec<(u64, String)> = unknown.map(|(key, version)| (version.modify, key.clone())).collect();
        orphans.sort_unstable();
        self.orphans = orphans;
    }

    /// All entries that answers show.
    pub(super) fn all(&self) -> impl Iterator<Item = (&String, &Version)> {
        self.versions.iter().flat_map(|(key, versions)| versions.iter().map(move |version| (key, version)))
    }

    /// The log positions at which entries were created or changed.
    pub(super) fn positions(&self) -> impl Iterator<Item = u64> {
        self.all().flat_map(|(_, version)| [version.modify, version.create])
    }

    /// The keys that an answer shows.
    pub(super) fn read_by(&self, reader: usize) -> impl Iterator<Item = &str> {
        let reads = move |version: &&Version| version.readers.contains(&reader);
        self.all().filter(move |(_, version)| reads(version)).map(|(key, _)| key.as_str())
    }

    /// When at the latest the log had got to a position.
    pub(super) fn latest(&self, index: u64) -> i64 {
        self.known.range(index..).next().map_or(i64::MAX, |(_, at)| *at)
    }

    /// Whether it tells nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.versions.is_empty()
    }

    /// Entries between two log positions without a known writer.
    pub(super) fn orphans(&self, after: u64, before: u64) -> impl Iterator<Item = (&str, u64)> {
        let from = self.orphans.partition_point(|(index, _)| *index <= after);
        let between = self.orphans[from..].iter().take_while(move |(index, _)| *index < before);
        between.map(|(index, key)| (key.as_str(), *index))
    }

    /// Whether an entry whose position has not been told may be the one that answers show there.
    pub(super) fn may_be(&self, key: &str, modify: u64, shown: &Shown) -> bool {
        self.fits(key, &Shown { modify: Some(modify), ..shown.clone() })
    }

    /// The log position of a write, if it is certain.
    pub(super) fn index_of(&self, request: usize) -> Option<u64> {
        self.rank[request].map(|rank| self.ranked[rank].0)
    }

    /// Whether a position belongs to a write that is known.
    pub(super) fn is_ranked(&self, index: u64) -> bool {
        self.ranked.binary_search_by_key(&index, |(index, _)| *index).is_ok()
    }

    /// Whether answers that are still to come show the entry of a key at a log position.
    pub(super) fn is_wanted(&self, key: &str, modify: u64, is_done: impl Fn(usize) -> bool) -> bool {
        let version = self.version(key, modify);
        version.is_some_and(|version| version.readers.iter().rev().any(|reader| !is_done(*reader)))
    }

    /// Whether an entry at a told position is the one that answers show.
    pub(super) fn fits(&self, key: &str, shown: &Shown) -> bool {
        let Some(version) = shown.modify.and_then(|modify| self.version(key, modify)) else { return true };
        version.session == shown.session
            && version.lock_index == u64::from(shown.lock_index)
            && shown.create.is_none_or(|create| create == version.create)
    }

    /// The next entry that answers show after a log position.
    pub(super) fn next(&self, key: &str, after: u64) -> Option<&Version> {
        let versions = self.versions.get(key)?;
        versions.get(versions.partition_point(|version| version.modify <= after))
    }

    fn version(&self, key: &str, modify: u64) -> Option<&Version> {
        let versions = self.versions.get(key)?;
        versions.binary_search_by_key(&modify, |version| version.modify).ok().map(|place| &versions[place])
    }
}

impl Version {
    /// None for what is no entry. The results of a transaction show the values of reads only.
    fn of(item: &Value, is_transaction: bool) -> Option<Version> {
        let number = |name: &str| item[name].as_u64();
        let value = match &item["Value"] {
            Value::String(text) => Some(STANDARD.decode(text).ok()?),
            _ => Some(Vec::new()).filter(|_| !is_transaction),
        };
        Some(Version {
            modify: number("ModifyIndex")?,
            create: number("CreateIndex")?,
            lock_index: number("LockIndex")?,
            session: item["Session"].as_str().map(str::to_owned),
            value,
            readers: Vec::new(),
        })
    }
}
