//! Files of a store: written in blocks with a checksum, read in order, verified as a whole.

use std::hash::Hasher;
use std::io::{self, BufReader, Read, Write};
use std::sync::Arc;

use fencepost_model::hash::Fingerprinter;
use serde::{Deserialize, Serialize};

use super::folder::{StoreFile, StoreFolder};

/// The size of a block, in bytes.
pub(super) const BLOCK: usize = 1 << 16;

/// What the manifest says of a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(in crate::engine) struct StoredFile {
    pub(in crate::engine) name: String,
    pub(super) bytes: u64,
    /// A hash of the bytes, in hexadecimal digits.
    checksum: String,
}

/// Adds a block to a checksum.
fn add(checksum: &mut Fingerprinter, block: &[u8]) {
    checksum.write(block);
}

fn digits(checksum: &Fingerprinter) -> String {
    format!("{:016x}", checksum.finish())
}

/// The checksum of a text, in hexadecimal digits.
pub(super) fn checksum(text: &str) -> String {
    let mut checksum = Fingerprinter::default();
    add(&mut checksum, text.as_bytes());
    digits(&checksum)
}

/// Writes a new file.
pub(in crate::engine) struct BlockWriter {
    name: String,
    file: Box<dyn Write + Send>,
    block: Vec<u8>,
    bytes: u64,
    checksum: Fingerprinter,
}

impl BlockWriter {
    pub(in crate::engine) fn create(folder: &Arc<dyn StoreFolder>, name: String) -> io::Result<Self> {
        let file = folder.create(&name)?;
        let block = Vec::with_capacity(BLOCK);
        Ok(BlockWriter { name, file, block, bytes: 0, checksum: Fingerprinter::default() })
    }

    pub(in crate::engine) fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        while self.block.len() + bytes.len() >= BLOCK {
            let (now, later) = bytes.split_at(BLOCK - self.block.len());
            self.block.extend(now);
            self.put()?;
            bytes = later;
        }
        self.block.extend(bytes);
        Ok(())
    }

    /// Writes the block, which may be shorter only at the end.
    fn put(&mut self) -> io::Result<()> {
        add(&mut self.checksum, &self.block);
        self.file.write_all(&self.block)?;
        self.block.clear();
        Ok(())
    }

    pub(in crate::engine) fn finish(mut self) -> io::Result<StoredFile> {
        if !self.block.is_empty() {
            self.put()?;
        }
        Ok(StoredFile { name: self.name, bytes: self.bytes, checksum: digits(&self.checksum) })
    }
}

/// Reads a file from its beginning.
pub(in crate::engine) type BlockReader = BufReader<Box<dyn StoreFile>>;

pub(in crate::engine) fn reader(folder: &Arc<dyn StoreFolder>, name: &str) -> io::Result<BlockReader> {
    Ok(BufReader::with_capacity(BLOCK, folder.open(name)?))
}

/// Reads a file to its end, block by block. Says whether it has the length and the checksum that it should have.
pub(in crate::engine) fn verify(
    folder: &Arc<dyn StoreFolder>,
    file: &StoredFile,
    mut each: impl FnMut(&[u8]),
) -> io::Result<bool> {
    let (bytes, checksum) = read_to_end(&mut *folder.open(&file.name)?, &mut each)?;
    Ok(bytes == file.bytes && checksum == file.checksum)
}

/// What identifies a build: the length and the checksum of the program.
pub(super) fn build_id(program: &mut dyn Read) -> io::Result<String> {
    let (bytes, checksum) = read_to_end(program, &mut |_| {})?;
    Ok(format!("{bytes}-{checksum}"))
}

/// Reads to the end, block by block. Returns how many bytes there were, and their checksum.
fn read_to_end(from: &mut dyn Read, each: &mut dyn FnMut(&[u8])) -> io::Result<(u64, String)> {
    let (mut block, mut bytes, mut sum) = (Vec::with_capacity(BLOCK), 0, Fingerprinter::default());
    loop {
        block.clear();
        Read::take(&mut *from, BLOCK as u64).read_to_end(&mut block)?;
        if block.is_empty() {
            return Ok((bytes, digits(&sum)));
        }
        bytes += block.len() as u64;
        add(&mut sum, &block);
        each(&block);
    }
}

