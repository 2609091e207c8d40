//! Watches: what a stream says of the history of keys (E-W-1 to E-W-6).

use serde::{Deserialize, Serialize};

use super::{EtcdAnswer, KeyValue, Mvcc};

/// A watch of keys, and what is asked of its stream besides.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WatchRange {
    /// The first key; empty: the lowest there is.
    pub key: String,
    /// The end, as of a read.
    pub end: String,
    /// The first revision; 0 or less: the next one (E-W-2).
    pub start: i64,
    /// Whether old entries are shown (E-W-4).
    pub previous: bool,
    /// Whether puts are left out.
    pub no_put: bool,
    /// Whether deletions are left out.
    pub no_delete: bool,
    /// The id of the watch; 0: the stream counts (E-W-1).
    pub id: i64,
    /// What else the stream is asked.
    pub besides: WatchBesides,
}

/// What a stream is asked after a watch.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WatchBesides {
    /// No further message.
    #[default]
    Nothing,
    /// The same watch once more.
    Again,
    /// To cancel it: only where it has nothing to say, for what it would say comes before that or not at all.
    Cancel,
    /// For progress (E-W-6).
    Progress,
}

/// What a stream says of one watch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WatchSaid {
    /// It is refused (E-W-1).
    Refused(WatchRefusal),
    /// It is cancelled, for the store is compacted beyond its first revision (E-W-5).
    Compacted {
        /// Its id.
        id: i64,
        /// That revision.
        compacted: i64,
    },
    /// The events of its keys.
    Events {
        /// Its id.
        id: i64,
        /// They, in the order of their revisions.
        events: Vec<WatchEvent>,
    },
}

/// Why a watch is refused (E-W-1).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum WatchRefusal {
    /// Its id is in use on the stream.
    DuplicateId,
    /// No key can lie in its interval.
    EmptyRange,
    /// It begins below revision 0 (E-W-2).
    Compacted,
}

/// A put, or a deletion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WatchEvent {
    /// The key.
    pub key: String,
    /// The revision.
    pub revision: i64,
    /// What was put; none: it was deleted.
    pub entry: Option<KeyValue>,
    /// The entry before, if it was asked for, and is not compacted.
    pub previous: Option<KeyValue>,
}

impl Mvcc {
    /// What a stream says of a watch as of now.
    pub(super) fn watch(&self, watch: &WatchRange) -> EtcdAnswer {
        let mut watches = vec![self.said(watch, watch.id)];
        if watch.besides == WatchBesides::Again {
            watches.push(match (&watches[0], watch.id) {
                (WatchSaid::Refused(why), _) => WatchSaid::Refused(*why),
                (_, 0) => self.said(watch, 1),
                _ => WatchSaid::Refused(WatchRefusal::DuplicateId),
            });
        }
        let unsure = (!self.version.keeps_compacted_deletes()).then_some(self.compacted);
        let progress = !self.version.progress_waits() || self.has_told_all(watch, &watches);
        EtcdAnswer::Watched { revision: self.revision, unsure, progress, watches }
    }

    /// Whether there is a watch of the stream, and it begins after what there is.
    fn has_told_all(&self, watch: &WatchRange, watches: &[WatchSaid]) -> bool {
        let is_future = watch.start > self.revision && !self.version.future_watch_is_behind();
        !matches!(watches, [WatchSaid::Refused(_)]) && (watch.start == 0 || is_future)
    }

    fn said(&self, watch: &WatchRange, id: i64) -> WatchSaid {
        if watch.start < 0 && self.version.refuses_start_below_zero() {
            return WatchSaid::Refused(WatchRefusal::Compacted);
        }
        let key = if watch.key.is_empty() { "\0" } else { &watch.key };
        if !watch.end.is_empty() && watch.end != "\0" && watch.end.as_str() <= key {
            return WatchSaid::Refused(WatchRefusal::EmptyRange);
        }
        // A revision below 0 is before any compaction, and from now on where there was none.
        if watch.start != 0 && watch.start < self.compacted {
            return WatchSaid::Compacted { id, compacted: self.compacted };
        }
        let start = if watch.start > 0 { watch.start } else { i64::MAX };
        let mut events: Vec<(u32, WatchEvent)> = Vec::new();
        for (name, versions) in self.history.iter().filter(|(name, _)| super::kv::is_within(name, key, &watch.end)) {
            for version in versions.iter().filter(|version| version.revision >= start) {
                let is_left_out = if version.entry.is_some() { watch.no_put } else { watch.no_delete };
                // E-W-5: a deletion at exactly the compacted revision may be lost, and a put is not.
                let is_kept = self.version.keeps_compacted_deletes() && version.revision == self.compacted;
                let is_lost = version.entry.is_none() && version.revision <= self.compacted && !is_kept;
                if !is_left_out && !is_lost {
                    let (key, revision, entry) = (name.clone(), version.revision, version.entry.clone());
                    let previous = self.before(name, revision, entry.as_ref()).filter(|_| watch.previous);
                    events.push((version.place, WatchEvent { key, revision, entry, previous }));
                }
            }
        }
        events.sort_by_key(|(place, event)| (event.revision, *place));
        WatchSaid::Events { id, events: events.into_iter().map(|(_, event)| event).collect() }
    }

    /// The entry before a revision: none of a key that is created at it, and none that is compacted (E-W-4).
    fn before(&self, key: &str, revision: i64, entry: Option<&KeyValue>) -> Option<KeyValue> {
        let is_created = entry.is_some_and(|entry| entry.created == revision);
        if is_created || revision - 1 < self.compacted {
            return None;
        }
        self.within(key, "", revision - 1).next().cloned()
    }
}
