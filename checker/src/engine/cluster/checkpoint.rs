//! Checkpoints of a search by several processes: how far each worker has come, in a folder of its process.
//!
//! A worker has a file for each level, with the states of the level that it owns, and a manifest that names these files. When a level is complete
//! (all of its states have arrived, and the processes have told each other so), the worker syncs the file, and replaces the manifest by one
//! that names it. A process may end at any moment: then the others end as well, and their last levels may differ by one. When they meet again they
//! agree on the last level that all workers have; what is later is forgotten.
//!
//! What is not a state follows from the states, as it did when they were found first; but for the transitions out of them, which the manifest counts.

use std::collections::BTreeSet;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use serde::{Deserialize, Serialize};

use super::ClusterSearchError;
use crate::engine::counters::Report;
use crate::engine::disk::{
    BlockWriter, SearchStore, StoreError, StoreFolder, StoredFile, damaged, read, refuse_others, replace, verify,
};
use crate::limits::Progress;

/// The version of the format.
const FORMAT: u32 = 2;

/// How far a worker has come.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct WorkerManifest {
    format: u32,
    /// What is searched and how, as questions and answers.
    identity: Vec<(String, String)>,
    /// The levels that are complete, from 0.
    levels: Vec<CompleteLevel>,
}

impl WorkerManifest {
    /// Refuses that of another format or another search.
    fn refuse_others(
        &self,
        folder: &Arc<dyn StoreFolder>,
        name: &str,
        identity: &[(String, String)],
    ) -> Result<(), StoreError> {
        refuse_others(folder, name, (self.format, FORMAT), (&self.identity, identity))
    }
}

/// A level of which all states have arrived, and none has been expanded.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct CompleteLevel {
    /// The states of the worker, if there are some.
    states: Option<StoredFile>,
    /// What the worker had done until then.
    done: Report,
}

/// The checkpoints of one worker.
pub(in crate::engine) struct Checkpoint {
    folder: Arc<dyn StoreFolder>,
    worker: usize,
    manifest: WorkerManifest,
    /// How many levels are complete, for the process.
    complete: Arc<AtomicU64>,
}

/// Those of the workers of a process.
pub(in crate::engine) struct Checkpoints {
    pub(in crate::engine) workers: Vec<Checkpoint>,
    complete: Vec<Arc<AtomicU64>>,
    _lock: Box<dyn Send>,
}

impl Checkpoints {
    /// Reads what these workers have, and verifies all of it.
    pub(in crate::engine) fn open(
        store: &SearchStore,
        identity: &[(String, String)],
        workers: Range<usize>,
    ) -> Result<Self, StoreError> {
        let lock = store.enter()?;
        let folder = store.folder();
        let unusable = |error: io::Error| StoreError::unusable(folder, &error);
        folder.make().map_err(unusable)?;
        let names = folder.names().map_err(unusable)?;
        for name in names.iter().filter(|name| name.starts_with("worker-") && name.ends_with(".json")) {
            // Also one of another process, or of another number of workers.
            if let Some(manifest) = read::<WorkerManifest>(folder, name)? {
                manifest.refuse_others(folder, name, identity)?;
            }
        }
        let open = |worker| Checkpoint::open(folder, identity, worker);
        let opened = workers.clone().map(open).collect::<Result<Vec<Checkpoint>, _>>()?;
        let is_ours = |name: &&String| {
            let rest = name.strip_prefix("worker-").unwrap_or_default();
            let number = rest.split(['-', '.']).next().unwrap_or_default();
            number.parse().is_ok_and(|worker| workers.contains(&worker))
        };
        if let Some(file) = names.iter().find(|name| !is_ours(name)) {
            return Err(StoreError::Foreign { place: folder.place(), file: file.clone() });
        }
        let complete = opened.iter().map(|worker| Arc::clone(&worker.complete)).collect();
        Ok(Checkpoints { workers: opened, complete, _lock: lock })
    }

    /// How many levels all of these workers have.
    pub(in crate::engine) fn levels(&self) -> u64 {
        self.complete.iter().map(|complete| complete.load(SeqCst)).min().unwrap_or_default()
    }

    /// Agrees with the other processes on the number of levels that all workers have. Later ones are forgotten. Returns how far all of them
    /// have come together: the states are those that were expanded.
    ///
    /// # Errors
    /// Some processes have more levels than a search in which all of them took part can leave: nothing is forgotten then.
    pub(in crate::engine) fn agree(
        &mut self,
        sockets: &mut [Option<TcpStream>],
    ) -> Result<Progress, ClusterSearchError> {
        let most = self.workers.iter().map(Checkpoint::levels).max().unwrap_or_default();
        let all = exchange(sockets, [self.levels(), most])?;
        let least = all.iter().map(|[least, _]| *least).min().unwrap_or_default();
        let most = all.iter().map(|[_, most]| *most).max().unwrap_or_default();
        if most > least + 1 {
            return Err(ClusterSearchError::Peers(format!(
                "one worker has kept {most} levels and another one {least}: is the store of one of them elsewhere? without the stores the search begins anew"
            )));
        }
        self.workers.iter_mut().try_for_each(|worker| worker.forget_from(least))?;
        let last = self.workers.iter().filter_map(|worker| worker.manifest.levels.last());
        let done = last.fold(Report::default(), |mut done, level| {
            done.add(level.done);
            done
        });
        let all = exchange(sockets, [done.expanded, done.transitions])?;
        let states = all.iter().map(|[states, _]| states).sum();
        let transitions = all.iter().map(|[_, transitions]| transitions).sum();
        Ok(Progress { states, transitions, frontier: 0, depth: least })
    }
}

