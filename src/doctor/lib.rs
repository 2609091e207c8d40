//! Are these settings safe, and what should change? Settings of a lock or of an election in seconds go in; for each promise comes out
//! whether it is kept, how much room there is, and what repairs it.
//!
//! ```text
//! lock      settings of a lock in Consul, or of its semaphore
//! election  settings of a leader election by an observed lease, as in Kubernetes
//! etcd      settings of a session of etcd, with the mutex or the election on it
//! exact     any scenario as it stands, with one setting changed at a time
//! configuration  what was read from a configuration, and how each field was understood
//! scenario_text  the text of a scenario file
//! shell     a command line in words
//! asked     what the doctor has to know of either
//! promise   what is judged
//! quantity  the numbers of a question
//! rounding  durations in ticks
//! pace      when the steps of an execution happen in exact durations
//! retime    a counterexample in exact durations, accepted step by step
//! judge     the verdict: a proof, an execution, or neither
//! slack     where the verdict changes, by bisection
//! repair    changes that make a promise hold
//! pairs     those of two settings
//! answer    all of it
//! ```
//!
//! Formulas choose ticks here and nothing else: each verdict is a proof of the checker or an execution that the model accepts.

mod answer;
mod asked;
pub mod configuration;
pub mod election;
pub mod etcd;
pub mod exact;
mod judge;
pub mod lock;
mod pace;
mod pairs;
mod promise;
mod quantity;
mod repair;
mod retime;
mod rounding;
mod scenario_text;
mod shell;
mod slack;

pub use answer::Answer;
pub use asked::{Asked, InTicks, QuestionError, SmallScenario};
pub use election::ElectionQuestion;
pub use etcd::{SessionQuestion, SessionStop};
pub use judge::{Doctor, Execution, Proof, Verdict};
pub use lock::{LockBelief, LockQuestion, LockScenario};
pub use pace::Pace;
pub use promise::Promise;
pub use quantity::{Direction, Quantity, QuantityValue};
pub use repair::{Change, Price, Repair};
pub use rounding::FINEST;
pub use shell::ShellWord;
pub use slack::Boundary;
