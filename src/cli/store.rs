//! The folder in which searches keep their states, as the command line names it; and what identifies this build, on disk and to others.

use std::env::current_exe;
use std::fs::File;
use std::path::Path;

use fencepost::checker::SearchStore;

use crate::exit::CommandError;

/// The size of the buffers where none is named, in MiB.
const BUFFERS: u64 = 256;

/// What identifies this build. `option`: what asks for it.
pub fn build(option: &str) -> Result<String, CommandError> {
    let program = current_exe().and_then(File::open).and_then(|mut program| SearchStore::build_id(&mut program));
    program.map_err(|error| {
        CommandError::Input(format!("{option}: this program cannot be read, and it takes one build: {error}"))
    })
}

/// A store in this folder. `buffers`: the size of the buffers, in MiB.
pub fn open(folder: &Path, buffers: Option<u64>) -> Result<SearchStore, CommandError> {
    let program = build("--store")?;
    let bytes = buffers.unwrap_or(BUFFERS).max(1).saturating_mul(1 << 20);
    let room = usize::try_from(bytes).unwrap_or(usize::MAX / 2);
    Ok(SearchStore::new(folder.to_owned(), program, room))
}
