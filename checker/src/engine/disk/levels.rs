//! The search on disk: one level after the other, each from a manifest to the next.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use fencepost_model::mutation::CheckerMutation;

use super::blocks::{BlockReader, BlockWriter, StoredFile, put_number, read_sized, reader, verify};
use super::candidate::SortKey;
use super::encoded::{EncodedStates, ErasedSpace};
use super::folder::StoreFolder;
use super::known::{FingerprintFile, FingerprintReader, FingerprintWriter, KNOWN, merge_last};
use super::manifest::{FORMAT, MANIFEST, MANIFEST_NEW, StoreManifest, damaged, read, refuse_others, replace};
use super::sorter::{CandidateSorter, RUN};
use super::steps::{STEPS, StepsWriter, path};
use super::{SearchStore, StoreError, stopped_by};
use crate::engine::{Marks, Paths, SearchPlan, SearchResult};
use crate::limits::{Limits, Progress};

/// The beginnings of the names of files of states and of parts.
const LEVEL: &str = "level-";
const PARTS: &str = "parts-";

/// How many states each thread expands between two questions to the supervisor.
const CHUNK: usize = 512;

/// The parts of the buffers in which candidates are sorted by fingerprint and by discovery. The rest remembers recent fingerprints.
const BY_FINGERPRINT: usize = 2;
const BY_DISCOVERY: usize = 4;

/// Whether a file of this name was written by a search.
fn is_ours(name: &str) -> bool {
    let is_numbered = |beginning: &&str| {
        let rest = name.strip_prefix(*beginning);
        rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    [MANIFEST, MANIFEST_NEW].contains(&name) || [LEVEL, STEPS, PARTS, KNOWN, RUN].iter().any(is_numbered)
}

/// Whether a file of this name was written after the first manifest: by then level 0 was complete.
fn is_later(name: &str) -> bool {
    let number = |beginning: &&str| name.strip_prefix(*beginning)?.parse().ok();
    [LEVEL, STEPS, PARTS].iter().find_map(number).is_some_and(|level: u64| level > 0)
}

/// What ends a level before it is complete.
enum Stopped {
    /// The store cannot be read or written any more.
    Store(io::Error),
    /// The model panicked; a sentence says where.
    Model(String),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Stopped::Store(error)
    }
}

/// What the expansion of a level came to.
#[derive(Default)]
struct LevelReport {
    transitions: u64,
    marks: Marks,
}

/// A search and its store.
pub(super) struct DiskSearch<'a> {
    space: &'a mut dyn ErasedSpace,
    folder: Arc<dyn StoreFolder>,
    room: usize,
    /// What is on disk for certain.
    manifest: StoreManifest,
    known: Vec<FingerprintFile>,
}

impl<'a> DiskSearch<'a> {
    /// Begins a search in a folder that contains none, or reads the one that it contains.
    pub(super) fn open(
        space: &'a mut dyn ErasedSpace,
        store: &SearchStore,
        identity: Vec<(String, String)>,
    ) -> Result<Self, StoreError> {
        let (folder, room) = (Arc::clone(&store.folder), store.room);
        let unusable = |error: io::Error| StoreError::unusable(&folder, &error);
        folder.make().map_err(unusable)?;
        let names = folder.names().map_err(unusable)?;
        let Some(manifest) = read::<StoreManifest>(&folder, MANIFEST)? else {
            if let Some(file) = names.iter().find(|name| !is_ours(name)) {
                return Err(StoreError::Foreign { place: folder.place(), file: file.clone() });
            }
            if names.iter().any(|name| is_later(name)) {
                return Err(damaged(&folder, MANIFEST));
            }
            let manifest = StoreManifest { format: FORMAT, identity, ..StoreManifest::default() };
            let search = DiskSearch { space, folder: Arc::clone(&folder), room, manifest, known: Vec::new() };
            search.sweep().map_err(unusable)?;
            return Ok(search);
        };
        refuse_others(&folder, MANIFEST, (manifest.format, FORMAT), (&manifest.identity, &identity))?;
        let known = verified(&folder, &manifest, &*space)?;
        space.restore(&manifest.counters);
        let mut search = DiskSearch { space, folder: Arc::clone(&folder), room, manifest, known };
        if search.is_mutated(CheckerMutation::ResumedGoalsForgotten) {
            search.manifest.reached = 0;
        }
        if search.is_mutated(CheckerMutation::ResumedTransitionsForgotten) {
            search.manifest.transitions = 0;
        }
        search.sweep().map_err(unusable)?;
        Ok(search)
    }

