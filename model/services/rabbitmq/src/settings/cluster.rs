//! The settings of the broker's nodes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_default;
use fencepost_model::time::Ticks;

/// The nodes of the broker.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cluster {
    /// The number of nodes, from 1 to 3.
    pub nodes: u8,
    /// The node of each client's connection, administrators last; node 1 for clients beyond the list.
    pub clients_at: Vec<u8>,
    /// The node of each slot queue, by its number from 1; node 1 for slots beyond the list (R-Q-61).
    pub slots_at: Vec<u8>,
    /// The node of an exclusive queue.
    #[serde(skip_serializing_if = "is_default")]
    pub holders: Placement,
    /// The reaction of nodes to a partition.
    #[serde(skip_serializing_if = "is_default")]
    pub split: Split,
    /// The time until a node notices a partition, in ticks (R-Q-63).
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
    /// The node to which the client at this index is connected.
    pub fn node_of(&self, place: usize) -> u8 {
        self.clients_at.get(place).copied().unwrap_or(1)
    }

    /// The node on which a slot queue lives.
    pub fn home_of(&self, slot: u8) -> u8 {
        let place = usize::from(slot).checked_sub(1);
        place.and_then(|place| self.slots_at.get(place)).copied().unwrap_or(1)
    }
}

/// The node of an exclusive queue.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// The node of its connection (R-Q-61).
    #[default]
    WithOwner,
    /// The last node, as in older releases (B-39).
    Elsewhere,
}

/// The reaction of nodes to a partition (R-Q-71).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// Each side continues without the exclusive queues of the other, and nothing repairs it (R-Q-64).
    #[default]
    Ignore,
    /// Like `ignore`; when the partition heals, the nodes of the losing side restart (R-Q-65).
    Autoheal,
    /// The nodes of the minority close their connections and stop (R-Q-66).
    PauseMinority,
    /// The majority drops the records of exclusive queues on the other side, where they continue (R-Q-69, before PR
    /// 14573).
    KhepriDrops,
    /// Records of exclusive queues stay, so their names stay locked (R-Q-69, since PR 14573).
    KhepriKeeps,
}
