//! The clients that believe a writer's clock, and ShedLock, with the settings of a scenario.

use super::settings::{identity, without_surroundings};
use super::{CallerTerms, Fabric8Elector, KubeLeaderElection, Kubert, LitestreamLeaser, LitestreamRelease, ShedLock};
use crate::{Boundary, Expiry, GivesUp, Guard, OnLoss, Release, Renewal, RowClock, Settings, Tokens};
use fencepost_model::ids::ClientId;

/// Settings that are the same for all of these clients, but for what each leaves to the scenario.
fn of_writer_clock() -> Settings {
    Settings { expiry: Expiry::WriterClock, gives_up: GivesUp::Never, ..Settings::default() }
}

impl Fabric8Elector {
    /// The program of a client with these settings; none: they are not those of fabric8.
    pub fn of(settings: &Settings, client: ClientId) -> Option<Self> {
        let rest = Settings {
            release: Release::Never,
            cancels: Settings::default().cancels,
            token: Tokens::None,
            ..without_surroundings(settings)
        };
        let fabric8 = Settings {
            boundary: Boundary::Strict,
            renewal: Renewal::ReadWrite,
            gives_up: GivesUp::AtTick,
            cuts_requests: false,
            ..of_writer_clock()
        };
        let is_known = matches!(settings.release, Release::Never | Release::FreshRecord);
        if rest != fabric8 || !is_known {
            return None;
        }
        Some(Fabric8Elector {
            lease_duration: settings.recorded(client),
            renew_deadline: settings.deadline_of(client),
            retry_period: settings.retry_of(client),
            jitter: u8::try_from(settings.sleep_spread(client)).ok().filter(|spread| *spread < u8::MAX)?,
            release_on_cancel: settings.release == Release::FreshRecord,
            request_timeout: settings.request_timeout,
            identity: identity(settings, client),
            token: settings.token,
            caller: CallerTerms { told_last: true, ..CallerTerms::of(settings) },
            me: None,
            observed: None,
            renewed: None,
            acts: false,
        })
    }
}

impl Kubert {
    /// The program of a client with these settings; none: they are not those of kubert.
    pub fn of(settings: &Settings, client: ClientId) -> Option<Self> {
        let rest = Settings {
            release: Release::Never,
            cancels: Settings::default().cancels,
            ..without_surroundings(settings)
        };
        let kubert = Settings { renewal: Renewal::WriteOnly, guard: Guard::BeforeLease, ..of_writer_clock() };
        let (lease, period) = (settings.lease_of(client), settings.retry_of(client));
        let is_known = matches!(settings.release, Release::Never | Release::CachedVersion) && period <= lease;
        if rest != kubert || !is_known || settings.sleep_spread(client) > 0 {
            return None;
        }
        Some(Kubert {
            lease_duration: lease,
            renew_grace_period: lease - period,
            api_timeout: settings.request_timeout,
            min_delay: settings.grain,
            vacates: settings.release == Release::CachedVersion,
            identity: identity(settings, client),
            caller: CallerTerms::of(settings),
            me: None,
            claim: None,
            version: None,
            acts: false,
        })
    }
}

impl KubeLeaderElection {
    /// The program of a client with these settings; none: they are not those of kube-leader-election.
    pub fn of(settings: &Settings, client: ClientId) -> Option<Self> {
        let rest =
            Settings { conditional: false, cancels: Settings::default().cancels, ..without_surroundings(settings) };
        let crate_of_that_name = Settings {
            boundary: Boundary::Strict,
            renewal: Renewal::ReadWrite,
            conditional: false,
            ..of_writer_clock()
        };
        if rest != crate_of_that_name || settings.sleep_spread(client) > 0 {
            return None;
        }
        Some(KubeLeaderElection {
            lease_ttl: settings.lease_of(client),
            period: settings.retry_of(client),
            request_timeout: settings.request_timeout,
            names_version: settings.conditional,
            identity: identity(settings, client),
            caller: CallerTerms::of(settings),
            me: None,
            is_leader: false,
        })
    }
}

impl LitestreamLeaser {
    /// The program of a client with these settings; none: they are not those of litestream.
    pub fn of(settings: &Settings, client: ClientId) -> Option<Self> {
        let rest = Settings {
            release: Release::Never,
            cancels: Settings::default().cancels,
            token: Tokens::None,
            on_loss: OnLoss::ReleaseThenTell,
            ..without_surroundings(settings)
        };
        let litestream = Settings {
            boundary: Boundary::Strict,
            renewal: Renewal::WriteOnly,
            recognises_itself: false,
            ..of_writer_clock()
        };
        let release = match settings.release {
            Release::Never => None,
            Release::Delete => Some(LitestreamRelease::Delete),
            Release::CachedVersion => Some(LitestreamRelease::Keep),
            _ => return None,
        };
        if rest != litestream || settings.sleep_spread(client) > 0 {
            return None;
        }
        Some(LitestreamLeaser {
            ttl: settings.lease_of(client),
            period: settings.retry_of(client),
            request_timeout: settings.request_timeout,
            release,
            identity: identity(settings, client),
            token: settings.token,
            caller: CallerTerms::of(settings),
            me: None,
            lease: None,
        })
    }
}

impl ShedLock {
    /// The program of a client of a `lease-row` with these settings.
    pub fn of(settings: &Settings) -> Option<Self> {
        let grains = settings.preparation.count() / settings.grain.count();
        let grain = settings.grain;
        let half = grain.times(settings.lease.count() / grain.count() / 2);
        let is_evenly_spread = grains > 100;
        (!is_evenly_spread).then(|| ShedLock {
            lock_at_most_for: settings.lease,
            lock_at_least_for: settings.at_least,
            uses_db_time: settings.row_clock == RowClock::Database,
            keep_alive: settings.keep_alive.then_some(half),
            period: settings.retry_period,
            task: settings.task,
            pauses: (1..=grains).map(|grains| grain.times(grains)).collect(),
            is_recorded: false,
        })
    }
}
