//! The fingerprints of all states of earlier levels, in sorted files. Where two files are of similar size, they are merged; so there are
//! few files, and a fingerprint is rarely written again (O'Neil, Cheng, Gawlick and O'Neil, "The log-structured merge-tree", 1996).

use std::io::{self, Read, SeekFrom};
use std::sync::Arc;

use super::blocks::{BLOCK, BlockWriter, StoredFile, damaged, verify};
use super::folder::{StoreFile, StoreFolder};

/// The beginning of the names of these files.
pub(super) const KNOWN: &str = "known-";

/// How many fingerprints a block has.
const EACH: usize = BLOCK / size_of::<u64>();

/// A sorted file of fingerprints.
#[derive(Clone)]
pub(super) struct FingerprintFile {
    pub(super) file: StoredFile,
    /// The first fingerprint of each block: a ten-thousandth of the file.
    firsts: Vec<u64>,
}

impl FingerprintFile {
    /// Reads a file to its end; none if it is damaged.
    pub(super) fn verified(folder: &Arc<dyn StoreFolder>, file: &StoredFile) -> io::Result<Option<Self>> {
        let mut firsts = Vec::new();
        let is_sound = verify(folder, file, |block| firsts.extend(numbers(block).next()))?;
        Ok(is_sound.then(|| FingerprintFile { file: file.clone(), firsts }))
    }

    /// How many there are.
    fn len(&self) -> u64 {
        self.file.bytes / size_of::<u64>() as u64
    }
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(8).map(|number| u64::from_le_bytes(number.try_into().expect("it has eight bytes")))
}

/// Writes fingerprints in order.
pub(super) struct FingerprintWriter {
    writer: BlockWriter,
    firsts: Vec<u64>,
    count: usize,
}

impl FingerprintWriter {
    pub(super) fn create(folder: &Arc<dyn StoreFolder>, number: u64) -> io::Result<Self> {
        let writer = BlockWriter::create(folder, format!("{KNOWN}{number}"))?;
        Ok(FingerprintWriter { writer, firsts: Vec::new(), count: 0 })
    }

    pub(super) fn push(&mut self, fingerprint: u64) -> io::Result<()> {
        if self.count.is_multiple_of(EACH) {
            self.firsts.push(fingerprint);
        }
        self.count += 1;
        self.writer.write(&fingerprint.to_le_bytes())
    }

    pub(super) fn finish(self) -> io::Result<FingerprintFile> {
        Ok(FingerprintFile { file: self.writer.finish()?, firsts: self.firsts })
    }
}

/// Looks up fingerprints that only rise. Blocks without any of them are not read.
pub(super) struct FingerprintReader<'a> {
    from: Box<dyn StoreFile>,
    of: &'a FingerprintFile,
    /// The block that was read last.
    at: Option<usize>,
    block: Vec<u64>,
    bytes: Vec<u8>,
    /// The place in the block; before it are smaller ones only.
    place: usize,
}

impl<'a> FingerprintReader<'a> {
    pub(super) fn open(folder: &Arc<dyn StoreFolder>, of: &'a FingerprintFile) -> io::Result<Self> {
        let from = folder.open(&of.file.name)?;
        Ok(FingerprintReader { from, of, at: None, block: Vec::new(), bytes: Vec::new(), place: 0 })
    }

    fn load(&mut self, block: usize) -> io::Result<()> {
        if self.at.is_none_or(|at| at + 1 != block) || block == 0 {
            self.from.seek(SeekFrom::Start((block * BLOCK) as u64))?;
        }
        self.bytes.clear();
        self.from.by_ref().take(BLOCK as u64).read_to_end(&mut self.bytes)?;
        self.block.clear();
        self.block.extend(numbers(&self.bytes));
        (self.at, self.place) = (Some(block), 0);
        if self.block.first() == self.of.firsts.get(block) { Ok(()) } else { Err(damaged()) }
    }

