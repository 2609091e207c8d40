//! What a crate outside fencepost's workspace can add: a service, a scheduler, and tests that prove or fail.
//!
//! ```text
//! row_lock   a lock in a row of a table: settings, messages, the row, its clients
//! turns      a scheduler in which each enabled action gets its turn
//! ```

mod row_lock;
mod turns;

pub use row_lock::{Command, Contender, Row, RowLock, Settings, Sql};
pub use turns::Turns;
