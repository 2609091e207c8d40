//! Constants of a scenario, and what it must not say.

use serde::{Deserialize, Serialize};

use super::{COPIED, Replicas};
use crate::properties::Property;
use crate::scenario::{Misfortune, Mistake, Scenario};
use crate::time::Ticks;

/// The `[service]` table. What one system only has is refused in the other.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// How many nodes there are, up to 7.
    pub nodes: u8,
    /// `redlock`: for how long a node keeps a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<Ticks>,
    /// `redlock`: how much earlier a client stops.
    pub drift: Ticks,
    /// `redlock`: from when on a client counts its lease.
    pub validity: Validity,
    /// `redlock`: whether a node that starts anew still has its key.
    pub keeps: bool,
    /// `redlock`: for how long it does not answer.
    pub restart_delay: Ticks,
    /// `redlock`: whether the clock of a node may jump ahead; each jump counts as an outage.
    pub jumps: bool,
    /// `copied-lock`: when the lock is granted.
    pub grants: Grants,
    /// `copied-lock`: whether the leading node may fail; that counts as an outage.
    pub fails: bool,
    /// `copied-lock`: whether a node may be cut off, each side with clients of its own; that counts as an outage.
    pub splits: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            nodes: 3,
            lease: None,
            drift: Ticks::ZERO,
            validity: Validity::FromRequest,
            keeps: false,
            restart_delay: Ticks::ZERO,
            jumps: false,
            grants: Grants::ByQuorum,
            fails: false,
            splits: false,
        }
    }
}

/// From when on a client counts its lease.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Validity {
    /// From before it asked: what the answers took is taken off.
    FromRequest,
    /// From the answer that made the majority.
    FromAnswer,
}

/// When a lock that is copied is granted.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grants {
    /// As soon as the leading node has it.
    AtOnce,
    /// When a majority of all nodes has it.
    ByQuorum,
}

impl Settings {
    /// How long a node keeps a key; no time at all where it is not said.
    pub(super) fn lease(&self) -> Ticks {
        self.lease.unwrap_or_default()
    }

    pub(super) fn scaled(&self, factor: i64) -> Self {
        Settings {
            lease: self.lease.map(|lease| lease.times(factor)),
            drift: self.drift.times(factor),
            restart_delay: self.restart_delay.times(factor),
            ..self.clone()
        }
    }

    pub(super) fn longest(&self) -> Ticks {
        self.lease().max(self.drift).max(self.restart_delay)
    }

    pub(super) fn assumptions(&self) -> Vec<String> {
        vec!["values are unique, and a key is deleted only by whoever wrote it".to_owned()]
    }
}

pub(super) fn validate(scenario: &Scenario<Replicas>) -> Result<(), Mistake> {
    let (settings, plain, budget) = (&scenario.service, Settings::default(), scenario.budget);
    let wrong = |path: &str, message: &str| Err(Mistake::at(path, message));
    if !(1..=7).contains(&settings.nodes) {
        return wrong("service.nodes", "there may be from 1 to 7 nodes");
    }
    let is_copied = scenario.system == COPIED;
    for (is_said, is_about_copies, path) in [
        (settings.lease.is_some(), false, "service.lease"),
        (settings.drift != plain.drift, false, "service.drift"),
        (settings.validity != plain.validity, false, "service.validity"),
        (settings.keeps, false, "service.keeps"),
        (settings.restart_delay != plain.restart_delay, false, "service.restart_delay"),
        (settings.jumps, false, "service.jumps"),
        (budget.server_restarts > 0, false, "budget.server_restarts"),
        (settings.grants != plain.grants, true, "service.grants"),
        (settings.fails, true, "service.fails"),
        (settings.splits, true, "service.splits"),
    ] {
        if is_said && is_about_copies != is_copied {
            return Err(Mistake::at(path, format!("that says nothing about a `{}`", scenario.system)));
        }
    }
    if !is_copied && settings.drift >= settings.lease() {
        return wrong("service.lease", "say for how long nodes keep a key; it must be longer than `drift`");
    }
    if (budget.outages > 0) != (settings.jumps || settings.fails || settings.splits) {
        return wrong(
            "budget.outages",
            "there are outages only with both `budget.outages` and one of `service.jumps`, `fails`, `splits`",
        );
    }
    if budget.endless_outages {
        return wrong(
            "budget.endless_outages",
            "an outage of these nodes costs; say in `outages` how many there may be",
        );
    }
    scenario.has_none(&[Misfortune::Operator, Misfortune::FalseAlarms, Misfortune::Retries])?;
    if scenario.writes > 0 {
        return wrong("writes", "these clients write nothing; leave it out");
    }
    for (place, promise) in scenario.promises.iter().enumerate() {
        let fits = match promise.property {
            Property::MutualExclusion => true,
            Property::SingleOwner => is_copied,
            Property::LeaseExclusion => !is_copied,
            _ => false,
        };
        if !fits {
            let message = format!("`{}` says nothing about a `{}`", promise.property, scenario.system);
            return Err(Mistake::at(&format!("promise.{place}.property"), message));
        }
    }
    Ok(())
}