    /// Whether a fingerprint is in the file; it is not below those that were asked before.
    pub(super) fn contains(&mut self, fingerprint: u64) -> io::Result<bool> {
        let before = self.at.unwrap_or(0);
        let beyond = before + self.of.firsts[before..].partition_point(|first| *first <= fingerprint);
        let Some(block) = beyond.checked_sub(1) else { return Ok(false) };
        if self.at.is_none_or(|at| at < block) {
            self.load(block)?;
        }
        self.place += self.block[self.place..].partition_point(|known| *known < fingerprint);
        Ok(self.block.get(self.place) == Some(&fingerprint))
    }

    /// The next fingerprint, where all are read.
    fn next(&mut self) -> io::Result<Option<u64>> {
        if self.place == self.block.len() {
            let block = self.at.map_or(0, |at| at + 1);
            if block == self.of.firsts.len() {
                return Ok(None);
            }
            self.load(block)?;
        }
        self.place += 1;
        Ok(self.block.get(self.place - 1).copied())
    }
}

/// Merges the last files where they are of similar size.
pub(super) fn merge_last(
    folder: &Arc<dyn StoreFolder>,
    files: &mut Vec<FingerprintFile>,
    next: &mut u64,
) -> io::Result<()> {
    while let [.., one, other] = &files[..]
        && one.len() <= 2 * other.len()
    {
        let mut to = FingerprintWriter::create(folder, *next)?;
        *next += 1;
        let (mut left, mut right) = (FingerprintReader::open(folder, one)?, FingerprintReader::open(folder, other)?);
        let (mut first, mut second) = (left.next()?, right.next()?);
        while let Some(least) = first.into_iter().chain(second).min() {
            to.push(least)?;
            if first == Some(least) {
                first = left.next()?;
            }
            if second == Some(least) {
                second = right.next()?;
            }
        }
        drop((left, right));
        let merged = to.finish()?;
        files.truncate(files.len() - 2);
        files.push(merged);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::memory::MemoryFolder;
    use super::*;

    #[test]
    fn what_was_written_is_known_before_and_after_merges() {
        let folder: Arc<dyn StoreFolder> = Arc::new(MemoryFolder::default());
        let (mut files, mut next, mut all) = (Vec::new(), 0, BTreeSet::new());
        let mut word = 1u64;
        for size in [1, 20_000, 9_000, 30_000, 5, 4, 100, 17_000] {
            let mut fresh = BTreeSet::new();
            for _ in 0..size {
                word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) ^ 5;
                if !all.contains(&word) {
                    fresh.insert(word);
                }
            }
            let mut writer = FingerprintWriter::create(&folder, next).unwrap();
            next += 1;
            fresh.iter().try_for_each(|fingerprint| writer.push(*fingerprint)).unwrap();
            files.push(writer.finish().unwrap());
            all.extend(fresh);
            merge_last(&folder, &mut files, &mut next).unwrap();
            assert!(files.windows(2).all(|pair| pair[0].len() > 2 * pair[1].len()));
            assert_eq!(files.iter().map(FingerprintFile::len).sum::<u64>(), all.len() as u64);
            let asked: BTreeSet<u64> = all.iter().flat_map(|known| [*known, known ^ 1, known ^ 2]).collect();
            let mut readers: Vec<_> =
                files.iter().map(|file| FingerprintReader::open(&folder, file).unwrap()).collect();
            for fingerprint in asked {
                let found = readers.iter_mut().filter_map(|file| file.contains(fingerprint).unwrap().then_some(()));
                assert_eq!(found.count(), usize::from(all.contains(&fingerprint)));
            }
            // Far apart, so that most blocks are never read.
            for file in &files {
                let read = FingerprintFile::verified(&folder, &file.file).unwrap().expect("it is sound");
                assert_eq!(read.firsts, file.firsts);
                let mut far = FingerprintReader::open(&folder, file).unwrap();
                for fingerprint in [0, u64::MAX / 3, u64::MAX] {
                    assert!(!far.contains(fingerprint).unwrap());
                }
            }
        }
    }
}
