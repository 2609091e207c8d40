//! Small stores that semaphores are built on: a pool of tokens, ranks, records of holders, a queue of nodes.

pub use fencepost_stores::*;
pub use fencepost_stores_explore::SERVICE;

use crate::Check;

/// A check of a pool of this number of tokens: a client that has taken one is inside.
///
/// ```
/// use fencepost::{Property, stores};
///
/// stores::token_pool("our-workers", 1).promise(Property::SlotConservation).verify();
/// ```
pub fn token_pool(name: &str, limit: u8) -> Check<Stores> {
    of(name, "token-pool", limit)
}

/// A check of a semaphore in which the first `limit` clients by rank are inside.
pub fn ranked_semaphore(name: &str, limit: u8) -> Check<Stores> {
    of(name, "ranked-semaphore", limit)
}

/// A check of a semaphore in which each holder has a record that may expire.
pub fn holder_records(name: &str, limit: u8) -> Check<Stores> {
    of(name, "holder-records", limit)
}

/// A check of a queue of sequential nodes; the first `limit` clients are inside.
pub fn sequence_queue(name: &str, limit: u8) -> Check<Stores> {
    of(name, "sequence-queue", limit)
}

fn of(name: &str, system: &str, limit: u8) -> Check<Stores> {
    Check::of(&SERVICE, name).system(system).settings(|stores: &mut Settings| stores.limit = limit)
}
