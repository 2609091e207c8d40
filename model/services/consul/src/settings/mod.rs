//! The `[service]` table of a Consul scenario: the session's terms, and the settings of the client recipes. Broken and
//! fixed variants of a client are settings of one recipe, not copies.
//!
//! `recipe` and `semaphore` have the settings of a client, `servers` those of the servers, `health` those of nodes and
//! checks, `operator` the operator actions, `validate` the checks.

mod detector;
mod health;
mod kernel;
mod operator;
mod recipe;
mod semaphore;
mod servers;
mod validate;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Checks, Consul};
use fencepost_model::scenario::settings_from_toml;
use fencepost_model::time::Ticks;
use fencepost_model::units::Duration;

pub use health::{CheckKind, Health, Takes};
pub use operator::{OperatorActionKind, Priced};
pub use recipe::{
    Behavior, BeliefRule, DeadSession, Guard, Job, Killed, Letters, Monitor, OnLoss, Queue, Reads, Release,
    RenewalErrors, Sequencer, SessionUse, Unlock, Waiting, Writes,
};
pub use semaphore::{AfterRace, AfterRelease, LostRace, OnConflict, OnUncertainty, Prunes, Registers, Semaphore};
pub use servers::{Expiry, Log, OldLeader, Renewals, Requests, Restarts, Revocations, Servers, Timers, TreeDeletions};
pub(super) use validate::{notes, validate};

macro_rules! recipes {
    ($($name:literal),*) => {
        &[$(($name, include_str!(concat!("../../recipes/", $name, ".toml")))),*]
    };
}

/// Recipes of real clients: settings that follow the rules and cite them.
pub(super) const RECIPES: &[(&str, &str)] =
    recipes!["go-lock", "lock-command", "leader-election", "go-semaphore", "semaphore-guide"];

/// The tick of the recipes: half a second.
pub(super) const RECIPE_TICK: Duration = Duration::of_nanoseconds(500_000_000);