/// Adds a number: seven bits a byte, the low ones first (LEB128).
#[inline]
pub(crate) fn put_number(mut number: u64, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Takes a number from the beginning of some bytes.
#[inline]
pub(crate) fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    if let [byte @ 0..0x80, rest @ ..] = bytes {
        // Most are small.
        let number = u64::from(*byte);
        *bytes = rest;
        return Some(number);
    }
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Reads a number; none at the end of the file.
#[inline]
pub(super) fn read_number(from: &mut BlockReader) -> io::Result<Option<u64>> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let mut byte = [0];
        if from.read(&mut byte)? == 0 {
            return if shift == 0 { Ok(None) } else { Err(damaged()) };
        }
        number |= u64::from(byte[0] & 0x7f) << shift;
        if byte[0] & 0x80 == 0 {
            return Ok(Some(number));
        }
    }
    Err(damaged())
}

/// Reads what a number before it says the length of; false at the end of the file.
pub(in crate::engine) fn read_sized(from: &mut BlockReader, to: &mut Vec<u8>) -> io::Result<bool> {
    let Some(length) = read_number(from)? else { return Ok(false) };
    to.resize(usize::try_from(length).map_err(|_| damaged())?, 0);
    from.read_exact(to)?;
    Ok(true)
}

/// A file says what no file of a store says.
pub(super) fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a file of the store is damaged")
}

#[cfg(test)]
mod tests {
    use super::super::memory::MemoryFolder;
    use super::*;

    #[test]
    fn another_program_has_another_build_id() {
        let program = vec![7; 3 * BLOCK + 5];
        let id = |program: &[u8]| build_id(&mut &*program).unwrap();
        assert_eq!(id(&program), id(&program.clone()));
        assert!(id(&program).starts_with("196613-"), "{}", id(&program));
        for place in [0, BLOCK - 1, BLOCK, 3 * BLOCK + 4] {
            let mut other = program.clone();
            other[place] = 8;
            assert_ne!(id(&program), id(&other), "{place}");
        }
        assert_ne!(id(&program), id(&program[..3 * BLOCK]));
    }

    #[test]
    fn numbers_of_any_size_are_read_again() {
        for number in [0, 1, 127, 128, 300, 16_383, 16_384, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            put_number(number, &mut bytes);
            let mut rest: &[u8] = &bytes;
            assert_eq!((take_number(&mut rest), rest.len()), (Some(number), 0));
            assert_eq!(take_number(&mut &bytes[..bytes.len() - 1]), None);
        }
    }

    #[test]
    fn a_file_with_another_byte_or_length_is_noticed() {
        let folder: Arc<dyn StoreFolder> = Arc::new(MemoryFolder::default());
        for (place, length) in [0, 1, BLOCK - 1, BLOCK, 2 * BLOCK + 17].into_iter().enumerate() {
            let mut writer = BlockWriter::create(&folder, format!("file-{place}")).unwrap();
            let bytes: Vec<u8> = (0..length).map(|at| (at * 7 % 251) as u8).collect();
            bytes.chunks(1000).for_each(|chunk| writer.write(chunk).unwrap());
            let file = writer.finish().unwrap();
            let mut read: Vec<u8> = Vec::new();
            assert!(verify(&folder, &file, |block| read.extend(block)).unwrap());
            assert!(read == bytes);
            let other = StoredFile { bytes: file.bytes + 1, ..file.clone() };
            assert!(!verify(&folder, &other, |_| {}).unwrap());
            let other = StoredFile { checksum: checksum("another"), ..file };
            assert!(!verify(&folder, &other, |_| {}).unwrap());
        }
    }
}
