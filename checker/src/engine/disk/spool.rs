//! Blocks of bytes that one process writes and reads, in any order; in memory, or in a file that no later process uses.

use std::hash::Hasher;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

use fencepost_model::hash::Fingerprinter;

use super::folder::{StoreFile, StoreFolder};
use super::{SearchStore, StoreError, damaged};

/// The name of the file.
pub(crate) const SPOOL: &str = "edges";

/// Blocks, by number.
pub(crate) enum Spool {
    /// In memory.
    Memory(Vec<Vec<u8>>),
    /// In a file.
    File(SpoolFile),
}

/// A file of blocks. It is removed when it is not needed any more; where a process ends before that, the next one removes it.
pub(crate) struct SpoolFile {
    folder: Arc<dyn StoreFolder>,
    writer: Box<dyn Write + Send>,
    /// It is opened when something is read, and closed when something is written.
    reader: Mutex<Option<Box<dyn StoreFile>>>,
    blocks: Vec<SpoolBlock>,
    length: u64,
    /// Keeps other processes out.
    _lock: Box<dyn Send>,
}

/// Where a block is.
struct SpoolBlock {
    first: u64,
    length: usize,
    checksum: u64,
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut checksum = Fingerprinter::default();
    checksum.write(bytes);
    checksum.finish()
}

impl Spool {
    /// An empty one in the folder of a search.
    ///
    /// # Errors
    /// The store is refused, or its folder contains something else.
    pub(crate) fn on_disk(store: &SearchStore) -> Result<Self, StoreError> {
        let lock = store.enter()?;
        let folder = Arc::clone(store.folder());
        let unusable = |error| StoreError::unusable(&folder, &error);
        folder.make().map_err(unusable)?;
        for file in folder.names().map_err(unusable)? {
            if file != SPOOL {
                return Err(StoreError::Foreign { place: folder.place(), file });
            }
            folder.remove(SPOOL).map_err(unusable)?;
        }
        let writer = folder.create(SPOOL).map_err(unusable)?;
        let reader = Mutex::new(None);
        Ok(Spool::File(SpoolFile { folder, writer, reader, blocks: Vec::new(), length: 0, _lock: lock }))
    }

    /// Adds a block.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn push(&mut self, block: &[u8]) -> Result<(), StoreError> {
        match self {
            Spool::Memory(blocks) => blocks.push(block.to_vec()),
            Spool::File(file) => {
                file.writer.write_all(block).map_err(|error| StoreError::unusable(&file.folder, &error))?;
                file.reader = Mutex::new(None);
                let new = SpoolBlock { first: file.length, length: block.len(), checksum: checksum(block) };
                file.blocks.push(new);
                file.length += block.len() as u64;
            }
        }
        Ok(())
    }

    /// A block; if it is in a file, by way of a buffer.
    ///
    /// # Errors
    /// The file cannot be read, or the block is not as it was written.
    pub(crate) fn block<'a>(&'a self, number: usize, buffer: &'a mut Vec<u8>) -> Result<&'a [u8], StoreError> {
        let file = match self {
            Spool::Memory(blocks) => return Ok(&blocks[number]),
            Spool::File(file) => file,
        };
        let SpoolBlock { first, length, checksum: expected } = file.blocks[number];
        buffer.resize(length, 0);
        let unusable = |error| StoreError::unusable(&file.folder, &error);
        let mut reader = file.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = match &mut *reader {
            Some(reader) => reader,
            none => none.insert(file.folder.open(SPOOL).map_err(unusable)?),
        };
        reader.seek(SeekFrom::Start(first)).and_then(|_| reader.read_exact(buffer)).map_err(unusable)?;
        if checksum(buffer) != expected {
            return Err(damaged(&file.folder, SPOOL));
        }
        Ok(buffer)
    }

    /// Whether there is no file.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self, Spool::Memory(_))
    }
}

impl Drop for SpoolFile {
    fn drop(&mut self) {
        // Where it cannot be removed, the next search removes it.
        let _ = self.folder.remove(SPOOL);
    }
}

#[cfg(test)]
mod tests {
    use super::super::memory::MemoryFolder;
    use super::*;

    fn store(folder: &MemoryFolder) -> SearchStore {
        SearchStore::of(Arc::new(folder.clone()), "a test".to_owned(), 1 << 20).below("graph")
    }

    fn blocks() -> Vec<Vec<u8>> {
        (0..50_u8).map(|number| vec![number; 1 + usize::from(number) * 17]).collect()
    }

    #[test]
    fn blocks_are_read_in_any_order_and_the_file_is_removed() {
        let folder = MemoryFolder::default();
        let mut spools = [Spool::Memory(Vec::new()), Spool::on_disk(&store(&folder)).unwrap()];
        for spool in &mut spools {
            blocks().iter().for_each(|block| spool.push(block).unwrap());
            let mut buffer = Vec::new();
            for (number, block) in blocks().iter().enumerate().rev().step_by(3) {
                assert_eq!(spool.block(number, &mut buffer).unwrap(), block);
            }
        }
        assert!(folder.contents().contains_key("graph/edges"));
        drop(spools);
        assert!(!folder.contents().contains_key("graph/edges"));
    }

    #[test]
    fn a_file_that_another_process_left_is_begun_again() {
        let folder = MemoryFolder::default();
        let mut spool = Spool::on_disk(&store(&folder)).unwrap();
        spool.push(b"old").unwrap();
        std::mem::forget(spool);
        assert!(folder.contents().contains_key("graph/edges"));
        folder.begin_anew(false);
        let mut spool = Spool::on_disk(&store(&folder)).unwrap();
        spool.push(b"new").unwrap();
        assert_eq!(spool.block(0, &mut Vec::new()).unwrap(), b"new");
    }

    #[test]
    fn a_damaged_block_a_full_disk_and_a_foreign_file_are_told() {
        let folder = MemoryFolder::default();
        let mut spool = Spool::on_disk(&store(&folder)).unwrap();
        spool.push(b"a block").unwrap();
        folder.damage("graph/edges", |bytes| bytes[2] ^= 1);
        assert!(matches!(spool.block(0, &mut Vec::new()), Err(StoreError::Damaged { .. })));
        folder.set_room(Some(10));
        assert!(matches!(spool.push(&[7; 100]), Err(StoreError::Unusable { .. })));
        drop(spool);
        folder.set_room(None);
        drop(store(&folder).folder().create("notes").unwrap());
        assert!(matches!(Spool::on_disk(&store(&folder)), Err(StoreError::Foreign { .. })));
    }
}
