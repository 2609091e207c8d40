//! The hashes of parts, and the fingerprint of a world that is made of them.

use std::hash::{Hash, Hasher};

use fencepost_model::hash::{Fingerprinter, Packer};

/// The hash of a part.
#[inline]
pub(super) fn hash_of(part: impl Hash) -> u64 {
    let mut to = Packer::default();
    part.hash(&mut to);
    to.finish()
}

/// The fingerprint of a world: of its parts in order, behind what else there is.
#[inline]
pub(super) fn fingerprint(rest: u64, parts: impl Iterator<Item = u64>) -> u64 {
    let mut all = Fingerprinter::default();
    all.write_u64(rest);
    parts.for_each(|hash| all.write_u64(hash));
    all.finish()
}
