//! Consul: catalogue, health checks, sessions, key/value locks, semaphores, elections.

pub use fencepost_consul::*;
pub use fencepost_consul_explore::SERVICE;

use fencepost_model::service::{Service as _, Settings as _};
use fencepost_model::units::Duration;

use crate::{Check, Length};

/// A check of a lock: a key that a session acquires.
///
/// ```
/// use fencepost::consul::Sequencer;
/// use fencepost::{Accepts, Property, consul};
///
/// consul::lock("our-ledger")
///     .ttl(1)
///     .sequencer(Sequencer::ModifyIndex)
///     .writes(1)
///     .resource(Accepts::NotLower)
///     .promise(Property::NoLostUpdate)
///     .verify();
/// ```
pub fn lock(name: &str) -> Check<Consul> {
    Check::of(&SERVICE, name)
}

/// A check of a semaphore as Consul's guide builds it, with this number of slots.
///
/// ```
/// use fencepost::{Property, consul};
///
/// consul::semaphore("our-workers", 1).promise(Property::SlotLimit).verify();
/// ```
pub fn semaphore(name: &str, limit: u8) -> Check<Consul> {
    let settings = |consul: &mut Settings| {
        consul.semaphore = Some(Semaphore { limits: vec![limit], ..Semaphore::default() });
    };
    Check::of(&SERVICE, name).system("consul-semaphore").settings(settings)
}

impl Check<Consul> {
    /// Sets the session's TTL; otherwise it ends by a call only.
    #[track_caller]
    pub fn ttl(self, ttl: impl Into<Length>) -> Self {
        let ttl = self.ticks(ttl);
        self.settings(|consul| consul.ttl = Some(ttl))
    }

    /// Sets how long a key that was freed by the end of its session cannot be acquired.
    #[track_caller]
    pub fn lock_delay(self, delay: impl Into<Length>) -> Self {
        let delay = self.ticks(delay);
        self.settings(|consul| consul.lock_delay = delay)
    }

    /// Sets how often the client renews its session; otherwise it never does.
    #[track_caller]
    pub fn renew_every(self, period: impl Into<Length>) -> Self {
        let period = self.ticks(period);
        self.settings(|consul| consul.renew_every = Some(period))
    }

    /// Sets what the client sends with a write for the resource to compare.
    pub fn sequencer(self, sequencer: Sequencer) -> Self {
        self.settings(|consul| consul.sequencer = sequencer)
    }

    /// Sets what the end of a session does to its keys.
    pub fn behavior(self, behavior: Behavior) -> Self {
        self.settings(|consul| consul.behavior = behavior)
    }

    /// Takes the settings of a client as it is in the field: `go-lock`, `lock-command`, `leader-election`, `go-semaphore` or
    /// `semaphore-guide`. They replace what was set before. Without a [`tick`](Check::tick), a tick of the recipe is half a
    /// second.
    ///
    /// # Panics
    /// There is no such recipe; or one of its durations is no whole number of ticks.
    #[track_caller]
    pub fn recipe(self, name: &str) -> Self {
        let mut recipe = Settings::of_recipe(name).unwrap_or_else(|| panic!("there is no recipe `{name}`"));
        if let (Some(tick), Some(of_recipe)) = (self.tick_length(), Consul::RECIPE_TICK) {
            recipe.durations(&mut |ticks| {
                let time = Duration::of_nanoseconds(of_recipe.nanoseconds() * ticks.count());
                *ticks = Length::from(time).in_ticks_of(Some(tick));
            });
        }
        self.settings(|consul| *consul = recipe)
    }
}
