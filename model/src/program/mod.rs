//! Programs: recipes as ordinary async code against the handle of a service, as users write them.
//!
//! A program runs in laps. **The state of a client is, for each of its tasks, the value at the head of its lap and what it has
//! been told since**, and the operations that are open. A lap that runs is a cache of that: it can be dropped anywhere, and is
//! run again on what it was told. The executor is single-threaded, has no clock, and polls in program order.
//!
//! ```text
//! recipe       what a user writes              handle    what it can do
//! api          what a service says of itself   start     which client runs which program
//! participant  a client of either form
//! state        what a client is                script    what a task was told, and a comparison of runs
//! execute      one step                        begin     what operations wait for
//! run          laps that run, and the cache of them
//! clock        its own clock, and its wall clock
//! desk         between a run and the executor  intern    states of no fixed size under names of one
//! shared       cells and mailboxes of a client's tasks
//! in_place     states that a simulation changes    lap_script   where a task is in its lap
//! kind         recipes by their names          names     what has no absolute meaning
//! cut          where laps are not followed further    guard     what it has while it is inside
//! ```

mod api;
mod begin;
mod by_type;
mod clock;
mod cut;
mod desk;
mod error;
mod execute;
mod guard;
mod handle;
mod in_place;
mod intern;
mod kind;
mod lap_script;
mod names;
mod participant;
mod process;
mod recipe;
mod run;
mod script;
mod shared;
mod start;
mod state;

pub use api::{Alarm, Programmable, UserCommand};
pub use clock::{ProgramClock, WallTime};
pub use cut::cut_place;
pub use desk::Compared;
pub use error::{ProgramError, ProgramErrorKind};
pub use guard::TenureGuard;
pub use handle::{Handle, OpenDeadline, Operation};
pub use in_place::in_place;
pub use intern::scoped;
pub use kind::register;
pub use participant::Runs;
pub use recipe::{First, Gone, Lap, Recipe, TimedOut, Wanted};
pub use run::forget_all;
pub use shared::{Shared, register_shared};
pub use state::Program;

use start::Start;

/// A lap that is told more than this is not followed further: the search says that it is bounded.
pub const TOLD_MAX: u16 = 64;
