//! The programs with the settings of a scenario, so that each can be held against the state machine.

use super::{ElectionService, EtcdObserver, GoElection, GoMutex, HolderTerms, LockService, ObserverKind, SessionTerms};
use crate::settings::{Nested, Reads, Settings, Stop};
use crate::{ELECTION, Etcd};
use fencepost_model::ids::{ClientId, SessionId};
use fencepost_model::program::Recipe;
use fencepost_model::scenario::{Cutting, Scenario};

/// The scenario with programs in the place of its contenders; none: it has programs already, or something that they do not have. Where contenders also read
/// the holder, an observer does that here: a third party.
pub fn as_programs(scenario: &Scenario<Etcd>) -> Option<Scenario<Etcd>> {
    let settings = &scenario.service;
    if !scenario.programs.is_empty() {
        return None;
    }
    let program = match (scenario.system == ELECTION, settings.renews) {
        (false, true) => with_each(scenario, |client| Some(GoMutex::of(scenario, client))),
        (false, false) => with_each(scenario, |client| LockService::of(scenario, client)),
        (true, true) => with_each(scenario, |client| Some(GoElection::of(scenario, client))),
        (true, false) => with_each(scenario, |client| Some(ElectionService::of(scenario, client))),
    }?;
    let observer = ClientId(scenario.clients + 1);
    let program = match settings.reads {
        Reads::Never => program,
        Reads::Linearizable | Reads::ReusedNumber => program.program(observer, EtcdObserver::by(ObserverKind::Leader)),
        Reads::Local => program.program(observer, EtcdObserver::by(ObserverKind::LocalCopy)),
    };
    program.validate().is_ok().then_some(program)
}

/// Equal programs are one for all clients.
fn with_each<R: Recipe<Etcd>>(scenario: &Scenario<Etcd>, of: impl Fn(ClientId) -> Option<R>) -> Option<Scenario<Etcd>> {
    let mut clients = (1..=scenario.clients).map(ClientId);
    let each = clients.try_fold(scenario.clone(), |scenario, client| Some(scenario.program(client, of(client)?)))?;
    let is_one = each.programs.iter().all(|program| program.head == each.programs[0].head);
    if is_one { Some(scenario.clone().programs(of(ClientId(1))?)) } else { Some(each) }
}

impl SessionTerms {
    fn of(scenario: &Scenario<Etcd>, client: ClientId) -> Self {
        let settings = &scenario.service;
        // Leases that are shared have the name of the first client's.
        let owner = if settings.shared_lease { ClientId(1) } else { client };
        let ttl = settings.ttl_of_client(owner);
        SessionTerms {
            ttl,
            lease: settings.shared_lease.then_some(SessionId::numbered(owner, 1)),
            renew_after: settings.renew_after,
            resend_after: settings.resend_after,
            resends: scenario.network.cuts == Cutting::Drop || scenario.budget.losses > 0,
            done_loop: settings.done_loop,
            first_deadline: settings.first_deadline.unwrap_or(ttl),
            limit: (settings.stop == Stop::BeforeExpiry).then(|| ttl - settings.margin),
        }
    }
}

impl HolderTerms {
    fn of(scenario: &Scenario<Etcd>) -> Self {
        let Settings {
            stop,
            looks_before_entry,
            done_cancels,
            watches_own_key,
            guard,
            leave,
            closes_session,
            renews,
            ..
        } = scenario.service;
        // After its last round the process of a program ends, and that of a state machine does not.
        let lives_on = renews && scenario.rounds == 1;
        HolderTerms {
            stop,
            looks_before_entry,
            done_cancels,
            watches_own_key,
            guard,
            leave,
            closes_session,
            lives_on,
            has_done: renews,
        }
    }
}

impl GoMutex {
    fn of(scenario: &Scenario<Etcd>, client: ClientId) -> Self {
        let Settings { final_get, unlock_compares, nested, .. } = scenario.service;
        let plain = GoMutex::with(SessionTerms::of(scenario, client), HolderTerms::of(scenario));
        GoMutex { final_get, unlock_compares, nested, ..plain }
    }
}

impl GoElection {
    fn of(scenario: &Scenario<Etcd>, client: ClientId) -> Self {
        let plain = GoElection::with(SessionTerms::of(scenario, client), HolderTerms::of(scenario));
        GoElection { on_error: scenario.service.on_error, ..plain }
    }
}

impl LockService {
    /// The server's lock has no options, and its name is one.
    fn of(scenario: &Scenario<Etcd>, client: ClientId) -> Option<Self> {
        let Settings { final_get, unlock_compares, nested, .. } = scenario.service;
        let is_plain = !final_get && !unlock_compares && nested == Nested::No;
        is_plain.then(|| LockService::with(SessionTerms::of(scenario, client), HolderTerms::of(scenario)))
    }
}

impl ElectionService {
    fn of(scenario: &Scenario<Etcd>, client: ClientId) -> Self {
        ElectionService::with(SessionTerms::of(scenario, client), HolderTerms::of(scenario))
    }
}
