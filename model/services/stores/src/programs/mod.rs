//! Clients that are programs: what their handle can ask of the store, and the published recipes as plain async code.
//!
//! ```text
//! api      the operations of the store, each with its answer
//! patient  a request that is repeated if no answer comes
//! pool     a list of tokens (B-33)
//! ranked   tickets, and the rank of one's own (B-34)
//! records  a record for each holder, with an expiry (B-35)
//! queue    sequence nodes (B-47)
//! ```

mod api;
mod patient;
mod pool;
mod queue;
mod ranked;
mod records;

pub use api::Storing;
pub use patient::Patience;
pub use pool::TokenPool;
pub use queue::SequenceQueue;
pub use ranked::RankedSemaphore;
pub use records::HolderRecords;

use crate::Stores;
use fencepost_model::program::register;

/// Makes the programs known by their names, so that scenario files and traces can name them.
pub fn register_programs() {
    register::<Stores, HolderRecords>();
    register::<Stores, RankedSemaphore>();
    register::<Stores, SequenceQueue>();
    register::<Stores, TokenPool>();
}
