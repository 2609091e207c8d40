//! Clients that are programs: the client API as their handle has it, and the Go client's recipes line by line (3.4.23).
//!
//! ```text
//! api               the requests, each with its answers and errors
//! election          Election (clientv3/concurrency/election.go)
//! election_service  a caller of the server's election (etcdserver/api/v3election/election.go)
//! go_election       a client of Election, and go_mutex one of Mutex
//! holder            what the user of a recipe does while it is inside, and how it leaves
//! keep_alive        the lessor's renewals and deadlines (clientv3/lease.go)
//! key               the wait for the keys before the own one (clientv3/concurrency/key.go)
//! lock_service      a caller of the server's lock (etcdserver/api/v3lock/lock.go)
//! mutex             Mutex (clientv3/concurrency/mutex.go)
//! observe           Observe and Leader (clientv3/concurrency/election.go)
//! observer          a client that wants to know who leads
//! session           Session (clientv3/concurrency/session.go)
//! settings          the programs with the settings of a scenario
//! watch_api         what a program asks that observes keys
//! ```

mod api;
mod election;
mod election_service;
mod go_election;
mod go_mutex;
mod holder;
mod keep_alive;
mod key;
mod lock_service;
mod mutex;
mod observe;
mod observer;
mod session;
mod settings;
mod watch_api;

pub use api::{EtcdApi, EtcdError, EtcdQuery, LeasePut};
pub use election::EtcdElection;
pub use election_service::ElectionService;
pub use go_election::GoElection;
pub use go_mutex::GoMutex;
pub use holder::HolderTerms;
pub use keep_alive::KeepAliveLoop;
pub use key::KeyWait;
pub use lock_service::LockService;
pub use mutex::EtcdMutex;
pub use observe::{EtcdObserve, leader};
pub use observer::{EtcdObserver, ObserverKind};
pub use session::{EtcdSession, SessionTerms};
pub use settings::as_programs;
pub use watch_api::WatchApi;

use super::messages::{Command, EtcdMessage, Key, Request, Response, Timer};
use super::{Etcd, EtcdEvent};
use fencepost_model::fact::Fact;
use fencepost_model::ids::{Call, ClientId};
use fencepost_model::process::Context;
use fencepost_model::program::{Alarm, Programmable, UserCommand, register};
use fencepost_model::time::Ticks;

impl Programmable for Etcd {
    type Request = EtcdQuery;
    type Answer = Response;

    fn ask(call: Call, query: EtcdQuery) -> EtcdMessage {
        match query {
            EtcdQuery::Ask(request) => EtcdMessage::Request(call, request),
            EtcdQuery::SessionEnded
            | EtcdQuery::Compacted
            | EtcdQuery::HasRead(_)
            | EtcdQuery::Observed(_)
            | EtcdQuery::ObserveEnded => unreachable!("a report is a fact"),
        }
    }

    fn answer(message: &EtcdMessage) -> Option<(Option<Call>, Response)> {
        match message {
            EtcdMessage::Response(call, response) => Some((Some(*call), *response)),
            EtcdMessage::Request(..) => None,
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
            // A third party is told to look.
            Command::Acquire | Command::Look => Some(UserCommand::Acquire),
            Command::Write => Some(UserCommand::Write),
            Command::Release => Some(UserCommand::Release),
        }
    }

    fn fact(client: ClientId, query: &EtcdQuery) -> Option<Fact<Etcd>> {
        Some(Fact::Service(match *query {
            EtcdQuery::Ask(_) => return None,
            EtcdQuery::SessionEnded => EtcdEvent::SessionEnded(client),
            EtcdQuery::Compacted => EtcdEvent::Compacted(client),
            EtcdQuery::HasRead(key) => EtcdEvent::Read { client, holder: key.and_then(Key::client) },
            EtcdQuery::Observed(told) => EtcdEvent::Observed { client, told },
            EtcdQuery::ObserveEnded => EtcdEvent::ObserveEnded(client),
        }))
    }

    fn refuses(context: &Context<'_, Etcd>, query: &EtcdQuery) -> Option<String> {
        let needs_history = matches!(query, EtcdQuery::Ask(Request::Follow(..)));
        (needs_history && !context.scenario.service.history)
            .then(|| "a watch of events needs the store's history: set `service.history = true`".to_owned())
    }

    fn durations(query: &mut EtcdQuery, visit: &mut dyn FnMut(&mut Ticks)) {
        if let EtcdQuery::Ask(Request::Grant(_, ttl)) = query {
            visit(ttl);
        }
    }
}

/// Makes the programs known by their names, so that scenario files and traces can name them.
pub fn register_programs() {
    register::<Etcd, ElectionService>();
    register::<Etcd, EtcdObserver>();
    register::<Etcd, GoElection>();
    register::<Etcd, GoMutex>();
    register::<Etcd, KeepAliveLoop>();
    register::<Etcd, LockService>();
}
