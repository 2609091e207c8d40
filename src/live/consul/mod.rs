//! Recipes of Consul at an agent, over HTTP.
//!
//! ```text
//! agent         where the agent is, under which key, how long a tick is
//! conversation  the requests of one client
//! http          requests and answers as HTTP           names  session ids and values as the agent has them
//! wire          one request to the agent          lists  answers to reads of several things
//! ```

pub(crate) mod agent;
pub(crate) mod conversation;
pub(crate) mod http;
pub(crate) mod lists;
pub(crate) mod names;
pub(crate) mod wire;
