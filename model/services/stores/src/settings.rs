//! The settings of a scenario, and their validation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{QUEUE, RANKED, RECORDS, StoreMessage, Stores, TOKENS};
use fencepost_model::assumption::Declarations;
use fencepost_model::held::Held;
use fencepost_model::ids::ClientId;
use fencepost_model::normal::Normal;
use fencepost_model::properties::Property;
use fencepost_model::scenario::{Note, OptionalBudget, Scenario, SettingError};
use fencepost_model::service;
use fencepost_model::time::Ticks;

/// The `[service]` table. A setting of one system is refused in the others.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The number of slots.
    pub limit: u8,
    /// How long a client waits before it asks again, in ticks.
    pub retry_every: Ticks,
    /// How long it waits for a response, in ticks; it then repeats the request, `budget.retries` times at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<Ticks>,
    /// `token-pool`: the age at which a taken token is freed by the next client that looks for one, in ticks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale_after: Option<Ticks>,
    /// `token-pool`: how a token is released.
    pub give_back: GiveBack,
    /// `ranked-semaphore`: the order of clients.
    pub sequence: Sequence,
    /// `ranked-semaphore`: the age beyond which timestamps are equivalent, in ticks. No request that old may be in
    /// flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Ticks>,
    /// `ranked-semaphore`: how a client gets its rank.
    pub joins: Joins,
    /// `holder-records`: the TTL that each client writes into its record, in ticks; 0 or missing: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ttls: Vec<Ticks>,
    /// `holder-records`: how long a record without TTL is valid, in ticks; none: without limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_ttl: Option<Ticks>,
    /// `holder-records`: the answer to a holder that asks again.
    pub reentry: Reentry,
    /// `sequence-queue`: whether a client finds its own entry again.
    pub nodes: Nodes,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            limit: 1,
            retry_every: Ticks::new(1),
            patience: None,
            stale_after: None,
            give_back: GiveBack::Conditional,
            sequence: Sequence::Tickets,
            memory: None,
            joins: Joins::Atomic,
            ttls: Vec::new(),
            without_ttl: None,
            reentry: Reentry::NewRecord,
            nodes: Nodes::Named,
        }
    }
}

/// How a token is released (B-33).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GiveBack {
    /// The client pushes it, even if another client has it by now.
    Unconditional,
    /// The client first checks whether it still has it, and then pushes it.
    CheckThenPush,
    /// The check and the push are one step.
    Conditional,
}

/// The order of clients (B-34).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sequence {
    /// The numbers of a counter.
    Tickets,
    /// The clocks of the clients.
    Timestamps,
}

/// How a client gets its rank (B-34).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Joins {
    /// It draws a ticket, inserts itself, and asks for its rank.
    StepByStep,
    /// All requests in one step.
    Atomic,
}

/// The answer to a holder that asks again because it has lost its memory (B-35).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reentry {
    /// It is refused: no slot is free.
    Refused,
    /// It enters with its existing record.
    SameRecord,
    /// It enters with a new number, and its earlier requests become invalid.
    NewRecord,
}

/// How the store distinguishes a client's entry from others (B-47).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Nodes {
    /// By the number in the response only.
    Anonymous,
    /// By a name that the client chose before: a repeated request creates no second entry.
    Named,
}

impl Settings {
    pub(super) fn ttl_of(&self, client: ClientId) -> Option<Ticks> {
        self.ttls.get(client.place()).copied().filter(|ttl| *ttl > Ticks::ZERO).or(self.without_ttl)
    }
}

impl service::Settings<Stores> for Settings {
    fn durations(&mut self, visit: &mut dyn FnMut(&mut Ticks)) {
        let Settings { retry_every, patience, stale_after, memory, ttls, without_ttl, .. } = self;
        let optional = [patience, stale_after, memory, without_ttl].into_iter().flatten();
        [retry_every].into_iter().chain(optional).chain(ttls.iter_mut()).for_each(visit);
    }

    fn capacity(&self) -> usize {
        self.limit.into()
    }

    /// A queue with one place is a lock; the other systems count slots, even if there is one.
    fn held(scenario: &Scenario<Stores>) -> Held {
        if scenario.system == QUEUE && scenario.service.limit == 1 { Held::Lock } else { Held::Slot }
    }

    fn server_name(_: &Scenario<Stores>, _: Option<(ClientId, &StoreMessage)>) -> String {
        "the store".to_owned()
    }

    /// Clients with different TTLs differ; and of equal timestamps the first client's comes first.
    fn are_alike(&self, one: ClientId, other: ClientId) -> bool {
        self.sequence == Sequence::Tickets && self.ttl_of(one) == self.ttl_of(other)
    }

    fn tokens_are_indexes(&self) -> bool {
        true
    }