/// Tells the other processes two numbers, and hears theirs; those of this process are the last ones.
fn exchange(sockets: &mut [Option<TcpStream>], own: [u64; 2]) -> Result<Vec<[u64; 2]>, ClusterSearchError> {
    let mut tell_and_hear = || -> io::Result<Vec<[u64; 2]>> {
        for stream in sockets.iter_mut().flatten() {
            stream.write_all(own.map(u64::to_le_bytes).as_flattened())?;
        }
        let mut all = Vec::new();
        for stream in sockets.iter_mut().flatten() {
            let mut theirs = [[0; 8]; 2];
            stream.read_exact(theirs.as_flattened_mut())?;
            all.push(theirs.map(u64::from_le_bytes));
        }
        all.push(own);
        Ok(all)
    };
    let ended = |error| ClusterSearchError::Peers(format!("another process ended before the search began: {error}"));
    tell_and_hear().map_err(ended)
}

impl Checkpoint {
    fn name(worker: usize) -> String {
        format!("worker-{worker}.json")
    }

    fn open(folder: &Arc<dyn StoreFolder>, identity: &[(String, String)], worker: usize) -> Result<Self, StoreError> {
        let name = Self::name(worker);
        let none = || WorkerManifest { format: FORMAT, identity: identity.to_vec(), levels: Vec::new() };
        let manifest = read::<WorkerManifest>(folder, &name)?.unwrap_or_else(none);
        for file in manifest.levels.iter().filter_map(|level| level.states.as_ref()) {
            match verify(folder, file, |_| {}) {
                Ok(true) => {}
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(StoreError::unusable(folder, &error));
                }
                Ok(false) | Err(_) => return Err(damaged(folder, &file.name)),
            }
        }
        let complete = Arc::new(AtomicU64::new(manifest.levels.len() as u64));
        Ok(Checkpoint { folder: Arc::clone(folder), worker, manifest, complete })
    }

    /// How many levels are complete.
    pub(in crate::engine) fn levels(&self) -> u64 {
        self.manifest.levels.len() as u64
    }

    /// The levels that are complete: the states of each, and what the worker had done until then.
    pub(in crate::engine) fn complete(&self) -> impl Iterator<Item = (Option<&StoredFile>, Report)> {
        self.manifest.levels.iter().map(|level| (level.states.as_ref(), level.done))
    }

    pub(in crate::engine) fn folder(&self) -> &Arc<dyn StoreFolder> {
        &self.folder
    }

    /// Begins the file of a level.
    pub(in crate::engine) fn begin(&self, level: u64) -> io::Result<BlockWriter> {
        BlockWriter::create(&self.folder, format!("worker-{}-level-{level}", self.worker))
    }

    /// The next level is complete.
    pub(in crate::engine) fn add(&mut self, states: Option<StoredFile>, done: Report) -> io::Result<()> {
        if let Some(file) = &states {
            self.folder.sync_file(&file.name)?;
            self.folder.sync()?;
        }
        let mut manifest = self.manifest.clone();
        manifest.levels.push(CompleteLevel { states, done });
        self.put(manifest)
    }

    /// Forgets levels from this one on.
    fn forget_from(&mut self, levels: u64) -> Result<(), ClusterSearchError> {
        let mut forget = || {
            self.sweep()?;
            if levels < self.levels() {
                let mut manifest = self.manifest.clone();
                manifest.levels.truncate(usize::try_from(levels).expect("there are no more levels than there were"));
                self.put(manifest)?;
            }
            self.sweep()
        };
        forget().map_err(|error| ClusterSearchError::Store(StoreError::unusable(&self.folder, &error)))
    }

    /// Removes what the manifest does not name: files of levels that were not completed, and a manifest that did not take its place.
    fn sweep(&self) -> io::Result<()> {
        let (manifest, files) = (Self::name(self.worker), format!("worker-{}-level-", self.worker));
        let named: BTreeSet<&str> = self.complete().filter_map(|(file, _)| Some(&file?.name[..])).collect();
        let is_left = |name: &String| {
            name.starts_with(&files) && !named.contains(&name[..]) || *name == format!("{manifest}.new")
        };
        let names = self.folder.names()?;
        names.iter().filter(|name| is_left(name)).try_for_each(|name| self.folder.remove(name))
    }

    fn put(&mut self, manifest: WorkerManifest) -> io::Result<()> {
        let name = Self::name(self.worker);
        replace(&self.folder, (&name, &format!("{name}.new")), &manifest)?;
        self.complete.store(manifest.levels.len() as u64, SeqCst);
        self.manifest = manifest;
        Ok(())
    }
}
