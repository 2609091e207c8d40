//! The `[service]` table of a Consul scenario: the session's terms, and the knobs of the client recipes. Broken and fixed
//! variants of a client are knobs of one recipe, not copies.
//!
//! `recipe` and `semaphore` name the choices of a client, `servers` what happens among servers, `health` what they know about nodes,
//! `operator` what somebody may do from outside, `validate` what cannot be meant.

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

use super::Checks;
use fencepost_model::time::Ticks;
use fencepost_model::units::Duration;

pub use health::{CheckKind, Health, Takes};
pub use operator::{OperatorActionKind, Priced};
pub use recipe::{
    Behavior, Belief, DeadSession, Guard, Job, Killed, Letters, Monitor, OnLoss, Queue, Reads, Release, RenewalErrors,
    Sequencer, SessionUse, Unlock, Waiting, Writes,
};
pub use semaphore::{AfterRelease, LostRace, OnConflict, OnUncertainty, Prunes, Registers, Semaphore};
pub use servers::{Expiry, Log, OldLeader, Renewals, Requests, Restarts, Revocations, Servers, Timers, TreeDeletions};
pub(super) use validate::{notes, validate};

macro_rules! recipes {
    ($($name:literal),*) => {
        &[$(($name, include_str!(concat!("../../recipes/", $name, ".toml")))),*]
    };
}

/// Clients as they are in the field: settings that say what the rules say, and cite them.
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
    /// How many TTLs the server waits before it ends a session (C-TTL-2 says 2).
    pub ttl_multiplier: u8,
    /// How long a key that was freed by the end of its session cannot be acquired.
    pub lock_delay: Ticks,
    /// The most lock-delay that the server grants (C-LD-3 says 60 s); none: no cap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock_delay_max: Option<Ticks>,
    /// What the end of a session does to its keys.
    pub behavior: Behavior,
    /// How often the client renews its session; none: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<Ticks>,
    /// What it does when a renewal is answered with an error.
    #[serde(skip_serializing_if = "is_default")]
    pub renewal_errors: RenewalErrors,
    /// Whether each client has a session of its own.
    pub session: SessionUse,
    /// What a client does when it hears that its session is gone.
    #[serde(skip_serializing_if = "is_default")]
    pub dead_session: DeadSession,
    /// Until when a client believes that it has the lock.
    pub belief: Belief,
    /// Whether clients remember until when their lease lasts although they do not act on it: `lease-exclusion` judges by that.
    #[serde(skip_serializing_if = "is_default")]
    pub keeps_lease: bool,
    /// What the client sends with a write for the resource to compare.
    pub sequencer: Sequencer,
    /// Whether a client waits for its writes before it releases.
    pub writes: Writes,
    /// Whether it makes sure that it has the lock before each write.
    #[serde(skip_serializing_if = "is_default")]
    pub guard: Guard,
    /// Whether it leaves its writes to a third party, which asks the server about the sequencer.
    #[serde(skip_serializing_if = "is_default")]
    pub delegates: bool,
    /// How a client gives up the lock.
    pub release: Release,
    /// By which request it does so.
    #[serde(skip_serializing_if = "is_default")]
    pub unlock: Unlock,
    /// Whether a client removes the key after releasing it, as `consul lock` does (C-LCK-10).
    pub cleanup: bool,
    /// Whether the key's value names the holder, as in leader election (C-LE-1).
    pub names_leader: bool,
    /// How long a client waits after a refusal.
    pub retry_every: Ticks,
    /// How a client waits while somebody else has the lock.
    #[serde(skip_serializing_if = "is_default")]
    pub waiting: Waiting,
    /// How long the server may hold the query by which it does; none: for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch_wait: Option<Ticks>,
    /// After which time a client gives up a request and sends it anew, within `budget.retries`; none: it waits for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<Ticks>,
    /// How the holder watches its key; none: it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitor: Option<Monitor>,
    /// The protected work as a process of its own; none: it is the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// Third parties that read the key to find out who leads.
    pub observers: u8,
    /// How they read.
    #[serde(skip_serializing_if = "is_default")]
    pub reads: Reads,
    /// How a client writes its session's id when it acquires; everywhere else it writes it as the server does.
    #[serde(skip_serializing_if = "is_default")]
    pub acquires_in: Letters,
    /// What an operator or a bystander may do, within `budget.operator`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operator: Vec<Priced>,
    /// Nodes and checks that sessions are bound to.
    #[serde(skip_serializing_if = "is_default")]
    pub health: Health,
    /// What happens among the servers.
    #[serde(skip_serializing_if = "is_default")]
    pub servers: Servers,
    /// The lock as a queue; none: one key for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// The semaphore that clients compete for, instead of the lock.
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
            belief: Belief::default(),
            keeps_lease: false,
            sequencer: Sequencer::default(),
            writes: Writes::default(),
            guard: Guard::default(),
            delegates: false,
            release: Release::default(),
            unlock: Unlock::default(),
            cleanup: false,
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
    /// Those of a client as it is in the field: `go-lock`, `lock-command`, `leader-election`, `go-semaphore` or
    /// `semaphore-guide`. They stand in `recipes`; a scenario file has them by `service.recipe`.
    pub fn of_recipe(name: &str) -> Option<Settings> {
        let (_, text) = RECIPES.iter().find(|(other, _)| *other == name)?;
        Some(toml::from_str(text).expect("recipes are tested"))
    }

    /// As much of a lock-delay as the server grants (C-LD-3).
    pub fn capped(&self, asked: Ticks) -> Ticks {
        self.lock_delay_max.map_or(asked, |most| asked.min(most))
    }

    /// What this recipe's sessions are created with.
    pub fn terms(&self) -> super::Terms {
        let checks: Checks = self.health.checks.iter().copied().collect();
        super::Terms { ttl: self.ttl, lock_delay: self.lock_delay, behavior: self.behavior, checks }
    }

    /// Whether it matters which nodes and checks are registered.
    pub fn has_catalog(&self) -> bool {
        let is_about_health = |priced: &Priced| priced.kind().is_about_health();
        self.health != Health::default() || self.operator.iter().any(is_about_health)
    }

    /// Whether clients remember until when the lease lasts that a renewal grants.
    pub fn remembers_lease(&self) -> bool {
        self.counts_lease() || self.keeps_lease || self.renewal_errors == RenewalErrors::RetryForTtl
    }

    /// Whether clients count the lease that a renewal grants, by their own clock.
    pub fn counts_lease(&self) -> bool {
        matches!(self.belief, Belief::SelfLimiting | Belief::Suspending)
    }
}
