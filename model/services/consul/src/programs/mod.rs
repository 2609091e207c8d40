//! Clients that are programs: the HTTP API as their handle has it, and published clients line by line.
//!
//! ```text
//! api           the requests, each with its answers and errors
//! catalog_api   those about nodes and checks
//! election      Consul's guide to leader election, step by step
//! go_lock       the Go client's Lock (api/lock.go)
//! go_semaphore  the Go client's Semaphore (api/semaphore.go)
//! guide         Consul's semaphore guide, step by step
//! lock_command  `consul lock` (command/lock/lock.go)
//! lock_monitor  the goroutine that watches the lock's key        semaphore_monitor   the one that watches the prefix
//! one_shot      how long they try where they try once
//! renew         the goroutine that renews a session (api/session.go)
//! semaphore_release   Release and Destroy of the Semaphore
//! slots         the coordination entry of a semaphore
//! ```

mod api;
mod catalog_api;
mod election;
mod go_lock;
mod go_semaphore;
mod guide;
mod lock_command;
mod lock_monitor;
mod one_shot;
mod renew;
mod semaphore_monitor;
mod semaphore_release;
mod slots;

pub use api::{ApiError, Committed, Content, HttpApi};
pub use catalog_api::CatalogApi;
pub use election::{ElectionGuide, LeaderWatch};
pub use go_lock::GoLock;
pub use go_semaphore::GoSemaphore;
pub use guide::SemaphoreGuide;
use lock_command::Orphan;
pub use lock_command::{LockCommand, LockUnit};
pub use lock_monitor::Monitor;
pub use renew::Renew;
pub use semaphore_monitor::SemaphoreMonitor;

use super::{Answer, Command, Consul, ConsulMessage, Request, Timer};
use fencepost_model::ids::Call;
use fencepost_model::program::{Alarm, Programmable, UserCommand, register};
use fencepost_model::time::Ticks;

impl Programmable for Consul {
    type Request = Request;
    type Answer = Answer;

    fn ask(call: Call, request: Request) -> ConsulMessage {
        ConsulMessage::Request(call, request)
    }

    fn answer(message: &ConsulMessage) -> Option<(Option<Call>, Answer)> {
        match message {
            ConsulMessage::Response(call, answer) => Some((Some(*call), *answer)),
            // What third parties say is no answer of the servers.
            ConsulMessage::Request(..) | ConsulMessage::Order(..) | ConsulMessage::OrderDone(..) => None,
        }
    }

    fn timer(alarm: Alarm) -> Timer {
        Timer::Program(alarm)
    }

    fn alarm(timer: &Timer) -> Option<Alarm> {
        match timer {
            Timer::Program(alarm) => Some(*alarm),
            _ => None,
        }
    }

    fn command(command: UserCommand) -> Command {
        match command {
            UserCommand::Acquire => Command::Acquire,
            UserCommand::Write => Command::Write,
            UserCommand::Release => Command::Release,
        }
    }

    fn user_command(command: &Command) -> Option<UserCommand> {
        match command {
            Command::Acquire | Command::Work => Some(UserCommand::Acquire),
            Command::Write => Some(UserCommand::Write),
            Command::Release => Some(UserCommand::Release),
            Command::Look | Command::Finish => None,
        }
    }

    fn durations(request: &mut Request, visit: &mut dyn FnMut(&mut Ticks)) {
        match request {
            Request::CreateSession(terms) => {
                terms.ttl.iter_mut().for_each(&mut *visit);
                visit(&mut terms.lock_delay);
            }
            Request::Watch(watch) | Request::WatchConsistent(watch) => watch.wait.iter_mut().for_each(visit),
            _ => {}
        }
    }
}

/// Makes the programs known by their names, so that scenario files and traces can name them.
pub fn register_programs() {
    register::<Consul, ElectionGuide>();
    register::<Consul, GoLock>();
    register::<Consul, GoSemaphore>();
    register::<Consul, LeaderWatch>();
    register::<Consul, LockCommand>();
    register::<Consul, Monitor>();
    register::<Consul, Orphan>();
    register::<Consul, Renew>();
    register::<Consul, SemaphoreGuide>();
    register::<Consul, SemaphoreMonitor>();
}
