//! Clients that are programs: the HTTP API as their handle has it, and published clients line by line.
//!
//! ```text
//! api           the requests, each with its answers and errors
//! go_lock       the Go client's Lock (api/lock.go)
//! go_semaphore  the Go client's Semaphore (api/semaphore.go)
//! ```

mod api;
mod go_lock;
mod go_semaphore;

pub use api::{ApiError, HttpApi};
pub use go_lock::{GoLock, Monitor, Renew};
pub use go_semaphore::{GoSemaphore, SemaphoreMonitor};

use super::{Answer, Command, Consul, ConsulMessage, Request, Timer};
use fencepost_model::ids::Call;
use fencepost_model::program::{Alarm, Programmable, UserCommand};
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
            Command::Acquire => Some(UserCommand::Acquire),
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
            Request::Watch(watch) => watch.wait.iter_mut().for_each(visit),
            _ => {}
        }
    }
}
