//! Counterexamples for real: an execution that the checker has found happens at a real server, or does not.
//!
//! The server is real; its clients are driven. A request is sent when the server receives it in the execution, an answer is kept
//! back until its client receives it, and a message that is lost, a client that pauses or crashes is one to which nothing is given.
//! What each answer must be is known from the model. As clients are deterministic, the same answers in the same order make the same
//! execution, with the same violation.
//!
//! ```text
//! plan      when each step happens: real times that keep the order, and every deadline with room to spare
//! consul    a Consul agent is asked, its answers are compared with those of the model
//! outcome   what came of it
//! recorded  which violations were seen, kept as a file
//! ```

mod consul;
mod outcome;
mod plan;
mod recorded;

pub use consul::{Agent, AgentError, reenact};
pub use outcome::{Obstacle, Reenactment, ReenactmentOutcome};
pub use plan::{
    Edge, Margin, Pace, PlanError, ReenactmentPlan, Schedule, Unsolvable, is_restarted, narrower, plan, solve,
};
pub use recorded::{RECORDED, SeenViolation, read, write};
