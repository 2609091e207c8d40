//! Configurations as they are in the field: the command line of `etcdctl lock` and `etcdctl elect`, and scenario files in units. Each becomes a question,
//! and says of each of its fields how it was understood.

mod etcdctl;
mod scenario;

use crate::etcd::question::SessionQuestion;

pub use etcdctl::of_etcdctl;
pub use scenario::of_session_scenario;

/// A configuration of a session.
pub type SessionConfiguration = crate::configuration::Understood<SessionQuestion>;
