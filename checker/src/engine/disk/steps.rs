//! How each state of a level was found: its parent's place, as the difference to that of the state before, and the action. States are in the
//! order of discovery, so a step has two or three bytes.

use std::io;
use std::sync::Arc;

use super::blocks::{BlockWriter, StoredFile, damaged, put_number, read_number, reader};
use super::folder::StoreFolder;

/// The beginning of the names of these files.
pub(super) const STEPS: &str = "steps-";

/// Writes the steps to the states of a level.
pub(super) struct StepsWriter {
    writer: BlockWriter,
    last: u64,
    bytes: Vec<u8>,
}

impl StepsWriter {
    pub(super) fn create(folder: &Arc<dyn StoreFolder>, level: usize) -> io::Result<Self> {
        let writer = BlockWriter::create(folder, format!("{STEPS}{level}"))?;
        Ok(StepsWriter { writer, last: 0, bytes: Vec::new() })
    }

    pub(super) fn push(&mut self, parent: u64, action: u16) -> io::Result<()> {
        self.bytes.clear();
        put_number(parent - self.last, &mut self.bytes);
        put_number(u64::from(action), &mut self.bytes);
        self.last = parent;
        self.writer.write(&self.bytes)
    }

    pub(super) fn finish(self) -> io::Result<StoredFile> {
        self.writer.finish()
    }
}

/// The action indices that lead to a state of the last level; the first one is the start's place. Reads the steps of each level once.
pub(super) fn path(folder: &Arc<dyn StoreFolder>, steps: &[StoredFile], mut place: u64) -> io::Result<Vec<u16>> {
    let mut path = Vec::with_capacity(steps.len());
    for file in steps.iter().rev() {
        let mut from = reader(folder, &file.name)?;
        let (mut parent, mut action) = (0, 0);
        for _ in 0..=place {
            parent += read_number(&mut from)?.ok_or_else(damaged)?;
            action = read_number(&mut from)?.ok_or_else(damaged)?;
        }
        path.push(u16::try_from(action).map_err(|_| damaged())?);
        place = parent;
    }
    path.reverse();
    Ok(path)
}