    fn is_mutated(&self, mutation: CheckerMutation) -> bool {
        self.space.mutation().is_some_and(|own| own.is(mutation))
    }

    /// Removes files of searches that the manifest does not name: those of a level that was not completed.
    fn sweep(&self) -> io::Result<()> {
        let named: BTreeSet<&str> = self.manifest.files().map(|file| file.name.as_str()).chain([MANIFEST]).collect();
        let names = self.folder.names()?.into_iter();
        names
            .filter(|name| is_ours(name) && !named.contains(name.as_str()))
            .try_for_each(|name| self.folder.remove(&name))
    }

    /// Searches until the space is exhausted, a promise breaks or the search is cut.
    pub(super) fn run(&mut self, plan: &SearchPlan) -> Result<SearchResult, String> {
        let cut = match self.levels(plan) {
            Ok(cut) => cut,
            Err(Stopped::Model(failure)) => return Err(failure),
            Err(Stopped::Store(error)) => Some(self.stopped_by(&error)),
        };
        let violation = match self.manifest.violation {
            Some(place) => path(&self.folder, &self.manifest.steps, place).map(Some),
            None => Ok(None),
        };
        let (violation, cut) = match violation {
            Ok(violation) => (violation, cut),
            Err(error) => (None, Some(self.stopped_by(&error))),
        };
        let StoreManifest { levels, transitions, .. } = &self.manifest;
        let depth = levels.iter().take_while(|states| **states > 0).count() as u64;
        Ok(SearchResult {
            states: levels.iter().sum(),
            transitions: *transitions,
            depth: plan.limits.depth.map_or(depth, |limit| depth.min(limit)),
            cut: cut.filter(|_| violation.is_none()),
            marks: self.manifest.marks(),
            is_violated: violation.is_some(),
            violation: violation.filter(|_| plan.paths != Paths::Unwanted),
        })
    }

    /// By what the search is cut where the store fails.
    fn stopped_by(&self, error: &io::Error) -> String {
        stopped_by(&self.folder, error, self.manifest.levels.len() as u64)
    }

    /// Completes levels. Returns by what the search is cut, if it is.
    fn levels(&mut self, plan: &SearchPlan) -> Result<Option<String>, Stopped> {
        let StoreManifest { levels, transitions, violation, .. } = &self.manifest;
        if let Some(frontier) = levels.last() {
            let (states, depth) = (levels.iter().sum(), levels.len() as u64);
            if *frontier > 0 && violation.is_none() {
                plan.supervisor.resumes(&Progress { states, transitions: *transitions, frontier: *frontier, depth });
            }
        } else {
            let starts = self.space.starts();
            let mut sorter = self.sorter(SortKey::Fingerprint);
            for place in 0..starts.len() {
                let (head, state) = starts.get(place);
                sorter.push(head, state)?;
            }
            self.complete(sorter, LevelReport::default())?;
        }
        while self.manifest.levels.last().is_some_and(|states| *states > 0) && self.manifest.violation.is_none() {
            if let Some(by) = self.cut_by(plan.limits) {
                return Ok(Some(by));
            }
            let mut sorter = self.sorter(SortKey::Fingerprint);
            let report = match self.expand(&mut sorter, plan)? {
                Ok(report) => report,
                Err(by) => {
                    self.sweep()?;
                    return Ok(Some(by));
                }
            };
            self.complete(sorter, report)?;
        }
        Ok(None)
    }

