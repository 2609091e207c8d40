//! What happens among the nodes of a broker.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_default;
use fencepost_model::time::Ticks;

/// The nodes of the broker.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cluster {
    /// How many there are: up to 3.
    pub nodes: u8,
    /// The node to which each client is connected, administrators last; those beyond the list: node 1.
    pub clients_at: Vec<u8>,
    /// The node on which each slot queue lives, by its number from 1; those beyond the list: node 1 (R-Q-61).
    pub slots_at: Vec<u8>,
    /// Where an exclusive queue lives.
    #[serde(skip_serializing_if = "is_default")]
    pub holders: Placement,
    /// What nodes do when they cannot see each other.
    #[serde(skip_serializing_if = "is_default")]
    pub split: Split,
    /// How long a node takes to notice that (R-Q-63).
    #[serde(skip_serializing_if = "is_default")]
    pub tick: Ticks,
    /// The nodes that may go down, within `budget.node_crashes`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub go_down: Vec<u8>,
    /// Whether a node may be cut off from the others, within `budget.partitions`.
    #[serde(skip_serializing_if = "is_default")]
    pub splits: bool,
}

impl Default for Cluster {
    fn default() -> Self {
        Cluster {
            nodes: 1,
            clients_at: Vec::new(),
            slots_at: Vec::new(),
            holders: Placement::WithOwner,
            split: Split::Ignore,
            tick: Ticks::ZERO,
            go_down: Vec::new(),
            splits: false,
        }
    }
}

impl Cluster {
    /// The node to which the client at this place is connected.
    pub fn node_of(&self, place: usize) -> u8 {
        self.clients_at.get(place).copied().unwrap_or(1)
    }

    /// The node on which a slot queue lives.
    pub fn home_of(&self, slot: u8) -> u8 {
        let place = usize::from(slot).checked_sub(1);
        place.and_then(|place| self.slots_at.get(place)).copied().unwrap_or(1)
    }
}

/// Where an exclusive queue lives.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// On the node of its connection (R-Q-61).
    #[default]
    WithOwner,
    /// On the last node, as older releases could place it (B-39).
    Elsewhere,
}

/// What nodes do when they cannot see each other (R-Q-71).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// Each side goes on, without the exclusive queues of the other, and nobody mends it (R-Q-64).
    #[default]
    Ignore,
    /// The same; when it is over, the nodes of the losing side start anew (R-Q-65).
    Autoheal,
    /// The nodes of the minority close their connections and stop (R-Q-66).
    PauseMinority,
    /// The majority drops the records of exclusive queues on the other side, which go on there (R-Q-69, before PR 14573).
    KhepriDrops,
    /// Records of exclusive queues stay, and so their names stay locked (R-Q-69, since PR 14573).
    KhepriKeeps,
}
