//! A recipe for real: the async code that the checker explores and the simulator runs holds a lock at a Consul agent or at an etcd server, or
//! a slot of a semaphore at a RabbitMQ broker.
//!
//! The recipe is not translated. The same state machine that stands in a world of the checker takes its steps here; only what
//! is around it is real. Its requests go to the agent over HTTP, to the broker over AMQP, to etcd over its JSON gateway; its clock is that of the
//! machine, its chance that of the operating system, and its user is a closure.
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
//! server    what a round has to know of a real server
//! consul    an agent, over HTTP                    rabbitmq  a broker, over AMQP
//! etcd      a server, over its JSON gateway
//! round     what a user calls: the lock is taken, the code runs, the lock is given back
//! tenure    what the user's code has in hand while the client is inside
//! resource  what the recipe itself reads and writes under the lock
//! driver    the program's steps: requests, deadlines, chance, its user
//! calls     numbers of requests, kept small
//! ```
//!
//! What differs from the model:
//!
//! * Time is counted in ticks. What arrives is heard at the next tick, so each input costs up to one: choose a tick that is a small
//!   part of the shortest duration.
//! * A request that surely did nothing, for the agent refused the connection, is answered `500 No cluster leader`. One whose answer
//!   was lost is never answered, as in the model: a recipe without a timeout waits for ever.
//! * A blocking query without a limit is answered after ten minutes and a sixteenth at the latest. C-BLK-2.
//! * A watch at etcd that has lasted ten minutes is made anew, as one whose connection breaks. E-W-7. A request that etcd gives up with
//!   `request timed out` or `leader changed` is never answered if it changes something. E-GEN-8.
//! * A connection to a broker that cannot be opened is one that is closed: the recipe hears it with its first request.
//! * After the round each connection to a broker is closed with `connection.close`. After an error, and when the process ends, only
//!   the sockets are: the broker removes what the connections own (R-Q-39).
//! * An answer that the model has no name for (403) ends the round with an error. So do more holders or
//!   contenders of a semaphore than a state of the model has room for: 4 and 6.

mod calls;
mod consul;
mod driver;
mod error;
mod etcd;
mod rabbitmq;
mod resource;
mod round;
mod server;
mod tenure;

pub use consul::agent::{Agent, Evidence};
pub use consul::conversation::HttpConversation;
pub use consul::http::{HttpRequest, Reply, answer, question};
pub use consul::names::SessionIds;
pub use consul::wire::send;
pub use error::LiveError;
pub use etcd::{EtcdHeard, GatewayConversation, LiveEtcd};
pub use rabbitmq::{AmqpConversation, Arrival, LiveBroker};
pub use resource::Resource;
pub use round::{Held, hold, hold_with, perform};
pub use server::{Conversation, LiveServer, Post};
pub use tenure::Tenure;