    /// Which limit keeps the search from expanding the last level; the same as in memory.
    fn cut_by(&self, limits: Limits) -> Option<String> {
        let level = self.manifest.levels.len() as u64 - 1;
        let states: u64 = self.manifest.levels.iter().sum();
        match limits {
            Limits { depth: Some(depth), .. } if level >= depth => Some(format!("--max-depth {depth}")),
            Limits { states: Some(most), .. } if states > most => Some(format!("--max-states {most}")),
            _ => None,
        }
    }

    fn sorter(&self, by: SortKey) -> CandidateSorter {
        let part = if by == SortKey::Fingerprint { BY_FINGERPRINT } else { BY_DISCOVERY };
        let loses_run = self.is_mutated(CheckerMutation::RunLost);
        CandidateSorter::new(&self.folder, by, self.room / part, loses_run)
    }

    /// Expands the states of the last level, or returns the supervisor's reason to stop.
    fn expand(
        &mut self,
        sorter: &mut CandidateSorter,
        plan: &SearchPlan,
    ) -> Result<Result<LevelReport, String>, Stopped> {
        let level = self.manifest.level.as_ref().expect("the first level is complete");
        let mut from = reader(&self.folder, &level.name)?;
        let states: u64 = self.manifest.levels.iter().sum();
        let (depth, count) = (self.manifest.levels.len() as u64, *self.manifest.levels.last().expect("there is one"));
        let (mut report, mut first, mut chunk) = (LevelReport::default(), 0, EncodedStates::default());
        let mut state = Vec::new();
        while fill(&mut from, &mut chunk, &mut state, CHUNK * plan.workers)? {
            for expanded in self.space.expand(&chunk, first).map_err(Stopped::Model)? {
                report.transitions += expanded.transitions;
                report.marks.add(expanded.marks);
                for place in 0..expanded.candidates.len() {
                    let (head, state) = expanded.candidates.get(place);
                    sorter.push(head, state)?;
                }
            }
            first += chunk.len() as u64;
            let transitions = self.manifest.transitions + report.transitions;
            let progress = Progress { states, transitions, frontier: count - first, depth };
            if let Some(by) = plan.supervisor.stop_on_disk(&progress) {
                return Ok(Err(by));
            }
        }
        Ok(Ok(report))
    }

    /// Makes those candidates that are new the next level, and puts a manifest of it into the place of the last one.
    fn complete(&mut self, sorter: CandidateSorter, report: LevelReport) -> Result<(), Stopped> {
        let level = self.manifest.levels.len();
        let skipped = if self.is_mutated(CheckerMutation::KnownKept) { self.known.len() } else { 0 };
        let readers = self.known[skipped..].iter().map(|file| FingerprintReader::open(&self.folder, file));
        let mut readers = readers.collect::<io::Result<Vec<_>>>()?;
        let mut fingerprints = FingerprintWriter::create(&self.folder, self.manifest.next_known)?;
        let mut discovered = self.sorter(SortKey::Discovery);
        sorter.drain(|head, state| {
            for known in &mut readers {
                if known.contains(head.fingerprint)? {
                    return Ok(());
                }
            }
            fingerprints.push(head.fingerprint)?;
            discovered.push(head, state)
        })?;
        drop(readers);
        let mut states = BlockWriter::create(&self.folder, format!("{LEVEL}{level}"))?;
        let mut steps = StepsWriter::create(&self.folder, level)?;
        let (mut count, mut violation, mut failure, mut length) = (0, None, None, Vec::new());
        discovered.drain(|head, state| {
            let mut is_broken = || {
                self.space.is_broken(state).unwrap_or_else(|failed| {
                    failure = Some(failed);
                    false
                })
            };
            if head.is_violation || is_broken() {
                violation.get_or_insert(count);
            }
            count += 1;
            length.clear();
            put_number(state.len() as u64, &mut length);
            states.write(&length)?;
            states.write(state)?;
            steps.push(head.parent, head.action)
        })?;
        if let Some(failure) = failure {
            return Err(Stopped::Model(failure));
        }
        let mut next = self.manifest.clone();
        next.level = Some(states.finish()?);
        next.steps.push(steps.finish()?);
        next.levels.push(count);
        next.violation = violation.filter(|_| !self.is_mutated(CheckerMutation::ViolationUnwritten));
        next.transitions += report.transitions;
        let mut marks = self.manifest.marks();
        marks.add(report.marks);
        (next.reached, next.kinds) = (marks.reached, marks.kinds);
        next.counters = self.space.counters();
        self.write_parts(level, &mut next)?;
        let mut known = self.known.clone();
        next.next_known += 1;
        let fingerprints = fingerprints.finish()?;
        if count > 0 {
            known.push(fingerprints);
            merge_last(&self.folder, &mut known, &mut next.next_known)?;
        }
        next.known = known.iter().map(|known| known.file.clone()).collect();
        self.checkpoint(next)?;
        self.known = known;
        Ok(())
    }

