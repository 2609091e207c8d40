//! The `[service]` table of a RabbitMQ scenario: the queues, and the settings of clients. Literal and corrected
//! variants of a client are settings of one recipe, not copies. A choice that the published text leaves open is a
//! setting, too.
//!
//! `administration` has the settings of administrators, `cluster` those of nodes, `validate` the checks.

mod administration;
mod cluster;
mod kernel;
mod validate;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RabbitMq;
use super::messages::{Keeps, QueueProperties};
use fencepost_model::scenario::settings_from_toml;
use fencepost_model::time::Ticks;

pub use administration::{Adds, Administration, Base, Counts, Failure, Operation, Order, Overshoot, Removes, Retries};
pub use cluster::{Cluster, Placement, Split};
pub(super) use validate::{notes, validate};

/// The semaphore as published, literally where the text is definite. The defaults are the corrected semaphore.
pub(super) const RECIPES: &[(&str, &str)] =
    &[("persistent-semaphore", include_str!("../../recipes/persistent-semaphore.toml"))];

/// The highest slot number of a scenario.
pub const NUMBERS: u8 = 7;

/// Settings of the broker and of its clients.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The numbers of the slot queues that exist at the start.
    pub slots: Vec<u8>,
    /// The properties of slot queues.
    pub queues: QueueProperties,
    /// The messages that holders' queues keep; holders' queues are exclusive.
    pub holders_keep: Keeps,
    /// The heartbeat T that clients and broker agree on, in ticks; none: 0, so silence is never noticed (R-Q-46).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<Ticks>,
    /// The maximum age of the last frame of a client that becomes silent, in ticks (R-Q-43: a client sends a heartbeat
    /// every T/2).
    pub beat: Ticks,
    /// The end of a crashed client's socket.
    pub crash: Socket,
    /// The number of messages that fills the broker's memory (R-Q-47); none: it is never full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u8>,
    /// Whether the disk may be full for some time, within `budget.disk_alarms` (R-Q-47).
    #[serde(skip_serializing_if = "is_default")]
    pub alarms: bool,
    /// How a client checks that a queue exists.
    pub probe: Probe,
    /// The number at which the search for a free slot begins.
    #[serde(skip_serializing_if = "is_default")]
    pub first: First,
    /// The number at which it continues after a lost race.
    pub after_race: AfterRace,
    /// The number of lost races after which a client stops; none: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u8>,
    /// The reaction of a client to a refused declaration of a holder's queue.
    #[serde(skip_serializing_if = "is_default")]
    pub after_refusal: AfterRefusal,
    /// Whether a client that found no free slot tries again.
    pub persists: bool,
    /// How long a client waits before it tries again, in ticks.
    pub retry_every: Ticks,
    /// The time after which a client gives up a request, within `budget.retries`, in ticks; none: it waits without
    /// limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<Ticks>,
    /// The reaction of a client then.
    #[serde(skip_serializing_if = "is_default")]
    pub silence: Silence,
    /// How a client verifies a held slot.
    pub verify: Verify,
    /// Whether it verifies the slot before it reports success.
    pub verifies_first: bool,
    /// Whether users ask for a verification.
    #[serde(skip_serializing_if = "is_default")]
    pub verifies_when_asked: bool,
    /// The time between verifications by the client itself, in ticks; none: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify_every: Option<Ticks>,
    /// Whether the client stops by itself when its last answered request is too old (R-Q-90): after twice the heartbeat
    /// minus this margin, in ticks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_margin: Option<Ticks>,
    /// The reaction of a client to the loss of its connection.
    pub lost_connection: LostConnection,
    /// Whether each client has a connection of its own.
    #[serde(skip_serializing_if = "is_default")]
    pub connections: Connections,
    /// How a client releases a slot.
    pub release: Release,
    /// Administrators.
    #[serde(skip_serializing_if = "is_default")]
    pub administration: Administration,
    /// Nodes.
    #[serde(skip_serializing_if = "is_default")]
    pub cluster: Cluster,
    /// The operator actions, within `budget.operator`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operator: Vec<OperatorActionKind>,
    /// The fate of the lock's message when a partition heals (B-36).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_heal: Option<OnHeal>,
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            slots: vec![1],
            queues: QueueProperties { durable: true, keeps: Keeps::Nothing, ..QueueProperties::default() },
            holders_keep: Keeps::Nothing,
            heartbeat: None,
            beat: Ticks::ZERO,
            crash: Socket::Closes,
            memory: None,
            alarms: false,
            probe: Probe::Publish,
            first: First::default(),
            after_race: AfterRace::First,
            attempts: None,
            after_refusal: AfterRefusal::Reopen,
            persists: true,
            retry_every: Ticks::new(1),
            patience: None,
            silence: Silence::HangUp,
            verify: Verify::Both,
            verifies_first: true,
            verifies_when_asked: false,
            verify_every: None,
            lease_margin: None,
            lost_connection: LostConnection::Lost,
            connections: Connections::Own,
            release: Release::Delete,
            administration: Administration::default(),
            cluster: Cluster::default(),
            operator: Vec::new(),
            on_heal: None,
        }
    }
}

