//! The manifest: which files are the store of a search, and how far it has come. It is replaced as a whole when a level is complete.

use std::io::{self, Read};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::StoreError;
use super::blocks::{StoredFile, checksum};
use super::folder::StoreFolder;
use crate::engine::Marks;

/// The version of the format of everything in a store.
pub(super) const FORMAT: u32 = 1;

/// The name of the manifest, and of the next one until it takes the place of the last one.
pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const MANIFEST_NEW: &str = "manifest.json.new";

/// How far a search has come.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct StoreManifest {
    pub(super) format: u32,
    /// What was searched and how, as questions and answers.
    pub(super) identity: Vec<(String, String)>,
    /// The states that were found on each level, from 0. The last level is complete, and none of it has been expanded.
    pub(super) levels: Vec<u64>,
    pub(super) transitions: u64,
    pub(super) reached: u64,
    pub(super) kinds: u64,
    /// What the space counts besides.
    pub(super) counters: Vec<u64>,
    /// The place, in the last level, of the first state that was found by a violation.
    pub(super) violation: Option<u64>,
    /// The number of the next file of fingerprints.
    pub(super) next_known: u64,
    /// The number of parts that states are made of.
    pub(super) parts: u64,
    /// The states of the last level.
    pub(super) level: Option<StoredFile>,
    /// How the states of each level were found.
    pub(super) steps: Vec<StoredFile>,
    /// The fingerprints of all states.
    pub(super) known: Vec<StoredFile>,
    /// Parts that states are made of, in the order of their numbers.
    pub(super) part_files: Vec<StoredFile>,
}

impl StoreManifest {
    pub(super) fn marks(&self) -> Marks {
        Marks { reached: self.reached, kinds: self.kinds }
    }

    /// All files.
    pub(super) fn files(&self) -> impl Iterator<Item = &StoredFile> {
        self.level.iter().chain(&self.steps).chain(&self.known).chain(&self.part_files)
    }
}

/// What is searched and how, as questions and answers.
type Identity = [(String, String)];

/// A text with its checksum.
#[derive(Serialize, Deserialize)]
struct Sealed<T> {
    checksum: String,
    content: T,
}

/// Replaces a file by another one at once: whatever happens, there is either the old or the new one.
pub(in crate::engine) fn replace<T: Serialize>(
    folder: &Arc<dyn StoreFolder>,
    (name, new): (&str, &str),
    content: &T,
) -> io::Result<()> {
    let text = serde_json::to_string(content)?;
    let sealed = serde_json::to_string(&Sealed { checksum: checksum(&text), content })?;
    let mut file = folder.create(new)?;
    file.write_all(sealed.as_bytes())?;
    file.write_all(b"\n")?;
    drop(file);
    folder.sync_file(new)?;
    folder.rename(new, name)?;
    folder.sync()
}

/// Reads such a file; none if there is none.
pub(in crate::engine) fn read<T: Serialize + DeserializeOwned>(
    folder: &Arc<dyn StoreFolder>,
    name: &str,
) -> Result<Option<T>, StoreError> {
    let mut text = String::new();
    match folder.open(name).and_then(|mut file| file.read_to_string(&mut text)) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => return Err(damaged(folder, name)),
        Err(error) => return Err(StoreError::unusable(folder, &error)),
    }
    let sealed: Sealed<T> = serde_json::from_str(&text).map_err(|_| damaged(folder, name))?;
    let again = serde_json::to_string(&sealed.content).map_err(|_| damaged(folder, name))?;
    if checksum(&again) != sealed.checksum {
        return Err(damaged(folder, name));
    }
    Ok(Some(sealed.content))
}

/// Refuses what a file says of another format, or of another search: `theirs` is what it says.
pub(in crate::engine) fn refuse_others(
    folder: &Arc<dyn StoreFolder>,
    name: &str,
    (format, known): (u32, u32),
    (theirs, ours): (&Identity, &Identity),
) -> Result<(), StoreError> {
    if format != known {
        return Err(StoreError::OtherProgram { place: folder.place(), theirs: format!("format {format}") });
    }
    match theirs.iter().zip(ours).find(|(theirs, ours)| theirs != ours) {
        Some(((_, theirs), (question, ours))) => Err(StoreError::OtherSearch {
            place: folder.place(),
            question: question.clone(),
            theirs: theirs.clone(),
            ours: ours.clone(),
        }),
        None if theirs.len() != ours.len() => Err(damaged(folder, name)),
        None => Ok(()),
    }
}

/// A file is not what it should be.
pub(in crate::engine) fn damaged(folder: &Arc<dyn StoreFolder>, name: &str) -> StoreError {
    StoreError::Damaged { place: folder.place(), file: name.to_owned() }
}