    /// Writes the parts that were not written before.
    fn write_parts(&self, level: usize, next: &mut StoreManifest) -> Result<(), Stopped> {
        let (written, all) = (self.manifest.parts, self.space.parts());
        if written < all {
            let mut bytes = Vec::new();
            self.space.write_parts(written..all, &mut bytes).map_err(Stopped::Model)?;
            let mut writer = BlockWriter::create(&self.folder, format!("{PARTS}{level}"))?;
            writer.write(&bytes)?;
            next.part_files.push(writer.finish()?);
            next.parts = all;
        }
        Ok(())
    }

    /// Makes certain that the new files are on disk, and only then names them.
    fn checkpoint(&mut self, next: StoreManifest) -> io::Result<()> {
        let old: BTreeSet<&str> = self.manifest.files().map(|file| file.name.as_str()).collect();
        next.files()
            .filter(|file| !old.contains(file.name.as_str()))
            .try_for_each(|file| self.folder.sync_file(&file.name))?;
        self.folder.sync()?;
        replace(&self.folder, (MANIFEST, MANIFEST_NEW), &next)?;
        self.manifest = next;
        self.sweep()
    }
}

/// Reads the next states of a level, up to this number; false if there are none.
fn fill(from: &mut BlockReader, chunk: &mut EncodedStates, state: &mut Vec<u8>, most: usize) -> io::Result<bool> {
    chunk.clear();
    while chunk.len() < most && read_sized(from, state)? {
        chunk.push(state);
    }
    Ok(chunk.len() > 0)
}

/// Reads every file that a manifest names to its end. Hands the parts to the space, and returns the files of fingerprints.
fn verified(
    folder: &Arc<dyn StoreFolder>,
    manifest: &StoreManifest,
    space: &dyn ErasedSpace,
) -> Result<Vec<FingerprintFile>, StoreError> {
    let unreadable = |file: &StoredFile, error: &io::Error| match error.kind() {
        io::ErrorKind::NotFound => damaged(folder, &file.name),
        _ => StoreError::unusable(folder, error),
    };
    for file in manifest.level.iter().chain(&manifest.steps) {
        if !verify(folder, file, |_| {}).map_err(|error| unreadable(file, &error))? {
            return Err(damaged(folder, &file.name));
        }
    }
    for file in &manifest.part_files {
        let mut bytes = Vec::new();
        let is_sound = verify(folder, file, |block| bytes.extend(block)).map_err(|error| unreadable(file, &error))?;
        if !is_sound || space.read_parts(&bytes).is_err() {
            return Err(damaged(folder, &file.name));
        }
    }
    if space.parts() != manifest.parts {
        return Err(damaged(folder, MANIFEST));
    }
    let read = |file| FingerprintFile::verified(folder, file).map_err(|error| unreadable(file, &error));
    manifest.known.iter().map(|file| read(file)?.ok_or_else(|| damaged(folder, &file.name))).collect()
}