    fn validate(scenario: &Scenario<Stores>) -> Result<(), SettingError> {
        validate(scenario)
    }

    fn notes(scenario: &Scenario<Stores>) -> Vec<Note> {
        notes(scenario)
    }

    fn assumptions(scenario: &Scenario<Stores>, list: &mut Declarations<Stores>) {
        super::assumptions::declare(scenario, list);
    }
}

type Verdict = Result<(), SettingError>;

/// Settings without effect, because the budget that they need is 0.
pub(super) fn notes(scenario: &Scenario<Stores>) -> Vec<Note> {
    let is_idle = scenario.service.patience.is_some() && scenario.budget.retries == 0;
    is_idle.then(|| Note::without_budget("service.patience", "retries")).into_iter().collect()
}

pub(super) fn validate(scenario: &Scenario<Stores>) -> Verdict {
    let (settings, plain) = (&scenario.service, Settings::default());
    let wrong = |path: &str, message: &str| Err(SettingError::at(path, message));
    if settings.limit == 0 {
        return wrong("service.limit", "with 0 slots no client can enter; write at least 1");
    }
    let is_zero = |ticks: Option<Ticks>| ticks == Some(Ticks::ZERO);
    if settings.retry_every == Ticks::ZERO || is_zero(settings.patience) {
        return wrong("service", "`retry_every` and `patience` of 0 ticks would stop time; write at least 1");
    }
    if is_zero(settings.stale_after) || is_zero(settings.without_ttl) {
        return wrong("service", "`stale_after` and `without_ttl` must be at least 1");
    }
    if settings.patience.is_none() && scenario.budget.retries > 0 {
        return wrong("service.patience", "a repeated request needs both `service.patience` and `budget.retries`");
    }
    for (is_said, system, path) in [
        (settings.stale_after.is_some(), TOKENS, "service.stale_after"),
        (settings.give_back != plain.give_back, TOKENS, "service.give_back"),
        (settings.sequence != plain.sequence, RANKED, "service.sequence"),
        (settings.memory.is_some(), RANKED, "service.memory"),
        (settings.joins != plain.joins, RANKED, "service.joins"),
        (!settings.ttls.is_empty(), RECORDS, "service.ttls"),
        (settings.without_ttl.is_some(), RECORDS, "service.without_ttl"),
        (settings.reentry != plain.reentry, RECORDS, "service.reentry"),
        (settings.nodes != plain.nodes, QUEUE, "service.nodes"),
    ] {
        if is_said && scenario.system != system {
            return Err(SettingError::at(
                path,
                format!("this setting belongs to a `{system}`; this is a `{}`", scenario.system),
            ));
        }
    }
    if settings.sequence == Sequence::Timestamps {
        timestamps(scenario)?;
    }
    if scenario.system == QUEUE && scenario.budget.crashes > 0 {
        return wrong("budget.crashes", "this queue does not handle entries of crashed clients; remove the setting");
    }
    scenario.validate_programs()?;
    if settings.sequence == Sequence::Timestamps && !scenario.programs.is_empty() {
        return wrong("program", "a program has no clock that it could read, and writes no timestamps");
    }
    scenario.has_none(&[OptionalBudget::Operator])?;
    for (place, promise) in scenario.promises.iter().enumerate() {
        let property = promise.property;
        let fits = match property {
            Property::SlotLimit | Property::SlotLimitBelief | Property::EventuallyAcquired | Property::Progress => true,
            Property::SlotConservation => scenario.system == TOKENS,
            Property::MutualExclusion => settings.limit == 1,
            Property::NoPanic => !scenario.programs.is_empty(),
            _ => false,
        };
        if !fits {
            let message = format!("`{property}` does not apply to such a `{}`", scenario.system);
            return Err(SettingError::at(&format!("promise.{place}.property"), message));
        }
    }
    if scenario.writes > 0 {
        return wrong("writes", "these clients do not write; remove `writes`");
    }
    Ok(())
}

/// Timestamps need bounded clock skew: otherwise they could not be distinguished from old ones.
fn timestamps(scenario: &Scenario<Stores>) -> Verdict {
    let settings = &scenario.service;
    if settings.joins == Joins::StepByStep {
        return Err(SettingError::at(
            "service.joins",
            "the client draws a timestamp itself: it cannot take separate steps",
        ));
    }
    let clocks = &scenario.clocks;
    let apart = clocks.offsets.iter().map(|offset| offset.count().abs()).max().unwrap_or(0) + clocks.skew.count();
    match (scenario.synchrony.message_delay, settings.memory) {
        (Some(delay), Some(memory)) if delay.count() + 2 * apart < memory.count() => Ok(()),
        _ => Err(SettingError::at(
            "service.memory",
            "timestamps need `synchrony.message_delay`, and a `memory` longer than the message delay plus twice the maximum skew",
        )),
    }
}
