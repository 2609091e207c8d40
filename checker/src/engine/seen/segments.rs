//! The entries of the table: buckets one after another, in pieces of memory that stay where they are when there are more. An allocator that
//! moves what has outgrown its room would have the whole table in memory twice.

use super::geometry::BUCKET;

/// The most bytes of an entry.
const ENTRY: usize = size_of::<u64>();

/// The number of buckets of a segment; the last one has fewer.
const SEGMENT: usize = 1 << 12;

/// Entries of the same number of bytes, the low byte first; zeros are a free slot. A bucket is filled from its first slot on.
pub(super) struct Segments {
    /// Behind the entries of each are zeros, so that eight bytes can be read at each entry.
    list: Vec<Vec<u8>>,
    width: usize,
}

/// The bits of an entry of this number of bytes.
#[inline]
pub(super) fn mask(width: usize) -> u64 {
    u64::MAX >> (8 * (ENTRY - width))
}

/// The bytes of this number of buckets.
fn room(buckets: usize, width: usize) -> usize {
    buckets * BUCKET * width + ENTRY - width
}

/// An entry at this byte, and the bytes behind it.
#[inline]
fn read(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + ENTRY].try_into().expect("that is the number of bytes"))
}

impl Segments {
    /// No buckets, of entries of this number of bytes.
    pub(super) fn new(width: usize) -> Self {
        Segments { list: Vec::new(), width }
    }

    /// The number of bytes of an entry.
    #[inline]
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The bytes of all entries.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.list.iter().map(Vec::capacity).sum()
    }

    /// Adds free buckets at the end until there is this number.
    pub(super) fn resize(&mut self, buckets: usize) {
        for segment in 0..buckets.div_ceil(SEGMENT) {
            let room = room((buckets - segment * SEGMENT).min(SEGMENT), self.width);
            if self.list.len() == segment {
                self.list.push(Vec::new());
            }
            let bytes = &mut self.list[segment];
            if bytes.len() < room {
                bytes.reserve_exact(room - bytes.len());
                // Written here, not promised to be zero by the system: a page that is read first and written later is mapped twice, and
                // the second time every other thread is interrupted for it.
                bytes.resize(room, std::hint::black_box(0));
            }
        }
    }

    /// Moves all buckets to the end: `free` are free before them, as many as were free behind them.
    pub(super) fn move_to_end(&mut self, free: usize) {
        let buckets = self.list.iter().map(|bytes| bytes.len() / (BUCKET * self.width)).sum::<usize>();
        for bucket in (free..buckets).rev() {
            let entries = self.take(bucket - free);
            self.set(bucket, entries);
        }
    }

    /// Looks at a bucket, which may lie on two lines of the cache. Returns some of what is there.
    #[inline]
    pub(super) fn touch(&self, bucket: usize) -> u8 {
        let (bytes, first) = (&self.list[bucket / SEGMENT], bucket % SEGMENT * BUCKET * self.width);
        bytes[first] ^ bytes[first + BUCKET * self.width - 1]
    }

    /// The entries of a bucket, of `WIDTH` bytes each.
    #[inline]
    pub(super) fn bucket<const WIDTH: usize>(&self, bucket: usize) -> impl Iterator<Item = u64> {
        let first = bucket % SEGMENT * BUCKET * WIDTH;
        let bytes = &self.list[bucket / SEGMENT][first..first + (BUCKET - 1) * WIDTH + ENTRY];
        (0..BUCKET).map(move |slot| read(bytes, slot * WIDTH) & mask(WIDTH))
    }

    /// Puts the low bits of a fingerprint into a slot.
    #[inline]
    pub(super) fn put(&mut self, slot: usize, fingerprint: u64) {
        let (mask, at) = (mask(self.width), slot % (SEGMENT * BUCKET) * self.width);
        let bytes = &mut self.list[slot / (SEGMENT * BUCKET)];
        let word = read(bytes, at) & !mask | fingerprint & mask;
        bytes[at..at + ENTRY].copy_from_slice(&word.to_le_bytes());
    }

    /// Empties a bucket.
    #[inline]
    pub(super) fn take(&mut self, bucket: usize) -> [u64; BUCKET] {
        let (mask, width, first) = (mask(self.width), self.width, bucket % SEGMENT * BUCKET * self.width);
        let bytes = &mut self.list[bucket / SEGMENT];
        let entries = std::array::from_fn(|slot| read(bytes, first + slot * width) & mask);
        bytes[first..first + BUCKET * width].fill(0);
        entries
    }

    fn set(&mut self, bucket: usize, entries: [u64; BUCKET]) {
        for (slot, entry) in (bucket * BUCKET..).zip(entries) {
            self.put(slot, entry);
        }
    }

    /// Leaves bytes of entries out that are no longer needed.
    pub(super) fn narrow(&mut self, width: usize) {
        if width == self.width {
            return;
        }
        for bytes in &mut self.list {
            let slots = bytes.len() / self.width;
            for slot in 0..slots {
                bytes.copy_within(slot * self.width..slot * self.width + width, slot * width);
            }
            bytes[slots * width..].fill(0);
            bytes.truncate(slots * width + ENTRY - width);
            bytes.shrink_to_fit();
        }
        self.width = width;
    }
}
