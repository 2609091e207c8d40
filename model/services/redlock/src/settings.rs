//! The settings of a scenario, and their validation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{COPIED, Redlock, RedlockFault, RedlockMessage};
use fencepost_model::assumption::Declarations;
use fencepost_model::ids::ClientId;
use fencepost_model::normal::Normal;
use fencepost_model::properties::Property;
use fencepost_model::scenario::{Note, OptionalBudget, Scenario, SettingError};
use fencepost_model::service;
use fencepost_model::service_fault::ServiceFault;
use fencepost_model::time::Ticks;

/// The `[service]` table. A setting of one system is refused in the other.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The number of nodes, from 1 to 7.
    pub nodes: u8,
    /// `redlock`: how long a node keeps a key, in ticks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<Ticks>,
    /// `redlock`: how much earlier a client stops, in ticks.
    pub drift: Ticks,
    /// `redlock`: the start of a client's lease.
    pub validity: Validity,
    /// `redlock`: whether a restarted node still has its key.
    pub keeps: bool,
    /// `redlock`: how long a restarted node does not respond, in ticks.
    pub restart_delay: Ticks,
    /// `redlock`: whether the clock of a node may jump ahead, within `budget.clock_jumps`.
    pub jumps: bool,
    /// `copied-lock`: when the lock is granted.
    pub grants: Grants,
    /// `copied-lock`: whether the leading node may crash, within `budget.node_crashes`.
    pub fails: bool,
    /// `copied-lock`: whether a node may be cut off, each side with clients of its own, within `budget.splits`.
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

/// The start of a client's lease.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Validity {
    /// The first request: the time of the responses is subtracted.
    FromRequest,
    /// The response that completed the majority.
    FromAnswer,
}

/// The instant at which a replicated lock is granted.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Grants {
    /// As soon as the leader has it.
    AtOnce,
    /// When a majority of all nodes has it.
    ByQuorum,
}

impl Settings {
    /// The lease of a key; 0 ticks if it is not set.
    pub(super) fn lease(&self) -> Ticks {
        self.lease.unwrap_or_default()
    }
}

impl service::Settings<Redlock> for Settings {
    fn durations(&mut self, visit: &mut dyn FnMut(&mut Ticks)) {
        let Settings { lease, drift, restart_delay, .. } = self;
        lease.iter_mut().chain([drift, restart_delay]).for_each(visit);
    }

    /// Clients on different sides of a partition differ.
    fn are_alike(&self, one: ClientId, other: ClientId) -> bool {
        !self.splits || one.place() % 2 == other.place() % 2
    }

    /// The nodes are independent: a message is for one of them.
    fn server_name(_: &Scenario<Redlock>, message: Option<(ClientId, &RedlockMessage)>) -> String {
        message.map_or_else(|| "the group of nodes".to_owned(), |(_, message)| message.node())
    }

    fn fault_is_possible(scenario: &Scenario<Redlock>, kind: usize) -> Result<(), &'static str> {
        fault_is_possible(scenario, kind)
    }

    fn validate(scenario: &Scenario<Redlock>) -> Result<(), SettingError> {
        validate(scenario)
    }

    fn notes(scenario: &Scenario<Redlock>) -> Vec<Note> {
        notes(scenario)
    }

    fn assumptions(scenario: &Scenario<Redlock>, list: &mut Declarations<Redlock>) {
        super::assumptions::declare(scenario, list);
    }
}

/// Settings without effect, because the budget that they need is 0.
pub(super) fn notes(scenario: &Scenario<Redlock>) -> Vec<Note> {
    let Settings { jumps, fails, splits, .. } = scenario.service;
    [
        (jumps, RedlockFault::JUMP, "service.jumps"),
        (fails, RedlockFault::CRASH, "service.fails"),
        (splits, RedlockFault::SPLIT, "service.splits"),
    ]
    .into_iter()
    .filter(|(is_set, kind, _)| *is_set && !scenario.budget.affords(*kind))
    .map(|(_, kind, path)| Note::without_budget(path, RedlockFault::KINDS[kind].budget))
    .collect()
}

pub(super) fn validate(scenario: &Scenario<Redlock>) -> Result<(), SettingError> {
    let (settings, plain) = (&scenario.service, Settings::default());
    let wrong = |path: &str, message: &str| Err(SettingError::at(path, message));
    if !(1..=7).contains(&settings.nodes) {
        return wrong("service.nodes", "write a number of nodes from 1 to 7");
    }
    let is_copied = scenario.system == COPIED;
    for (is_said, is_about_copies, path) in [
        (settings.lease.is_some(), false, "service.lease"),
        (settings.drift != plain.drift, false, "service.drift"),
        (settings.validity != plain.validity, false, "service.validity"),
        (settings.keeps, false, "service.keeps"),
        (settings.restart_delay != plain.restart_delay, false, "service.restart_delay"),
        (settings.jumps, false, "service.jumps"),
        (settings.grants != plain.grants, true, "service.grants"),
        (settings.fails, true, "service.fails"),
        (settings.splits, true, "service.splits"),
    ] {
        if is_said && is_about_copies != is_copied {
            return Err(SettingError::at(path, format!("this setting does not apply to a `{}`", scenario.system)));
        }
    }
    if !is_copied && settings.drift >= settings.lease() {
        return wrong("service.lease", "set how long nodes keep a key, longer than `service.drift`");
    }
    scenario.validate_programs()?;
    scenario.has_none(&[OptionalBudget::Operator, OptionalBudget::Retries])?;
    if scenario.writes > 0 {
        return wrong("writes", "these clients do not write; remove `writes`");
    }
    for (place, promise) in scenario.promises.iter().enumerate() {
        let fits = match promise.property {
            Property::MutualExclusion => true,
            Property::SingleOwner => is_copied,
            Property::LeaseExclusion => !is_copied,
            Property::NoPanic => !scenario.programs.is_empty(),
            _ => false,
        };
        if !fits {
            let message = format!("`{}` does not apply to a `{}`", promise.property, scenario.system);
            return Err(SettingError::at(&format!("promise.{place}.property"), message));
        }
    }
    Ok(())
}

pub(super) fn fault_is_possible(scenario: &Scenario<Redlock>, kind: usize) -> Result<(), &'static str> {
    let (settings, is_copied) = (&scenario.service, scenario.system == COPIED);
    let (is_possible, what) = match kind {
        RedlockFault::RESTART => {
            (!is_copied, "only nodes of a `redlock` restart; nodes of a `copied-lock` fail permanently")
        }
        RedlockFault::JUMP => (settings.jumps, "clocks jump only with `service.jumps = true`"),
        RedlockFault::CRASH => (settings.fails, "the leader crashes only with `service.fails = true`"),
        RedlockFault::SPLIT => (settings.splits, "nodes are partitioned only with `service.splits = true`"),
        _ => (true, ""),
    };
    if is_possible { Ok(()) } else { Err(what) }
}
