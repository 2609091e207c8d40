//! A recipe for real: the async code that the checker explores and the simulator runs holds a lock at a Consul agent.
//!
//! The recipe is not translated. The same state machine that stands in a world of the checker takes its steps here; only what
//! is around it is real. Its requests go to the agent over HTTP, its clock is that of the machine, its chance that of the
//! operating system, and its user is a closure.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use fencepost_consul::{GoLock, Terms};
//! use fencepost_live::{Agent, hold};
//! use fencepost_model::time::Ticks;
//!
//! // 100 ticks a second: the recipe's durations are in ticks, as in a scenario.
//! let agent = Agent::new("http://127.0.0.1:8500", "service/ours/leader").tick(Duration::from_millis(10));
//! let seconds = |count: i64| Ticks::new(100 * count);
//! let (behavior, checks) = (Default::default(), Default::default());
//! let terms = Terms { ttl: Some(seconds(15)), lock_delay: seconds(15), behavior, checks };
//! let held = hold(&agent, GoLock::with(terms, 100), |tenure| {
//!     while tenure.wait(Duration::from_secs(1)) {
//!         println!("still the leader");
//!     }
//! })?;
//! println!("it left: {}", held.left);
//! # Ok::<(), fencepost_live::LiveError>(())
//! ```
//!
//! ```text
//! agent     where the agent is, under which key, how long a tick is
//! round     what a user calls: the lock is taken, the code runs, the lock is given back
//! tenure    what the user's code has in hand while the client is inside
//! resource  what the recipe itself reads and writes under the lock
//! driver    the program's steps: requests, deadlines, chance, its user
//! http      requests and answers as HTTP           names  session ids and values as the agent has them
//! wire      one request to the agent               calls  numbers of requests, kept small
//! ```
//!
//! What differs from the model:
//!
//! * Time is counted in ticks. What arrives is heard at the next tick, so each input costs up to one: choose a tick that is a small
//!   part of the shortest duration.
//! * A request that surely did nothing, for the agent refused the connection, is answered `500 No cluster leader`. One whose answer
//!   was lost is never answered, as in the model: a recipe without a timeout waits for ever.
//! * A blocking query without a limit is answered after ten minutes and a sixteenth at the latest. C-BLK-2.
//! * An answer that the model has no name for (403, an entry with large flags) ends the round with an error. So do more holders or
//!   contenders of a semaphore than a state of the model has room for: 4 and 6.

mod agent;
mod calls;
mod driver;
mod error;
mod http;
mod names;
mod resource;
mod round;
mod tenure;
mod wire;

pub use agent::{Agent, Evidence};
pub use error::LiveError;
pub use http::{HttpRequest, Reply, answer, question};
pub use names::SessionIds;
pub use resource::Resource;
pub use round::{Held, hold, hold_with};
pub use tenure::Tenure;
pub use wire::send;
