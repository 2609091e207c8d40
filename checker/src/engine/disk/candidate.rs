//! States that may be new, as they are written: with how each was found.

use std::io::{self, Read};

use super::blocks::{BlockReader, damaged, put_number, read_number};

/// How a state was found.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct CandidateHead {
    pub(super) fingerprint: u64,
    /// The place, in its level, of the state that it was found from.
    pub(super) parent: u64,
    pub(super) action: u16,
    pub(super) is_violation: bool,
}

/// By what candidates are sorted.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum SortKey {
    /// To find the same state twice; of the same the one that was found first comes first, and the others are left out.
    Fingerprint,
    /// As the search finds them.
    Discovery,
}

/// What is compared: numbers, the most important one first.
pub(super) type SortValue = (u64, u64, u16);

impl SortKey {
    /// The place of a candidate in this order.
    #[inline]
    pub(super) fn of(self, head: &CandidateHead) -> SortValue {
        match self {
            SortKey::Fingerprint => (head.fingerprint, head.parent, head.action),
            SortKey::Discovery => (head.parent, u64::from(head.action), 0),
        }
    }
}

impl CandidateHead {
    /// Writes a candidate behind its length.
    pub(super) fn write(&self, state: &[u8], to: &mut Vec<u8>) {
        let flag = u64::from(self.is_violation);
        put_number((state.len() as u64) << 1 | flag, to);
        to.extend(self.fingerprint.to_le_bytes());
        put_number(self.parent, to);
        put_number(u64::from(self.action), to);
        to.extend(state);
    }

    /// Reads a candidate; none at the end of the file.
    pub(super) fn read(from: &mut BlockReader, state: &mut Vec<u8>) -> io::Result<Option<Self>> {
        let Some(length) = read_number(from)? else { return Ok(None) };
        let mut fingerprint = [0; 8];
        from.read_exact(&mut fingerprint)?;
        let parent = read_number(from)?.ok_or_else(damaged)?;
        let action = read_number(from)?.and_then(|action| u16::try_from(action).ok()).ok_or_else(damaged)?;
        state.resize(usize::try_from(length >> 1).map_err(|_| damaged())?, 0);
        from.read_exact(state)?;
        let (fingerprint, is_violation) = (u64::from_le_bytes(fingerprint), length & 1 == 1);
        Ok(Some(CandidateHead { fingerprint, parent, action, is_violation }))
    }
}

/// Candidates in memory, as one list of bytes.
#[derive(Default)]
pub(super) struct Candidates {
    heads: Vec<(CandidateHead, usize)>,
    bytes: Vec<u8>,
}

impl Candidates {
    /// Adds one; `encode` adds its state.
    #[inline]
    pub(super) fn push(&mut self, head: CandidateHead, encode: impl FnOnce(&mut Vec<u8>)) {
        let at = self.bytes.len();
        // The length comes first, and is known last: it has a fixed width here.
        self.bytes.extend([0; 4]);
        encode(&mut self.bytes);
        let length = u32::try_from(self.bytes.len() - at - 4).expect("a state is small");
        self.bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
        self.heads.push((head, at));
    }

    /// How much memory they take, in bytes.
    pub(super) fn size(&self) -> usize {
        self.bytes.len() + self.heads.len() * size_of::<(CandidateHead, usize)>()
    }

    pub(super) fn len(&self) -> usize {
        self.heads.len()
    }

    pub(super) fn get(&self, place: usize) -> (CandidateHead, &[u8]) {
        let (head, at) = self.heads[place];
        let length: [u8; 4] = self.bytes[at..at + 4].try_into().expect("it has four bytes");
        (head, &self.bytes[at + 4..at + 4 + u32::from_le_bytes(length) as usize])
    }

    pub(super) fn sort(&mut self, by: SortKey) {
        self.heads.sort_unstable_by_key(|(head, _)| by.of(head));
    }
}
