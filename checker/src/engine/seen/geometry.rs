//! Where fingerprints belong: buckets that divide all there can be evenly and in order.

use fencepost_model::mutation::{CheckerMutation, Mutation};

use super::scaled;

/// The number of slots of a bucket.
pub(super) const BUCKET: usize = 8;

/// The number of buckets in which a fingerprint may be.
pub(super) const WINDOW: usize = 8;

/// The number of buckets at first.
const FEW: usize = 2 * WINDOW;

/// Tables with fewer buckets double them, others add an eighth.
const MANY: usize = 512;

/// The bits behind the point of the length of a bucket's interval.
const FRACTION: u32 = 32;

/// More than rounding adds to an interval.
const ROUNDING: u128 = 16;

/// Where fingerprints belong.
#[derive(Copy, Clone)]
pub(super) struct Geometry {
    /// The number of homes; behind them is the rest of the last windows.
    pub(super) buckets: usize,
    /// Of how many fingerprints a bucket is the home, in units of 2^-FRACTION, rounded down.
    length: u128,
}

impl Geometry {
    /// That of an empty table.
    pub(super) fn first() -> Self {
        Geometry::with(FEW)
    }

    fn with(buckets: usize) -> Self {
        Geometry { buckets, length: (1 << (u64::BITS + FRACTION)) / buckets as u128 }
    }

    /// The next larger one.
    pub(super) fn larger(self) -> Self {
        let more = if self.buckets < MANY { self.buckets } else { self.buckets / 8 };
        Geometry::with(self.buckets + more)
    }

    /// The number of bytes of an entry: as many as count the fingerprints that may be in a bucket.
    pub(super) fn width(&self, mutation: Option<Mutation>) -> usize {
        if mutation == Some(CheckerMutation::EntryTruncated.into()) {
            return 1;
        }
        let interval = ((self.length >> FRACTION) + 1) * WINDOW as u128 + ROUNDING;
        (u128::BITS - interval.leading_zeros()).div_ceil(8) as usize
    }

    /// The home of a fingerprint.
    #[inline]
    pub(super) fn home(&self, fingerprint: u64) -> usize {
        scaled(fingerprint, self.buckets)
    }

    /// The number of slots.
    pub(super) fn slots(&self) -> usize {
        (self.buckets + WINDOW - 1) * BUCKET
    }

    /// A fingerprint that is not above any that may be in the bucket, and not far below the first.
    #[inline]
    pub(super) fn least(&self, bucket: usize) -> u64 {
        let first = bucket.saturating_sub(WINDOW - 1) as u128;
        u64::try_from((first * self.length) >> FRACTION).expect("it is the first of a bucket")
    }

    /// The least home that a fingerprint of the bucket may have in a larger table.
    pub(super) fn least_home(&self, bucket: usize, larger: &Geometry) -> usize {
        bucket.saturating_sub(WINDOW - 1) * larger.buckets / self.buckets
    }

    /// The number of buckets, from the first on, of which all fingerprints have windows in a larger table that end before the bucket ends, if all
    /// buckets stand at the end of the larger table.
    pub(super) fn buckets_behind(&self, larger: &Geometry) -> usize {
        let more = larger.buckets - self.buckets;
        let last = |bucket: usize| (bucket + 1) * larger.buckets / self.buckets + WINDOW - 1;
        let is_behind = |bucket: &usize| last(*bucket) <= bucket + more;
        // The way that is left becomes shorter from bucket to bucket.
        (0..self.buckets).rev().find(is_behind).map_or(0, |bucket| bucket + 1)
    }
}
