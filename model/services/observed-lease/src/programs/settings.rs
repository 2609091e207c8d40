//! The programs with the settings of a scenario, so that each can be held against the state machine.

use super::elector::ElectorLap;
use super::{
    CallerTerms, ClientGo, DynamoLockClient, Fabric8Elector, KubeLeaderElection, Kubert, LitestreamLeaser,
    PythonElector, ShedLock,
};
use crate::messages::Name;
use crate::{
    Boundary, Expiry, GivesUp, Guard, Identity, Memory, OnCancel, OnLoss, PollFrom, Release, Renewal, Settings, Tokens,
};
use crate::{ObservedLease, ROW};
use fencepost_model::ids::{ClientId, SessionId};
use fencepost_model::program::Recipe;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Ticks;

/// The scenario with programs in the place of its electors; none: their settings are not those of a program, or the scenario has
/// something that programs do not have.
pub fn as_programs(scenario: &Scenario<ObservedLease>) -> Option<Scenario<ObservedLease>> {
    let settings = &scenario.service;
    let program = if scenario.system == ROW {
        with_each(scenario, |_| ShedLock::of(settings))?
    } else {
        with_each(scenario, |client| ClientGo::of(settings, client))
            .or_else(|| with_each(scenario, |client| PythonElector::of(settings, client)))
            .or_else(|| with_each(scenario, |client| DynamoLockClient::of(settings, client)))
            .or_else(|| with_each(scenario, |client| Fabric8Elector::of(settings, client)))
            .or_else(|| with_each(scenario, |client| Kubert::of(settings, client)))
            .or_else(|| with_each(scenario, |client| KubeLeaderElection::of(settings, client)))
            .or_else(|| with_each(scenario, |client| LitestreamLeaser::of(settings, client)))?
    };
    program.validate().is_ok().then_some(program)
}

/// Equal programs are one for all clients.
fn with_each<R: Recipe<ObservedLease>>(
    scenario: &Scenario<ObservedLease>,
    of: impl Fn(ClientId) -> Option<R>,
) -> Option<Scenario<ObservedLease>> {
    let mut clients = (1..=scenario.clients).map(ClientId);
    let each = clients.try_fold(scenario.clone(), |scenario, client| Some(scenario.program(client, of(client)?)))?;
    let is_one = each.programs.iter().all(|program| program.head == each.programs[0].head);
    if is_one { Some(scenario.clone().programs(of(ClientId(1))?)) } else { Some(each) }
}

impl CallerTerms {
    pub(super) fn of(settings: &Settings) -> Self {
        let waits = settings.on_cancel == OnCancel::WaitRenewing;
        let watches_lease = settings.guard != Guard::None;
        CallerTerms { stop_time: settings.stop_time, waits, grace: settings.grace, watches_lease, told_last: false }
    }
}

/// The name that each process of a client has; none: each has a new one.
pub(super) fn identity(settings: &Settings, client: ClientId) -> Option<Name> {
    match settings.identity {
        Identity::Unique => None,
        Identity::Hostname => Some(Name::Own(SessionId::numbered(client, 1))),
        Identity::Shared => Some(Name::Common),
    }
}

/// What all programs leave to the scenario: durations, the store, the operator, clocks, naps, and how work stops.
pub(super) fn without_surroundings(settings: &Settings) -> Settings {
    let plain = Settings::default();
    Settings {
        lease: plain.lease,
        renew_deadline: plain.renew_deadline,
        retry_period: plain.retry_period,
        sleep_max: plain.sleep_max,
        grain: plain.grain,
        terms: Vec::new(),
        request_timeout: None,
        stop_time: Ticks::ZERO,
        identity: plain.identity,
        wall_ahead: Vec::new(),
        rates: Vec::new(),
        nap: Ticks::ZERO,
        validates: plain.validates,
        create_overwrites: plain.create_overwrites,
        delete_ignores_version: plain.delete_ignores_version,
        operator: Vec::new(),
        ..settings.clone()
    }
}

/// Whether all lengths are whole ticks on the client's clock: a program waits for no others.
fn has_whole_lengths(settings: &Settings, client: ClientId) -> bool {
    let Some(rate) = settings.rates.get(client.place()) else { return true };
    let released = (settings.release != Release::Never).then_some(settings.second.unwrap_or(settings.grain));
    let others = [settings.request_timeout, settings.grace, released, Some(settings.stop_time)];
    settings.sleep_spread(client) == 0
        && others.into_iter().flatten().all(|length| length.count() * i64::from(rate.per) % i64::from(rate.shows) == 0)
}

