//! The `[service]` table of a RabbitMQ scenario: the queues, and the knobs of those who use them. Literal and corrected variants of a
//! client are knobs of one recipe, not copies; what the published text leaves open is a knob, too.
//!
//! `administration` names the choices of administrators, `cluster` what happens among nodes, `validate` what cannot be meant.

mod administration;
mod cluster;
mod kernel;
mod validate;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::messages::{Keeps, Shape};
use fencepost_model::time::Ticks;

pub use administration::{Adds, Administration, Base, Counts, Failure, Operation, Order, Overshoot, Removes, Retries};
pub use cluster::{Cluster, Placement, Split};
pub(super) use validate::{notes, validate};

/// The semaphore as it is published, word for word where that is definite; the defaults are the corrected one.
pub(super) const RECIPES: &[(&str, &str)] =
    &[("persistent-semaphore", include_str!("../../recipes/persistent-semaphore.toml"))];

/// Numbers of slots that a scenario can speak of.
pub const NUMBERS: u8 = 7;

/// Settings of the broker and of those who use it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The numbers of the slot queues that exist at the start.
    pub slots: Vec<u8>,
    /// What slot queues are declared to be.
    pub queues: Shape,
    /// What holders' queues keep; they are exclusive.
    pub holders_keep: Keeps,
    /// The heartbeat value T that clients and broker agree on; none: 0, so that silence is never noticed (R-Q-46).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<Ticks>,
    /// How long before it falls silent a client may have been heard last (R-Q-43: it beats every T/2).
    pub beat: Ticks,
    /// How a dead client's socket goes.
    pub crash: Socket,
    /// How many messages fill the broker's memory (R-Q-47); none: there is always room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u8>,
    /// Whether the disk may run full for a while, within `budget.disk_alarms` (R-Q-47).
    #[serde(skip_serializing_if = "is_default")]
    pub alarms: bool,
    /// How the existence of a queue is determined.
    pub probe: Probe,
    /// Where the search for a free slot begins.
    #[serde(skip_serializing_if = "is_default")]
    pub first: First,
    /// Where it goes on after a race that was lost.
    pub after_race: AfterRace,
    /// How many races a client loses before it gives up; none: any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u8>,
    /// What a client does when the declaration of a holder's queue is refused.
    #[serde(skip_serializing_if = "is_default")]
    pub after_refusal: AfterRefusal,
    /// Whether a client that found no slot tries again.
    pub persists: bool,
    /// How long a client waits before it tries again.
    pub retry_every: Ticks,
    /// After which time a client gives up a request, within `budget.retries`; none: it waits for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<Ticks>,
    /// What it does then.
    #[serde(skip_serializing_if = "is_default")]
    pub silence: Silence,
    /// How a held slot is verified.
    pub verify: Verify,
    /// Whether it is verified before success is reported.
    pub verifies_first: bool,
    /// Whether users ask for it to be verified.
    #[serde(skip_serializing_if = "is_default")]
    pub verifies_when_asked: bool,
    /// How often the client verifies it by itself; none: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify_every: Option<Ticks>,
    /// Whether the client stops by itself when its last answered request is too long ago (R-Q-90): after twice the heartbeat, less this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_margin: Option<Ticks>,
    /// What a client does when its connection is lost.
    pub lost_connection: LostConnection,
    /// Whether each client has a connection of its own.
    #[serde(skip_serializing_if = "is_default")]
    pub connections: Connections,
    /// How a slot is given back.
    pub release: Release,
    /// Administrators.
    #[serde(skip_serializing_if = "is_default")]
    pub administration: Administration,
    /// Nodes.
    #[serde(skip_serializing_if = "is_default")]
    pub cluster: Cluster,
    /// What an operator or a bystander may do, within `budget.operator`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operator: Vec<OperatorActionKind>,
    /// What becomes of the lock's message when a partition heals (B-36).
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
            queues: Shape { durable: true, keeps: Keeps::Nothing, ..Shape::default() },
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

/// How the socket of a client that has died goes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Socket {
    /// Its kernel closes it, and the broker notices soon (R-Q-39).
    #[default]
    Closes,
    /// Nobody does: only heartbeats tell.
    StaysOpen,
}

/// How the existence of a queue is determined.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Probe {
    /// By a mandatory publish with confirms (R-Q-17, R-Q-81).
    #[default]
    Publish,
    /// By a publish with confirms that is not mandatory (F-1, R-Q-18).
    PublishUnchecked,
    /// By a passive declare, which breaks the channel when there is none (R-Q-8).
    Passive,
    /// By a passive declare, of which every error is taken for absence (F-2).
    PassiveCareless,
}

/// Where the search for a free slot begins.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum First {
    /// At this number.
    At(u8),
    /// At a random one from 1 to this.
    Random(u8),
}

impl Default for First {
    fn default() -> Self {
        First::At(1)
    }
}

/// Where the search goes on after a lost race.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterRace {
    /// Where it began.
    #[default]
    First,
    /// At the same number.
    Same,
    /// At the next one.
    Next,
}

/// What a client does when its declaration is refused, and its channel closed with it.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterRefusal {
    /// It opens the channel again.
    #[default]
    Reopen,
    /// It goes on without (F-27, R-Q-31).
    GoesOn,
    /// It takes the refusal as final (B-38).
    GivesUp,
}

/// What a client does when no answer comes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Silence {
    /// It closes the socket, and with it whatever it may have come to hold.
    #[default]
    HangUp,
    /// It opens another connection and forgets the old one (F-37).
    Forget,
    /// It takes silence for *no such queue* (F-2).
    Absent,
}

/// How a held slot is verified.
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

/// What a client does when its connection is lost.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LostConnection {
    /// Its slot is lost with it.
    #[default]
    Lost,
    /// Its library opens another one, and it goes on (F-32).
    Replaced,
    /// Its library opens another one and declares its queues again (F-35).
    Recovered,
}

/// Whether each client has a connection of its own.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Connections {
    /// It has.
    #[default]
    Own,
    /// All use one (F-31, R-Q-53).
    Shared,
}

/// How a slot is given back.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// By deleting the holder's queue (R-Q-88).
    #[default]
    Delete,
    /// By closing the channel, which does nothing (F-38, R-Q-35).
    CloseChannel,
    /// By closing the connection (R-Q-37).
    CloseConnection,
    /// Never.
    Never,
}

/// What an operator or a bystander may do.
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

/// What becomes of the message that is a lock when a partition heals.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnHeal {
    /// It is there twice.
    Doubles,
    /// It is lost.
    Vanishes,
}

impl Settings {
    /// Ready-made settings, as a scenario's `recipe` names them.
    pub fn of_recipe(name: &str) -> Option<Settings> {
        let (_, text) = RECIPES.iter().find(|(other, _)| *other == name)?;
        Some(toml::from_str(text).expect("a recipe is well-formed"))
    }

    /// What a slot queue is declared to be.
    pub fn slot_shape(&self) -> Shape {
        self.queues
    }

    /// What a holder's queue is declared to be.
    pub fn holder_shape(&self) -> Shape {
        Shape { exclusive: true, keeps: self.holders_keep, ..Shape::default() }
    }
}
