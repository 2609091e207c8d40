//! Counterexamples for real: an execution that the checker has found happens at a real server, or does not.
//!
//! The server is real; its clients are driven. A request is sent when the server receives it in the execution, an answer is kept
//! back until its client receives it, and a message that is lost, a client that pauses or crashes is one to which nothing is given.
//! What each answer must be is known from the model. As clients are deterministic, the same answers in the same order make the same
//! execution, with the same violation.
//!
//! ```text
//! driven    what has to be known of a service
//! plan      when each step happens: real times that keep the order, and every deadline with room to spare
//! drive     each step at its time
//! run       an execution at a server: planned, driven, and begun again where this machine was late
//! consul    a Consul agent is asked, its answers are compared with those of the model
//! rabbitmq  the same for a RabbitMQ broker
//! etcd      the same for an etcd server
//! outcome   what came of it
//! recorded  which violations were seen, kept as a file
//! ```

mod consul;
mod drive;
mod driven;
mod error;
mod etcd;
mod outcome;
mod plan;
mod rabbitmq;
mod recorded;
mod run;

pub use consul::Agent;
pub use drive::Ended;
pub use driven::{Driven, Means};
pub use error::ServerError;
pub use etcd::{DrivenEtcd, EtcdCommands};
pub use outcome::{Obstacle, Reenactment, ReenactmentOutcome};
pub use plan::{
    Edge, Margin, Pace, PlanError, ReenactmentPlan, Schedule, TickRange, Unsolvable, is_alone, narrower, plan, solve,
};
pub use rabbitmq::RabbitmqBroker;
pub use recorded::{RECORDED, SeenViolation, read, write};
pub use run::{RealServer, reenact};
