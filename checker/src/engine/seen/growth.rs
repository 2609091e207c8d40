//! More buckets, in place: a table that grows needs little memory beside its own.
//!
//! All entries are moved to the end of the larger table. From there each goes to its new place, in order, so that where windows overlap the
//! earlier ones have the first choice. The way from the end to the new place becomes shorter from entry to entry. The last ones
//! would meet others that have yet to go; so these are taken out first, and put back at the end.

use super::geometry::{BUCKET, Geometry, WINDOW};
use super::segments::mask;
use super::{Seen, Slot};

/// The number of new buckets of which it is known how many slots are taken: more than those in which the fingerprints of an old bucket
/// may be, also where the number of buckets doubles.
const KNOWN: usize = 64;

/// How many slots of the new buckets are taken, near those that are being filled.
struct Fill {
    taken: [u8; KNOWN],
    /// The first bucket of which nothing is known yet.
    end: usize,
}

impl Fill {
    /// Forgets the buckets before this one, in favour of empty ones.
    fn begin(&mut self, bucket: usize) {
        while self.end < bucket + KNOWN {
            self.taken[self.end % KNOWN] = 0;
            self.end += 1;
        }
    }

    /// The first free slot of the window of which this is the first bucket.
    fn free(&mut self, home: usize) -> Option<usize> {
        let bucket = (home..home + WINDOW).find(|bucket| usize::from(self.taken[bucket % KNOWN]) < BUCKET)?;
        let taken = &mut self.taken[bucket % KNOWN];
        *taken += 1;
        Some(bucket * BUCKET + usize::from(*taken) - 1)
    }
}

impl<V: Copy + Default> Seen<V> {
    /// Makes room for more.
    #[cold]
    pub(super) fn grow(&mut self) {
        let (before, place) = (self.place, self.place.larger());
        let width = place.width(self.mutation);
        let free = self.make_room(&place);
        let mut apart = std::mem::take(&mut self.rest);
        let buckets = before.slots() / BUCKET;
        let moved = before.buckets_behind(&place);
        for bucket in moved..buckets {
            self.take(&before, (bucket, free + bucket), |_, fingerprint, value| {
                apart.insert(fingerprint, value);
            });
        }
        self.place = place;
        // Entries become shorter at the end, and low bits that are zeros then do not mark a taken slot.
        let is_marked = |fingerprint: u64| fingerprint & mask(width) != 0;
        let mut fill = Fill { taken: [0; KNOWN], end: 0 };
        for bucket in 0..moved {
            fill.begin(before.least_home(bucket, &place));
            self.take(&before, (bucket, free + bucket), |seen, fingerprint, value| {
                match Some(fingerprint).filter(|it| is_marked(*it)).and_then(|it| fill.free(place.home(it))) {
                    Some(slot) => seen.put(slot, fingerprint, value),
                    None => drop(seen.rest.insert(fingerprint, value)),
                }
            });
        }
        for (fingerprint, value) in apart {
            match self.find(fingerprint) {
                Slot::Free(slot) if is_marked(fingerprint) => self.put(slot, fingerprint, value),
                _ => drop(self.rest.insert(fingerprint, value)),
            }
        }
        self.entries.narrow(width);
    }

    /// Makes the table larger, and moves what is in it to the end. Returns the number of buckets that are free before it.
    fn make_room(&mut self, place: &Geometry) -> usize {
        let free = place.slots() - self.values.len();
        self.entries.resize(place.slots() / BUCKET);
        self.entries.move_to_end(free / BUCKET);
        self.values.reserve_exact(free);
        let before = self.values.len();
        self.values.resize(place.slots(), V::default());
        self.values.copy_within(..before, free);
        free / BUCKET
    }

    /// Empties a bucket of the smaller table, which is at another place now.
    #[inline]
    fn take(&mut self, before: &Geometry, (bucket, now): (usize, usize), mut keep: impl FnMut(&mut Self, u64, V)) {
        let (low, mask) = (before.least(bucket), mask(self.entries.width()));
        let entries = self.entries.take(now);
        let values: [V; BUCKET] = std::array::from_fn(|slot| self.values[now * BUCKET + slot]);
        for (entry, value) in entries.into_iter().zip(values).take_while(|(entry, _)| *entry != 0) {
            self.taken -= 1;
            keep(self, low + (entry.wrapping_sub(low) & mask), value);
        }
    }
}
