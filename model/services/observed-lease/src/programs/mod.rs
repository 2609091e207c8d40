//! Clients that are programs: the API of the store as their handle has it, and the published electors line by line.
//!
//! ```text
//! api                   the requests, each with its answers and errors
//! caller                the caller of an elector: its work, and the end of its context
//! client_go             client-go's LeaderElector (tools/leaderelection/leaderelection.go)
//! controller            the controller of coordinated elections (pkg/controlplane/controller/leaderelection)
//! controller_runtime    the manager of controller-runtime (pkg/manager/internal.go)
//! dynamo                the DynamoDB lock client (AmazonDynamoDBLockClient.java)
//! dynamo_commit         object_store's commits by way of DynamoDB (src/aws/dynamo.rs)
//! elector               what electors have in common
//! fabric8               fabric8's LeaderElector (LeaderElector.java)
//! kube_leader_election  the crate kube-leader-election (src/lease.rs)
//! kubert                the crate kubert (kubert/src/lease.rs)
//! litestream            litestream's leaser (leaser.go, s3/leaser.go)
//! python                the elector of the Python package kubernetes (leaderelection.py)
//! refusals              what a program cannot ask of the store in its scenario
//! settings              the programs with the settings of a scenario, and settings_of_wall_clocks more of them
//! shedlock              ShedLock (StorageBasedLockProvider.java and its statements)
//! ```

mod api;
mod caller;
mod client_go;
mod controller;
mod controller_runtime;
mod dynamo;
mod dynamo_commit;
mod elector;
mod fabric8;
mod kube_leader_election;
mod kubert;
mod litestream;
mod python;
mod refusals;
mod settings;
mod settings_of_wall_clocks;
mod shedlock;

pub use api::{
    ElectedRecord, LeaseApi, LeaseError, LeaseObject, LeaseRecord, LeaseSaying, LeaseVersion, PutItem, RawRecord,
    RenewedRecord, RowUntil,
};
pub use caller::{Caller, CallerTerms, WorkEnds};
pub use client_go::ClientGo;
pub use controller::{CandidateDeletion, ElectionController};
pub use controller_runtime::ControllerManager;
pub use dynamo::DynamoLockClient;
pub use dynamo_commit::{CommitWait, DynamoCommit};
pub use fabric8::Fabric8Elector;
pub use kube_leader_election::KubeLeaderElection;
pub use kubert::Kubert;
pub use litestream::{LitestreamLeaser, LitestreamRelease};
pub use python::PythonElector;
pub use settings::as_programs;
pub use shedlock::ShedLock;

use super::messages::{Command, ObservedLeaseMessage, Request, Response, Shown, Timer};
use super::{ObservedLease, Settings};
use fencepost_model::fact::{Fact, Refusal};
use fencepost_model::ids::{Call, ClientId};
use fencepost_model::process::Context;
use fencepost_model::program::{Alarm, ProgramClock, Programmable, UserCommand, register};
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

    fn clock(settings: &Settings, client: ClientId) -> ProgramClock {
        let (shows, per) = settings.rates.get(client.place()).map_or((1, 1), |rate| (rate.shows, rate.per));
        ProgramClock { wall_ahead: settings.ahead(client), shows, per }
    }

    fn refuses(context: &Context<'_, ObservedLease>, saying: &LeaseSaying) -> Option<String> {
        refusals::refuses(context, saying)
    }

    fn durations(saying: &mut LeaseSaying, visit: &mut dyn FnMut(&mut Ticks)) {
        match saying {
            LeaseSaying::Ask(Request::Create(entry) | Request::Put(entry, _) | Request::PutItem(entry, _)) => {
                visit(&mut entry.duration);
            }
            LeaseSaying::Ask(Request::Take { until, .. } | Request::Unlock(until)) => visit(&mut until.length),
            LeaseSaying::Ask(Request::Extend(length)) => visit(length),
            LeaseSaying::Ask(
                Request::Get | Request::Delete(_) | Request::Nominate(_) | Request::Candidates | Request::Withdraw(_),
            )
            | LeaseSaying::Refused => {}
        }
    }

    fn answered_durations(answer: &mut Response, visit: &mut dyn FnMut(&mut Ticks)) {
        if let Response::Found(Some(Shown { entry, .. })) | Response::ConditionFailed(Some(Shown { entry, .. })) =
            answer
        {
            visit(&mut entry.duration);
        }
    }
}

/// Makes the programs known by their names, so that scenario files and traces can name them.
pub fn register_programs() {
    register::<ObservedLease, Caller>();
    register::<ObservedLease, CandidateDeletion>();
    register::<ObservedLease, ClientGo>();
    register::<ObservedLease, DynamoCommit>();
    register::<ObservedLease, DynamoLockClient>();
    register::<ObservedLease, ElectionController>();
    register::<ObservedLease, Fabric8Elector>();
    register::<ObservedLease, KubeLeaderElection>();
    register::<ObservedLease, Kubert>();
    register::<ObservedLease, LitestreamLeaser>();
    register::<ObservedLease, PythonElector>();
    register::<ObservedLease, ShedLock>();
    register::<ObservedLease, WorkEnds>();
}
