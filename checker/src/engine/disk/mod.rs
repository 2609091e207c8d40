//! The search on disk: for spaces that are larger than memory, and so that nothing is lost when the process ends.
//!
//! It goes level by level, with delayed duplicate detection (Stern and Dill, "Using magnetic disk instead of main memory in the Murφ
//! verifier", CAV 1998; Korf, "Best-first frontier search with delayed duplicate detection", AAAI 2004):
//!
//! ```text
//! level-k ─► expand ─► candidates ─► sorted by fingerprint, without those that are known ─► sorted by discovery ─► level-(k+1), steps-(k+1)
//!                                                 ▲                    │
//!                                                 └──── known-… ◄──────┘
//! ```
//!
//! Of a state that is found several times, the smallest (parent, action) is kept, and each level is sorted by it. So all counts, the order
//! of states and the shortest violation are those of the search in memory with one worker, for any number of workers and any buffer.
//!
//! At the end of a level the new files are synced, and the manifest is replaced by one that names them. A process that ends before that
//! leaves files that no manifest names; the next one removes them, and begins with the level again. What is in memory: the parts of
//! which states are made, buffers of a given size, and a ten-thousandth of the fingerprints.
//!
//! ```text
//! folder     where a store lies; memory: the same without a file system, for laws and tests
//! blocks     files with checksums, numbers of any length
//! candidate  states that may be new, with how each was found
//! sorter     sorts candidates in runs
//! known      sorted files of the fingerprints of all earlier levels
//! manifest   which files are the store, and how far the search has come
//! encoded    states as bytes; expands some of them with several threads
//! levels     the search itself
//! steps      how each state was found, read backwards
//! spool      blocks that one process writes and reads, for state graphs
//! ```

mod blocks;
mod candidate;
mod encoded;
mod folder;
mod known;
mod levels;
mod manifest;
#[cfg(any(test, feature = "stateright"))]
pub(crate) mod memory;
mod sorter;
pub(crate) mod spool;
mod steps;
#[cfg(test)]
mod tests;

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub(super) use self::blocks::{BlockWriter, StoredFile, read_sized, reader, verify};
pub(crate) use self::blocks::{put_number, take_number};
pub use self::folder::{StoreFile, StoreFolder};
pub(super) use self::manifest::{damaged, read, refuse_others, replace};

use self::encoded::EncodedSpace;
use self::folder::DiskFolder;
use self::levels::DiskSearch;
use self::manifest::FORMAT;
use super::{Chunk, SearchPlan, SearchResult, Space};

/// A space with states that can be written.
pub trait Stored: Space<Scratch: Send> {
    /// Adds a state as bytes. What the bytes refer to is written by [`Stored::write_parts`].
    fn encode(&self, state: &Self::State, to: &mut Vec<u8>);

    /// The state that was written; none if these are not the bytes of a state.
    fn decode(&self, bytes: &[u8]) -> Option<Self::State>;

    /// As much of a state as it takes to expand it.
    fn waiting(&self, state: Self::State) -> <Self::Chunk as Chunk>::Waiting;

    /// How many parts there are that states refer to by number.
    fn parts(&self) -> u64 {
        0
    }

    /// Adds some of them as bytes.
    ///
    /// # Errors
    /// A part cannot be written; a sentence says why.
    fn write_parts(&self, _: Range<u64>, _: &mut Vec<u8>) -> Result<(), String> {
        Ok(())
    }

    /// Reads the next parts, before the search resumes.
    ///
    /// # Errors
    /// These are not the bytes of parts.
    fn read_parts(&self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }

    /// What the space counts beside the search, when a level is complete.
    fn counters(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Continues to count from there.
    fn restore(&self, _: &[u64]) {}
}

/// A folder in which searches keep their states.
#[derive(Clone)]
pub struct SearchStore {
    /// The folder itself.
    root: Arc<dyn StoreFolder>,
    /// The folder of a search.
    folder: Arc<dyn StoreFolder>,
    /// By this the program is told from others: a store is of the build that wrote it, because another one may know another model.
    program: String,
    /// The size of the buffers, in bytes.
    room: usize,
}

/// What the first file of a store says.
#[derive(PartialEq, Eq, Debug, Serialize, Deserialize)]
struct StoreHeader {
    fencepost_store: u32,
    version: String,
    program: String,
}

/// The first file of a store, and its names until it is complete.
const HEADER: (&str, &str) = ("store.json", "store.json.new");

/// The file that keeps other processes out.
const LOCK: &str = "lock";

/// Why a store cannot be used. Nothing in it has been changed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum StoreError {
    /// There are files of others.
    #[error("{place} is not a store: it contains `{file}`; name an empty or a new folder")]
    Foreign {
        /// The folder.
        place: String,
        /// One of the files.
        file: String,
    },
    /// It has another format, or belongs to another build of the program.
    #[error(
        "{place} was written by another build of fencepost ({theirs}), which may know another model; name another folder"
    )]
    OtherProgram {
        /// The folder.
        place: String,
        /// Who wrote it.
        theirs: String,
    },
    /// It belongs to another search.
    #[error("{place} belongs to another search: {question} is {theirs} there, and {ours} here; name another folder")]
    OtherSearch {
        /// The folder.
        place: String,
        /// What differs.
        question: String,
        /// The answer in the store.
        theirs: String,
        /// The answer of this search.
        ours: String,
    },
    /// A file is missing, or has another length or content than when it was written.
    #[error("{place} is damaged: `{file}` is not as it was written; remove the folder to search from the beginning")]
    Damaged {
        /// The folder.
        place: String,
        /// The file.
        file: String,
    },
    /// Another process uses it.
    #[error("{0} is in use by another process")]
    InUse(String),
    /// The file system refuses it.
    #[error("{place} cannot be used: {error}")]
    Unusable {
        /// The folder.
        place: String,
        /// What the file system says.
        error: String,
    },
    /// There is no store for such a search; the reason.
    #[error("no store is possible: {0}")]
    Impossible(String),
}

