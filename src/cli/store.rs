//! The folder in which searches keep their states, as the command line names it.

use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read};
use std::path::Path;

use fencepost::checker::SearchStore;
use fencepost::model::hash::Fingerprinter;

use crate::exit::CommandError;

/// The size of the buffers where none is named, in MiB.
const BUFFERS: u64 = 256;

/// A store in this folder. `buffers`: the size of the buffers, in MiB.
pub fn open(folder: &Path, buffers: Option<u64>) -> Result<SearchStore, CommandError> {
    let program = build().map_err(|error| {
        CommandError::Input(format!("--store: this program cannot be read, and a store is of one build: {error}"))
    })?;
    let bytes = buffers.unwrap_or(BUFFERS).max(1).saturating_mul(1 << 20);
    let room = usize::try_from(bytes).unwrap_or(usize::MAX / 2);
    Ok(SearchStore::new(folder.to_owned(), program, room))
}

/// What identifies this build: the length and a hash of the program. A build with another model is another program.
fn build() -> io::Result<String> {
    let mut program = File::open(std::env::current_exe()?)?;
    let (mut hash, mut length, mut block) = (Fingerprinter::default(), 0, Vec::new());
    loop {
        block.clear();
        program.by_ref().take(1 << 20).read_to_end(&mut block)?;
        if block.is_empty() {
            return Ok(format!("{length}-{:016x}", hash.finish()));
        }
        length += block.len();
        hash.write(&block);
    }
}
