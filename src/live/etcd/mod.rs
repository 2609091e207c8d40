//! Recipes of etcd at a server, over its JSON gateway.
//!
//! ```text
//! server        where it is, the name of the lock, how long a tick is
//! conversation  the requests of one client
//! gateway       requests and answers as JSON       names  leases and keys as the server has them
//! watch         one watch, until its key is deleted, or until the next event
//! ```

mod conversation;
mod gateway;
mod names;
mod server;
mod watch;

pub use conversation::{EtcdHeard, GatewayConversation};
pub use server::LiveEtcd;
