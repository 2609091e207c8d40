//! The coordination entry of a semaphore, as its clients read it (api/semaphore.go of Consul 1.8.7, and the semaphore guide).

use crate::messages::{Listing, Slots};
use crate::{Entry, Opaque};
use fencepost_model::ids::Index;

/// `findLock` and `decodeLock`: content and index of the coordination entry. An absent one is an empty set with this limit, and
/// index 0; none: the flags differ, so the entry is not a semaphore's (`ErrSemaphoreConflict`).
pub(super) fn decode(pair: Option<Entry>, limit: u8) -> Option<(Slots, Index)> {
    match pair {
        None => Some((Slots { limit, ..Slots::default() }, Index::NONE)),
        Some(Entry { value: Opaque::Slots(slots), modify, .. }) => Some((slots, modify)),
        Some(_) => None,
    }
}

/// `pruneDeadHolders`: a holder is alive if any entry below the prefix has its session. C-SEM-5.
pub(super) fn pruned(slots: Slots, listing: &Listing) -> Slots {
    Slots { holders: slots.holders.filtered(|holder| listing.alive.contains(holder)), ..slots }
}
