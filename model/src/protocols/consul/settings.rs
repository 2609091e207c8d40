//! The `[service]` table of a Consul scenario: the session's terms, and the knobs of the lock recipe. Broken and fixed
//! variants of a client are knobs of one recipe, not copies.

use serde::{Deserialize, Serialize};

use super::Consul;
use crate::properties::Property;
use crate::scenario::{Mistake, Scenario};
use crate::time::Ticks;

/// Settings of the service and of the lock recipe.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
    /// Whether each client has a session of its own.
    pub session: SessionUse,
    /// Until when a client believes that it has the lock.
    pub belief: Belief,
    /// What the client sends with a write for the resource to compare.
    pub sequencer: Sequencer,
    /// Whether a client waits for its writes before it releases.
    pub writes: Writes,
    /// How a client gives up the lock.
    pub release: Release,
    /// Whether a client removes the key after releasing it, as `consul lock` does (C-LCK-10).
    pub cleanup: bool,
    /// Whether the key's value names the holder, as in leader election (C-LE-1).
    pub names_leader: bool,
    /// How long a client waits after a refusal.
    pub retry_every: Ticks,
    /// After which time a client gives up a request and sends it anew, within `budget.retries`; none: it waits for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<Ticks>,
    /// Third parties that read the key to find out who leads.
    pub observers: u8,
    /// What an operator or a bystander may do, within `budget.operator`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operator: Vec<OperatorAct>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            ttl: None,
            ttl_multiplier: 2,
            lock_delay: Ticks::ZERO,
            lock_delay_max: None,
            behavior: Behavior::Release,
            renew_every: None,
            session: SessionUse::Own,
            belief: Belief::UntilTold,
            sequencer: Sequencer::None,
            writes: Writes::Acknowledged,
            release: Release::StopFirst,
            cleanup: false,
            names_leader: false,
            retry_every: Ticks::new(1),
            patience: None,
            observers: 0,
            operator: Vec::new(),
        }
    }
}

/// What the end of a session does to its keys (C-INV-1).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Behavior {
    /// They are free again.
    #[default]
    Release,
    /// They are gone.
    Delete,
}

/// Whose session a client uses.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionUse {
    /// One of its own, created when it is first needed, and anew when it is gone.
    #[default]
    Own,
    /// One for all, there from the start and never created anew.
    Shared,
}

/// Until when a client believes that it has the lock.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Belief {
    /// Until it is told otherwise: a renewal fails, or the resource refuses a write.
    #[default]
    UntilTold,
    /// The same, and never longer than TTL after it *sent* the last acknowledged renewal, by its own clock.
    SelfLimiting,
    /// Until its user is done, whatever it hears.
    None,
}

/// What a client sends with a write. All but `None` are read back from the key after acquiring.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sequencer {
    /// Nothing.
    #[default]
    None,
    /// The key's LockIndex: what the sessions document recommends.
    LockIndex,
    /// The key's ModifyIndex, read back while the session has it (C-KV-19).
    ModifyIndex,
    /// The key's CreateIndex.
    CreateIndex,
}

/// Whether a client waits for its writes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Writes {
    /// It releases only when every write of the tenure is answered.
    #[default]
    Acknowledged,
    /// It sends them and goes on.
    Async,
}

/// How a client gives up the lock.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// It stops acting, then releases.
    #[default]
    StopFirst,
    /// It releases, and stops acting when it hears that this worked.
    ReleaseFirst,
    /// Never: it works until it is stopped.
    Never,
}

/// One kind of act that is within the operator's reach.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperatorAct {
    /// Destroy any session.
    DestroySession,
    /// Destroy the session of a client that has crashed.
    DestroyCrashed,
    /// Put another value into the lock's key.
    Put,
    /// Delete the lock's key.
    Delete,
}

impl Settings {
    pub(super) fn scaled(&self, factor: i64) -> Self {
        let scale = |ticks: Option<Ticks>| ticks.map(|ticks| ticks.times(factor));
        Settings {
            ttl: scale(self.ttl),
            lock_delay: self.lock_delay.times(factor),
            lock_delay_max: scale(self.lock_delay_max),
            renew_every: scale(self.renew_every),
            retry_every: self.retry_every.times(factor),
            patience: scale(self.patience),
            ..self.clone()
        }
    }

    pub(super) fn longest(&self) -> Ticks {
        let optional = [self.ttl, self.lock_delay_max, self.renew_every, self.patience];
        [self.lock_delay, self.retry_every].into_iter().chain(optional.into_iter().flatten()).max().unwrap_or_default()
    }

    pub(super) fn assumptions(&self) -> Vec<String> {
        let ttl = match self.ttl {
            Some(ttl) => {
                format!("sessions have a TTL of {ttl}, which the server multiplies by {}", self.ttl_multiplier)
            }
            None => "sessions have no TTL".to_owned(),
        };
        vec![ttl, format!("the lock-delay is {}", self.lock_delay)]
    }
}

pub(super) fn validate(scenario: &Scenario<Consul>) -> Result<(), Mistake> {
    let Settings { ttl, renew_every, belief, sequencer, session, patience, ref operator, retry_every, .. } =
        scenario.service;
    let wrong = |path: &str, message: &str| Err(Mistake::at(path, message));
    let needs_sequencer = [Property::TokenOrder, Property::SequencerComplete];
    if ttl == Some(Ticks::ZERO) {
        return wrong("service.ttl", "a TTL of 0 means none in Consul (C-SES-7); leave it out, or use 1 or more");
    }
    if scenario.service.ttl_multiplier == 0 {
        return wrong("service.ttl_multiplier", "the server waits for at least 1 TTL; Consul for 2");
    }
    if ttl.is_none() && renew_every.is_some() {
        return wrong("service.renew_every", "without `ttl` there is nothing to renew (C-SES-18)");
    }
    if renew_every == Some(Ticks::ZERO) || retry_every == Ticks::ZERO || patience == Some(Ticks::ZERO) {
        return wrong(
            "service",
            "`renew_every`, `retry_every` and `patience` of 0 ticks would stop time; use 1 or more",
        );
    }
    if ttl.is_none() && belief == Belief::SelfLimiting {
        return wrong("service.belief", "a self-limiting client counts its TTL; set `ttl`");
    }
    if session == SessionUse::Shared && ttl.is_some() {
        return wrong(
            "service.session",
            "a shared session is there from the start and nobody renews it: leave `ttl` out",
        );
    }
    if (scenario.budget.operator > 0) == operator.is_empty() {
        return wrong(
            "budget.operator",
            "an operator acts only with both `budget.operator` and a list `service.operator`",
        );
    }
    if (scenario.budget.retries > 0) != patience.is_some() {
        return wrong("budget.retries", "requests are repeated only with both `budget.retries` and `service.patience`");
    }
    if operator.contains(&OperatorAct::DestroyCrashed) && scenario.budget.crashes == 0 {
        return wrong("budget.crashes", "`destroy-crashed` waits for a crash; allow at least 1");
    }
    if let Some(place) = scenario.promises.iter().position(|promise| needs_sequencer.contains(&promise.property))
        && sequencer == Sequencer::None
    {
        let property = scenario.promises[place].property;
        let message = format!("`{property}` is about tokens, and `service.sequencer` is `none`; choose one");
        return Err(Mistake::at(&format!("promise.{place}.property"), message));
    }
    Ok(())
}

impl Settings {
    /// What this recipe's sessions are created with.
    pub fn terms(&self) -> super::Terms {
        super::Terms { ttl: self.ttl, lock_delay: self.lock_delay, behavior: self.behavior }
    }
}
