//! Recipes of Consul at an agent, over HTTP.

pub(crate) mod agent;
pub(crate) mod conversation;
pub(crate) mod http;
pub(crate) mod names;
pub(crate) mod wire;