impl StoreError {
    pub(super) fn unusable(folder: &Arc<dyn StoreFolder>, error: &io::Error) -> Self {
        StoreError::Unusable { place: folder.place(), error: error.to_string() }
    }
}

/// By what a search is cut where its store fails, of which this number of levels is complete.
pub(super) fn stopped_by(folder: &Arc<dyn StoreFolder>, error: &io::Error, levels: u64) -> String {
    let place = folder.place();
    format!(
        "an error of the store ({place}: {error}; its first {levels} levels are complete, and the search can go on from there)"
    )
}

/// Why a search on disk has no result.
pub(crate) enum DiskSearchError {
    /// The store is refused.
    Store(StoreError),
    /// The model panicked; a sentence says where.
    Model(String),
}

impl SearchStore {
    /// What identifies a build, from its program: the length and a checksum. A build with another model is another program.
    ///
    /// # Errors
    /// The program cannot be read.
    pub fn build_id(program: &mut dyn io::Read) -> io::Result<String> {
        blocks::build_id(program)
    }

    /// A store in a folder of the file system, which is created where it does not exist. `program`: what identifies this build of the
    /// program; see [`SearchStore::build_id`]. `room`: the size of the buffers, in bytes.
    pub fn new(folder: PathBuf, program: String, room: usize) -> Self {
        Self::of(Arc::new(DiskFolder { path: folder }), program, room)
    }

    /// A store anywhere.
    pub(crate) fn of(folder: Arc<dyn StoreFolder>, program: String, room: usize) -> Self {
        SearchStore { root: Arc::clone(&folder), folder, program, room }
    }

    /// The part of it with this name. Characters that a file system may not like are replaced: the identity of a search is compared.
    #[must_use]
    pub(crate) fn below(&self, name: &str) -> Self {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        SearchStore { folder: self.folder.below(&name), ..self.clone() }
    }

    /// The size of the buffers, in bytes.
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    /// The folder of a search.
    pub(super) fn folder(&self) -> &Arc<dyn StoreFolder> {
        &self.folder
    }

    /// Keeps other processes out, and refuses what is not a store of this program.
    pub(super) fn enter(&self) -> Result<Box<dyn Send>, StoreError> {
        let unusable = |error: io::Error| StoreError::unusable(&self.root, &error);
        let header = StoreHeader {
            fencepost_store: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: self.program.clone(),
        };
        let names = self.root.names().map_err(unusable)?;
        let is_ours = |name: &&String| [HEADER.0, HEADER.1, LOCK].contains(&name.as_str());
        let foreign = names.iter().find(|name| !is_ours(name));
        if let Some(file) = foreign.filter(|_| !names.iter().any(|name| name == HEADER.0)) {
            return Err(StoreError::Foreign { place: self.root.place(), file: file.clone() });
        }
        self.root.make().map_err(unusable)?;
        let lock = self.root.lock(LOCK).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => StoreError::InUse(self.root.place()),
            _ => unusable(error),
        })?;
        match manifest::read::<StoreHeader>(&self.root, HEADER.0)? {
            Some(theirs) if theirs == header => {}
            Some(StoreHeader { fencepost_store, version, program }) => {
                let theirs = format!("store format {fencepost_store}, version {version}, build {program}");
                return Err(StoreError::OtherProgram { place: self.root.place(), theirs });
            }
            None => {
                if names.iter().any(|name| name == HEADER.1) {
                    self.root.remove(HEADER.1).map_err(unusable)?;
                }
                manifest::replace(&self.root, HEADER, &header).map_err(unusable)?;
            }
        }
        Ok(lock)
    }
}

/// Searches a space on disk, or resumes a search that has not ended, or tells the result of one that has. `identity`: what is searched and
/// how, as questions and answers; limits and the number of workers are no part of it.
///
/// A write that fails cuts the search. The counts of a search that was cut are those of its last complete level.
pub(crate) fn search<M: Stored>(
    space: &Arc<M>,
    plan: &SearchPlan,
    store: &SearchStore,
    identity: Vec<(String, String)>,
) -> Result<SearchResult, DiskSearchError> {
    let _lock = store.enter().map_err(DiskSearchError::Store)?;
    let mut space = EncodedSpace::new(space, plan.workers, store.room);
    let mut search = DiskSearch::open(&mut space, store, identity).map_err(DiskSearchError::Store)?;
    search.run(plan).map_err(DiskSearchError::Model)
}