/// The end of a crashed client's socket.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Socket {
    /// Its kernel closes the socket, and the broker notices it soon (R-Q-39).
    #[default]
    Closes,
    /// The socket stays open: the broker notices missing heartbeats only.
    StaysOpen,
}

/// How a client checks that a queue exists.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Probe {
    /// By a mandatory publish with confirms (R-Q-17, R-Q-81).
    #[default]
    Publish,
    /// By a publish with confirms that is not mandatory (F-1, R-Q-18).
    PublishUnchecked,
    /// By a passive declare, which closes the channel if there is none (R-Q-8).
    Passive,
    /// By a passive declare; the client takes every error as absence (F-2).
    PassiveCareless,
}

/// The number at which the search for a free slot begins.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum First {
    /// This number.
    At(u8),
    /// A random number from 1 to this.
    Random(u8),
}

impl Default for First {
    fn default() -> Self {
        First::At(1)
    }
}

/// The number at which the search continues after a lost race.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterRace {
    /// The number at which it began.
    #[default]
    First,
    /// The same number.
    Same,
    /// The next number.
    Next,
}

/// The reaction of a client to a refused declaration, which closes its channel.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterRefusal {
    /// It opens the channel again.
    #[default]
    Reopen,
    /// It continues without a channel (F-27, R-Q-31).
    GoesOn,
    /// It takes the refusal as final (B-38).
    GivesUp,
}

/// The reaction of a client to a missing response.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Silence {
    /// It closes the socket, which releases everything that it may hold.
    #[default]
    HangUp,
    /// It opens another connection and forgets the old one (F-37).
    Forget,
    /// It takes a missing response as *no such queue* (F-2).
    Absent,
}

/// How a client verifies a held slot.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verify {
    /// By a probe of its slot queue, as the text says (F-32, F-33).
    Slot,
    /// By a probe of the slot queue and of the holder's queue.
    SlotAndProbe,
    /// By declaring the holder's queue again (F-34).
    Redeclare,
    /// By a passive declare of the holder's queue, and then a probe of the slot queue (R-Q-89).
    #[default]
    Both,
}

/// The reaction of a client to the loss of its connection.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LostConnection {
    /// Its slot is lost with it.
    #[default]
    Lost,
    /// Its library opens another connection, and the client continues (F-32).
    Replaced,
    /// Its library opens another connection and declares its queues again (F-35).
    Recovered,
}

/// Whether each client has a connection of its own.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Connections {
    /// Each client has its own connection.
    #[default]
    Own,
    /// All clients share one connection (F-31, R-Q-53).
    Shared,
}

/// How a client releases a slot.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// By deleting the holder's queue (R-Q-88).
    #[default]
    Delete,
    /// By closing the channel, which has no effect on the queue (F-38, R-Q-35).
    CloseChannel,
    /// By closing the connection (R-Q-37).
    CloseConnection,
    /// It does not release the slot.
    Never,
}

/// The operator actions.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OperatorActionKind {
    /// Delete a holder's queue (R-Q-16).
    DeleteHolder,
    /// Delete a slot queue (R-Q-15).
    DeleteSlot,
    /// Declare a holder's queue that is not exclusive (F-43).
    DeclareHolder,
    /// Close a connection by force (R-Q-38).
    CloseConnection,
}

/// The fate of the message that is a lock when a partition heals.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnHeal {
    /// It is duplicated.
    Doubles,
    /// It is lost.
    Vanishes,
}

impl Settings {
    /// Ready-made settings, by the name in a scenario's `recipe`.
    pub fn of_recipe(name: &str) -> Option<Settings> {
        let (_, text) = RECIPES.iter().find(|(other, _)| *other == name)?;
        Some(settings_from_toml::<RabbitMq>(text).expect("a recipe is well-formed"))
    }

    /// The properties of a slot queue.
    pub fn slot_shape(&self) -> QueueProperties {
        self.queues
    }

    /// The properties of a holder's queue.
    pub fn holder_shape(&self) -> QueueProperties {
        QueueProperties { exclusive: true, keeps: self.holders_keep, ..QueueProperties::default() }
    }
}
