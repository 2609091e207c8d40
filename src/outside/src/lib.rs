//! What a crate outside fencepost's workspace can add: a service, a scheduler, a recipe, and tests that prove or fail.
//!
//! ```text
//! row_lock   a lock in a row of a table: settings, messages, the row, its clients
//! our_lock   a lock on Consul, as plain async code
//! turns      a scheduler in which each enabled action gets its turn
//! ```

mod our_lock;
mod row_lock;
mod turns;

pub use our_lock::OurLock;
pub use row_lock::{Command, Contender, Row, RowLock, Settings, Sql};
pub use turns::Turns;
