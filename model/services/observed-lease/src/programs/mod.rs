//! Clients that are programs: the API of the store as their handle has it, and the published electors line by line.
//!
//! ```text
//! api        the requests, each with its answers and errors
//! caller     the caller of an elector: its work, and the end of its context
//! client_go  client-go's LeaderElector (tools/leaderelection/leaderelection.go)
//! dynamo     the DynamoDB lock client (AmazonDynamoDBLockClient.java)
//! elector    what electors have in common
//! python     the elector of the Python package kubernetes (leaderelection.py)
//! settings   the programs with the settings of a scenario
//! ```

mod api;
mod caller;
mod client_go;
mod dynamo;
mod elector;
mod python;
mod settings;

pub use api::{LeaseApi, LeaseError, LeaseObject, LeaseRecord, LeaseSaying, LeaseVersion, RawRecord};
pub use caller::{Caller, CallerTerms, WorkEnds};
pub use client_go::ClientGo;
pub use dynamo::DynamoLockClient;
pub use python::PythonElector;
pub use settings::as_programs;

use super::ObservedLease;
use super::messages::{Command, ObservedLeaseMessage, Request, Response, Shown, Timer};
use fencepost_model::fact::{Fact, Refusal};
use fencepost_model::ids::{Call, ClientId};
use fencepost_model::program::{Alarm, Programmable, UserCommand};
use fencepost_model::time::Ticks;

impl Programmable for ObservedLease {
    type Request = LeaseSaying;
    type Answer = Response;
    const ASKS_AGAIN: bool = true;

    fn ask(call: Call, saying: LeaseSaying) -> ObservedLeaseMessage {
        match saying {
            LeaseSaying::Ask(request) => ObservedLeaseMessage::Request(call, request),
            LeaseSaying::Refused => unreachable!("a report is a fact"),
        }
    }

    fn answer(message: &ObservedLeaseMessage) -> Option<(Option<Call>, Response)> {
        match message {
            ObservedLeaseMessage::Response(call, response) => Some((Some(*call), *response)),
            ObservedLeaseMessage::Request(..) | ObservedLeaseMessage::Sleep(_) => None,
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
            UserCommand::Acquire => Command::Run,
            UserCommand::Write => Command::Write,
            UserCommand::Release => Command::Cancel,
        }
    }

    fn user_command(command: &Command) -> Option<UserCommand> {
        Some(match command {
            Command::Run => UserCommand::Acquire,
            Command::Write => UserCommand::Write,
            Command::Cancel => UserCommand::Release,
        })
    }

    fn fact(client: ClientId, saying: &LeaseSaying) -> Option<Fact<ObservedLease>> {
        (*saying == LeaseSaying::Refused).then_some(Fact::Refused { client, why: Refusal::Held })
    }

    fn durations(saying: &mut LeaseSaying, visit: &mut dyn FnMut(&mut Ticks)) {
        if let LeaseSaying::Ask(Request::Create(entry) | Request::Put(entry, _)) = saying {
            visit(&mut entry.duration);
        }
    }

    fn answered_durations(answer: &mut Response, visit: &mut dyn FnMut(&mut Ticks)) {
        if let Response::Found(Some(Shown { entry, .. })) = answer {
            visit(&mut entry.duration);
        }
    }
}