/// Settings of the service and of the client recipe.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The session's TTL; none: it ends by a call only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Ticks>,
    /// The number of TTLs that the server waits before it ends a session (C-TTL-2 says 2).
    pub ttl_multiplier: u8,
    /// How long a key that was freed by the end of its session cannot be acquired, in ticks.
    pub lock_delay: Ticks,
    /// The maximum lock-delay that the server grants, in ticks (C-LD-3 says 60 s); none: no cap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock_delay_max: Option<Ticks>,
    /// The effect of the end of a session on its keys.
    pub behavior: Behavior,
    /// The time between renewals of the client's session, in ticks; none: no renewals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<Ticks>,
    /// The client's reaction to an error response to a renewal.
    #[serde(skip_serializing_if = "is_default")]
    pub renewal_errors: RenewalErrors,
    /// Whether each client has its own session.
    pub session: SessionUse,
    /// The client's reaction to the end of its session.
    #[serde(skip_serializing_if = "is_default")]
    pub dead_session: DeadSession,
    /// How long a client believes that it has the lock.
    pub belief: BeliefRule,
    /// Whether clients track the end of their lease even if they do not act on it: `lease-exclusion` needs it.
    #[serde(skip_serializing_if = "is_default")]
    pub keeps_lease: bool,
    /// The number that the client sends with a write for the resource to compare.
    pub sequencer: Sequencer,
    /// Whether a client waits for its writes before it releases.
    pub writes: Writes,
    /// Whether it checks that it has the lock before each write.
    #[serde(skip_serializing_if = "is_default")]
    pub guard: Guard,
    /// Whether it delegates its writes to a third party, which asks the server about the sequencer.
    #[serde(skip_serializing_if = "is_default")]
    pub delegates: bool,
    /// How a client ends its tenure.
    pub release: Release,
    /// The request that gives the lock up.
    #[serde(skip_serializing_if = "is_default")]
    pub unlock: Unlock,
    /// Whether a client deletes the key after the release, like `consul lock` (C-LCK-10).
    pub cleanup: bool,
    /// The flags that a client writes with its keys: 1 are those of the Go client's lock, 2 those of its semaphore. Not 0: it refuses a key
    /// that has others (C-LCK-3, C-SEM-4).
    #[serde(skip_serializing_if = "is_default")]
    pub flags: u8,
    /// Whether a client destroys its session when it has given the lock back, or has failed to get it, and does not wait for the answer:
    /// the Go client (C-LCK-2, C-LCK-9, C-SEM-7, C-SEM-9).
    #[serde(skip_serializing_if = "is_default")]
    pub ends_session: bool,
    /// Whether the key's value names the holder, as in leader election (C-LE-1).
    pub names_leader: bool,
    /// How long a client waits after a refusal, in ticks.
    pub retry_every: Ticks,
    /// How a client waits while another client has the lock.
    #[serde(skip_serializing_if = "is_default")]
    pub waiting: Waiting,
    /// The maximum wait of its query at the server, in ticks; none: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch_wait: Option<Ticks>,
    /// The time after which a client gives up a request and repeats it, within `budget.retries`, in ticks; none: it
    /// waits without limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<Ticks>,
    /// How the holder monitors its key; none: it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitor: Option<Monitor>,
    /// The protected work as a separate process; none: the client does the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// Third parties that read the key to find the leader.
    pub observers: u8,
    /// Their consistency mode.
    #[serde(skip_serializing_if = "is_default")]
    pub reads: Reads,
    /// How a client spells its session's id in an acquire; elsewhere it uses the server's spelling.
    #[serde(skip_serializing_if = "is_default")]
    pub acquires_in: Letters,
    /// The operator actions, within `budget.operator`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operator: Vec<Priced>,
    /// Nodes and checks for sessions.
    #[serde(skip_serializing_if = "is_default")]
    pub health: Health,
    /// The settings of the servers.
    #[serde(skip_serializing_if = "is_default")]
    pub servers: Servers,
    /// The lock as a queue; none: one key for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// The semaphore that clients contend for, instead of the lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub semaphore: Option<Semaphore>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            ttl: None,
            ttl_multiplier: 2,
            lock_delay: Ticks::ZERO,
            lock_delay_max: None,
            behavior: Behavior::default(),
            renew_every: None,
            renewal_errors: RenewalErrors::default(),
            session: SessionUse::default(),
            dead_session: DeadSession::default(),
            belief: BeliefRule::default(),
            keeps_lease: false,
            sequencer: Sequencer::default(),
            writes: Writes::default(),
            guard: Guard::default(),
            delegates: false,
            release: Release::default(),
            unlock: Unlock::default(),
            cleanup: false,
            flags: 0,
            ends_session: false,
            names_leader: false,
            retry_every: Ticks::new(1),
            waiting: Waiting::default(),
            watch_wait: None,
            patience: None,
            monitor: None,
            job: None,
            observers: 0,
            reads: Reads::default(),
            acquires_in: Letters::default(),
            operator: Vec::new(),
            health: Health::default(),
            servers: Servers::default(),
            queue: None,
            semaphore: None,
        }
    }
}

impl Settings {
    /// The settings of a real client: `go-lock`, `lock-command`, `leader-election`, `go-semaphore` or
    /// `semaphore-guide`. They are in `recipes`; a scenario file uses them by `service.recipe`.
    pub fn of_recipe(name: &str) -> Option<Settings> {
        let (_, text) = RECIPES.iter().find(|(other, _)| *other == name)?;
        Some(settings_from_toml::<Consul>(text).expect("recipes are tested"))
    }

    /// The lock-delay that the server grants (C-LD-3).
    pub fn capped(&self, asked: Ticks) -> Ticks {
        self.lock_delay_max.map_or(asked, |most| asked.min(most))
    }

    /// The terms of this recipe's sessions.
    pub fn terms(&self) -> super::Terms {
        let checks: Checks = self.health.checks.iter().copied().collect();
        super::Terms { ttl: self.ttl, lock_delay: self.lock_delay, behavior: self.behavior, checks }
    }

    /// Whether a client refuses an entry for its flags: `ErrLockConflict` and `ErrSemaphoreConflict` of the Go client.
    pub fn refuses(&self, entry: &super::Entry) -> bool {
        self.flags != 0 && entry.flags != self.flags
    }

    /// Whether registered nodes and checks have an effect.
    pub fn has_catalog(&self) -> bool {
        let is_about_health = |priced: &Priced| priced.kind().is_about_health();
        self.health != Health::default() || self.operator.iter().any(is_about_health)
    }

    /// Whether clients track the end of the lease that a renewal grants.
    pub fn remembers_lease(&self) -> bool {
        self.counts_lease() || self.keeps_lease || self.renewal_errors == RenewalErrors::RetryForTtl
    }

    /// Whether clients count the lease that a renewal grants, by their own clock.
    pub fn counts_lease(&self) -> bool {
        matches!(self.belief, BeliefRule::SelfLimiting | BeliefRule::Suspending)
    }
}
