//! Clients that are programs: AMQP as their handle has it, and the published clients line by line.
//!
//! ```text
//! api            connections and channels, each method with its answers and errors
//! session        one connection at a time, and how long a client waits for an answer
//! taker          the persistent semaphore: acquiring a slot
//! tenure         the same: holding and relinquishing it
//! verify         the same: verifying it
//! terms          the same: what the text leaves open
//! administrator  the same: changing the number of slots
//! message        one message as a mutex
//! words          what programs and the broker say to each other
//! ```

mod administrator;
mod api;
mod message;
mod session;
mod taker;
mod tenure;
mod terms;
mod verify;
mod words;

pub use administrator::SlotAdministrator;
pub use api::{AmqpApi, AmqpChannel, AmqpConnection, AmqpError, Confirmation, Delivery};
pub use message::MessageMutex;
pub use taker::SlotTaker;
pub use terms::TakerTerms;
pub use words::{Doing, Report, Saying};

use super::RabbitMq;
use super::messages::{Ask, Command, RabbitmqEvent, RabbitmqMessage, Request, Timer};
use fencepost_model::fact::{Fact, Refusal};
use fencepost_model::ids::{Call, ClientId};
use fencepost_model::program::{Alarm, Programmable, UserCommand, register};
use fencepost_model::time::Ticks;

impl Programmable for RabbitMq {
    type Request = Doing;
    type Answer = Saying;

    fn ask(call: Call, doing: Doing) -> RabbitmqMessage {
        match doing {
            Doing::Send { connection, channel, close_ok, request } => {
                RabbitmqMessage::Request(Ask { connection, channel, close_ok, call, request })
            }
            Doing::HangUp(connection) => RabbitmqMessage::SocketClosed(connection),
            Doing::Report(_) => unreachable!("a report is a fact"),
        }
    }

    fn answer(message: &RabbitmqMessage) -> Option<(Option<Call>, Saying)> {
        match *message {
            RabbitmqMessage::Response(call, answer) => Some((Some(call), Saying::Answer(answer))),
            RabbitmqMessage::ConnectionClosed(id, why) => Some((None, Saying::ConnectionClosed(id, why))),
            RabbitmqMessage::Request(_) | RabbitmqMessage::SocketClosed(_) => None,
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

    /// A round of an administrator is an operation.
    fn user_command(command: &Command) -> Option<UserCommand> {
        match command {
            Command::Acquire | Command::Administer => Some(UserCommand::Acquire),
            Command::Write => Some(UserCommand::Write),
            Command::Release => Some(UserCommand::Release),
            Command::Verify => None,
        }
    }

    fn verification() -> Option<Command> {
        Some(Command::Verify)
    }

    fn fact(client: ClientId, doing: &Doing) -> Option<Fact<RabbitMq>> {
        let Doing::Report(report) = *doing else { return None };
        Some(Fact::Service(match report {
            Report::Empty => return Some(Fact::Refused { client, why: Refusal::Held }),
            Report::Full => RabbitmqEvent::Full(client),
            Report::GaveUp => RabbitmqEvent::GaveUp(client),
            Report::Verified(is_held) => RabbitmqEvent::Verified(client, is_held),
            Report::Busy => RabbitmqEvent::Busy(client),
            Report::Counted(count) => RabbitmqEvent::Counted(client, count),
            Report::Began(limit) => RabbitmqEvent::Began(client, limit),
            Report::Finished(size) => RabbitmqEvent::Finished(client, size),
            Report::Pending(size) => RabbitmqEvent::Pending(client, size),
            Report::Aborted => RabbitmqEvent::Aborted(client),
        }))
    }

    fn durations(doing: &mut Doing, visit: &mut dyn FnMut(&mut Ticks)) {
        if let Doing::Send {
            request: Request::Declare { shape, .. } | Request::DeclareSilently { shape, .. }, ..
        } = doing
        {
            shape.expires.iter_mut().for_each(visit);
        }
    }
}

/// Makes the programs known by their names, so that scenario files and traces can name them.
pub fn register_programs() {
    register::<RabbitMq, MessageMutex>();
    register::<RabbitMq, SlotAdministrator>();
    register::<RabbitMq, SlotTaker>();
}
