//! A Consul agent is driven through an execution.
//!
//! ```text
//! driven     what a plan has to know of Consul
//! causes     what an action means for the server
//! delays     which lock-delays are on
//! obstacles  what cannot be caused from outside
//! agent      where it is, and how it is configured
//! stage      keys, sessions and nodes of one execution
//! drive      each step at its time
//! calls      requests under way, each on a connection of its own
//! operators  what operators and the catalogue do, as HTTP
//! positions  log positions and answers of the model, and those of the agent
//! ```

mod agent;
mod calls;
mod causes;
mod delays;
mod drive;
mod driven;
mod obstacles;
mod operators;
mod positions;
mod stage;

pub use agent::Agent;
