//! Ranges, puts, deletions, compaction.

use std::cmp::Ordering;

use super::{DeleteRange, EtcdAnswer, EtcdRefusal, KeyValue, KeyVersion, Mvcc, Put, RangeRead, SortBy, Sorted};

/// Whether a key lies in an interval (E-KV-5).
pub(super) fn is_within(candidate: &str, key: &str, end: &str) -> bool {
    match end {
        "" => candidate == key,
        "\0" => candidate >= key,
        end => candidate >= key && candidate < end,
    }
}

/// What a step has written so far: all of it has one revision (E-TXN-4).
pub(super) struct Writing<'a> {
    pub(super) store: &'a mut Mvcc,
    /// The number of writes so far.
    count: u32,
}

impl Writing<'_> {
    /// The revision that a read in this step has.
    pub(super) fn revision(&self) -> i64 {
        self.store.revision + i64::from(self.count > 0)
    }

    /// The step is over.
    pub(super) fn commit(self) -> i64 {
        self.store.revision = self.revision();
        self.store.revision
    }

    fn write(&mut self, key: &str, entry: Option<KeyValue>) {
        let place = self.count;
        self.count += 1;
        let revision = self.revision();
        self.store.history.entry(key.to_owned()).or_default().push(KeyVersion { revision, place, entry });
    }

    /// E-KV-1, E-KV-4. What can be refused was refused before.
    pub(super) fn put(&mut self, put: &Put) -> EtcdAnswer {
        let old = self.store.present(&put.key).cloned();
        let kept = old.clone().unwrap_or_default();
        let revision = self.store.revision + 1;
        let entry = KeyValue {
            key: put.key.clone(),
            created: if old.is_some() { kept.created } else { revision },
            modified: revision,
            version: kept.version + 1,
            value: if put.ignore_value { kept.value } else { put.value.clone() },
            lease: if put.ignore_lease { kept.lease } else { put.lease },
        };
        self.write(&put.key, Some(entry));
        EtcdAnswer::Put { revision, previous: old.filter(|_| put.previous) }
    }

    /// E-KV-2.
    pub(super) fn delete(&mut self, delete: &DeleteRange) -> EtcdAnswer {
        let old: Vec<KeyValue> = self.store.within(&delete.key, &delete.end, i64::MAX).cloned().collect();
        for entry in &old {
            self.write(&entry.key, None);
        }
        let count = old.len();
        EtcdAnswer::Deleted {
            revision: self.revision(),
            count,
            previous: if delete.previous { old } else { Vec::new() },
        }
    }

    /// Removes the keys of a lease, in order (E-LS-8).
    pub(super) fn delete_of_lease(&mut self, lease: i64) {
        for key in self.store.keys_of(lease) {
            self.write(&key, None);
        }
    }
}

impl Mvcc {
    pub(super) fn writing(&mut self) -> Writing<'_> {
        Writing { store: self, count: 0 }
    }

    /// The present entry of a key.
    pub(super) fn present(&self, key: &str) -> Option<&KeyValue> {
        self.history.get(key)?.last()?.entry.as_ref()
    }

    /// The entries of an interval as of a revision, by key.
    pub(super) fn within<'a>(&'a self, key: &'a str, end: &'a str, at: i64) -> impl Iterator<Item = &'a KeyValue> + 'a {
        let at_revision = move |versions: &'a Vec<KeyVersion>| {
            versions.iter().rev().find(|version| version.revision <= at).and_then(|version| version.entry.as_ref())
        };
        self.history
            .iter()
            .filter(move |(candidate, _)| is_within(candidate, key, end))
            .filter_map(move |(_, versions)| at_revision(versions))
    }

    pub(super) fn put(&mut self, put: &Put) -> Result<EtcdAnswer, EtcdRefusal> {
        super::check::put(put)?;
        self.check_put(put, true)?;
        let mut writing = self.writing();
        let answer = writing.put(put);
        writing.commit();
        Ok(answer)
    }

    pub(super) fn delete(&mut self, delete: &DeleteRange) -> Result<EtcdAnswer, EtcdRefusal> {
        super::check::delete(delete)?;
        let mut writing = self.writing();
        let answer = writing.delete(delete);
        writing.commit();
        Ok(answer)
    }

    pub(super) fn range(&self, range: &RangeRead) -> Result<EtcdAnswer, EtcdRefusal> {
        super::check::range(range)?;
        if range.revision > self.revision {
            return Err(EtcdRefusal::Future);
        }
        if range.revision > 0 && range.revision < self.compacted {
            return Err(EtcdRefusal::Compacted);
        }
        Ok(self.read(range, self.revision))
    }

    /// A read whose revision is readable; `now`: the revision of a read of the present.
    pub(super) fn read(&self, range: &RangeRead, now: i64) -> EtcdAnswer {
        let at = if range.revision > 0 { range.revision } else { i64::MAX };
        let mut entries: Vec<KeyValue> = self.within(&range.key, &range.end, at).cloned().collect();
        let count = entries.len();
        if range.count_only {
            return EtcdAnswer::Range { revision: now, entries: Vec::new(), count, more: false };
        }
        let limit = usize::try_from(range.limit).unwrap_or(0);
        let filters = [range.min_modified, range.max_modified, range.min_created, range.max_created];
        if range.sorted == Sorted::Unsaid && filters == [0; 4] && limit > 0 {
            // Nothing has to be looked at but the first ones, and one more; a sort comes after that (E-KV-6).
            entries.truncate(limit + 1);
        }
        let is_at_least = |min: i64, revision: i64| min == 0 || revision >= min;
        let is_at_most = |max: i64, revision: i64| max == 0 || revision <= max;
        entries.retain(|entry| {
            is_at_least(range.min_modified, entry.modified)
                && is_at_most(range.max_modified, entry.modified)
                && is_at_least(range.min_created, entry.created)
                && is_at_most(range.max_created, entry.created)
        });
        entries.sort_by(|a, b| match range.sorted {
            Sorted::Descending => order(range.by, b, a),
            Sorted::Ascending | Sorted::Unsaid => order(range.by, a, b),
        });
        let more = limit > 0 && entries.len() > limit;
        if more {
            entries.truncate(limit);
        }
        if range.keys_only {
            entries.iter_mut().for_each(|entry| entry.value.clear());
        }
        EtcdAnswer::Range { revision: now, entries, count, more }
    }

    /// E-KV-9.
    pub(super) fn compact(&mut self, revision: i64) -> Result<EtcdAnswer, EtcdRefusal> {
        if revision <= self.compacted {
            return Err(EtcdRefusal::Compacted);
        }
        if revision > self.revision {
            return Err(EtcdRefusal::Future);
        }
        self.compacted = revision;
        for versions in self.history.values_mut() {
            let kept = versions.iter().rposition(|version| version.revision <= revision).unwrap_or(0);
            versions.drain(..kept);
        }
        let keeps = self.version.keeps_compacted_deletes();
        self.history.retain(|_, versions| {
            let last = &versions[0];
            versions.len() > 1 || last.entry.is_some() || last.revision > revision || keeps && last.revision == revision
        });
        Ok(EtcdAnswer::Done { revision: self.revision })
    }
}

fn order(by: SortBy, a: &KeyValue, b: &KeyValue) -> Ordering {
    match by {
        SortBy::Key => a.key.cmp(&b.key),
        SortBy::Version => a.version.cmp(&b.version),
        SortBy::Created => a.created.cmp(&b.created),
        SortBy::Modified => a.modified.cmp(&b.modified),
        SortBy::Value => a.value.cmp(&b.value),
    }
}