impl ClientGo {
    /// The program of a client with these settings; none: they are not those of client-go, or of a program that heeds it.
    pub fn of(settings: &Settings, client: ClientId) -> Option<Self> {
        let plain = Settings::default();
        let is_known = matches!(settings.expiry, Expiry::Recorded | Expiry::Own)
            && matches!(settings.renewal, Renewal::FastFirst | Renewal::ReadWrite)
            && matches!(
                settings.release,
                Release::Never | Release::CachedVersion | Release::FreshVersion | Release::FreshRecord
            )
            && has_whole_lengths(settings, client);
        let rest = Settings {
            second: None,
            expiry: plain.expiry,
            renewal: plain.renewal,
            cuts_requests: plain.cuts_requests,
            release: plain.release,
            release_repeats: plain.release_repeats,
            on_loss: plain.on_loss,
            on_cancel: plain.on_cancel,
            grace: None,
            cancels: plain.cancels,
            naps_from: plain.naps_from,
            poll_from: plain.poll_from,
            token: Tokens::None,
            ..without_surroundings(settings)
        };
        if !is_known || rest != plain {
            return None;
        }
        Some(ClientGo {
            lease_duration: settings.lease_of(client),
            renew_deadline: settings.deadline_of(client),
            retry_period: settings.retry_of(client),
            jitter: u8::try_from(settings.sleep_spread(client)).ok().filter(|spread| *spread < u8::MAX)?,
            recorded: settings.recorded(client),
            second: settings.second.unwrap_or(settings.grain),
            request_timeout: settings.request_timeout,
            release: settings.release,
            release_repeats: settings.release_repeats,
            fast_path: settings.renewal == Renewal::FastFirst,
            counts_own: settings.expiry == Expiry::Own,
            cuts_requests: settings.cuts_requests,
            tells_first: settings.on_loss == OnLoss::TellThenRelease,
            counts_from_success: settings.poll_from == PollFrom::LastSuccess,
            awaits_work: settings.on_cancel == OnCancel::Wait,
            coordinated: false,
            identity: identity(settings, client),
            token: settings.token,
            caller: CallerTerms::of(settings),
            me: None,
            observed: None,
            observed_raw: None,
            version: None,
            next: ElectorLap::Acquire,
        })
    }
}

impl PythonElector {
    /// The program of a client with these settings; none: they are not those of the Python package.
    pub fn of(settings: &Settings, client: ClientId) -> Option<Self> {
        let python = Settings {
            expiry: Expiry::Own,
            renewal: Renewal::ReadWrite,
            gives_up: GivesUp::AfterAttempt,
            cuts_requests: false,
            ..Settings::default()
        };
        if without_surroundings(settings) != python || settings.sleep_spread(client) > 0 {
            return None;
        }
        Some(PythonElector {
            lease_duration: settings.lease_of(client),
            renew_deadline: settings.deadline_of(client),
            retry_period: settings.retry_of(client),
            request_timeout: settings.request_timeout,
            identity: identity(settings, client),
            caller: CallerTerms::of(settings),
            me: None,
            observed_holder: None,
            observed_raw: None,
            next: ElectorLap::Acquire,
        })
    }
}

impl DynamoLockClient {
    /// The program of a client with these settings; none: they are not those of the DynamoDB lock client.
    pub fn of(settings: &Settings, client: ClientId) -> Option<Self> {
        let plain = Settings::default();
        let rest = Settings {
            renew_period: None,
            repeats_requests: false,
            holds_on_error: false,
            guard: Guard::None,
            safe_time: Ticks::ZERO,
            patience: None,
            call_again: None,
            memory: Memory::Kept,
            ..without_surroundings(settings)
        };
        let dynamo = Settings {
            boundary: Boundary::Strict,
            renewal: Renewal::WriteOnly,
            gives_up: GivesUp::Never,
            recognises_itself: false,
            ..plain
        };
        let is_unique = settings.identity == Identity::Unique;
        if rest != dynamo || !is_unique || settings.sleep_spread(client) > 0 {
            return None;
        }
        let guard = match settings.guard {
            Guard::None => None,
            Guard::Lease => Some(settings.lease_of(client)),
            Guard::SafeTime => Some(settings.safe_time),
            Guard::BeforeLease => return None,
        };
        Some(DynamoLockClient {
            lease_duration: settings.lease_of(client),
            heartbeat_period: settings.renew_period.unwrap_or(settings.retry_of(client)),
            refresh_period: settings.retry_of(client),
            additional_time: settings.patience.filter(|patience| *patience > Ticks::ZERO),
            skips_blocking_wait: settings.patience == Some(Ticks::ZERO),
            remembers: settings.memory == Memory::Kept,
            call_again: settings.call_again,
            request_timeout: settings.request_timeout,
            sdk_repeats: settings.repeats_requests,
            guard,
            holds_on_error: settings.holds_on_error,
            caller: CallerTerms::of(settings),
            me: None,
            seen: None,
            held: None,
        })
    }
}
