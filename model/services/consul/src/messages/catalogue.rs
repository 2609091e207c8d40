//! Nodes, services and checks, as the HTTP edge names and writes them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::server::Status;
use crate::settings::CheckKind;
use fencepost_model::ids::ClientId;
use fencepost_model::normal::Normal;

/// Something in the catalogue.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Item {
    /// A node.
    Node(ClientId),
    /// A service of a node, by its number at the edge.
    Service(ClientId, u16),
    /// A check of a node.
    Check(ClientId, CheckKind),
}

/// What was written of an item: equal texts are equal items (C-INV-17).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct Text {
    /// The number under which the edge keeps it.
    pub number: u32,
    /// Whether the text says everything; else another text may be the same item.
    pub is_exact: bool,
    /// Whether it names an id.
    pub has_id: bool,
}

/// An item with its text.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Registration {
    /// A node.
    Node(ClientId, Text),
    /// A service of a node.
    Service {
        /// The node.
        node: ClientId,
        /// The service.
        service: u16,
        /// Its text.
        text: Text,
        /// The number under which the edge keeps its name and its tags.
        face: u32,
    },
    /// A check of a node.
    Check {
        /// The node.
        node: ClientId,
        /// The check.
        kind: CheckKind,
        /// Its status.
        status: Status,
        /// The service that it belongs to.
        service: Option<u16>,
        /// Its text.
        text: Text,
    },
}

impl Registration {
    /// What is registered.
    pub fn item(self) -> Item {
        match self {
            Registration::Node(node, _) => Item::Node(node),
            Registration::Service { node, service, .. } => Item::Service(node, service),
            Registration::Check { node, kind, .. } => Item::Check(node, kind),
        }
    }

    /// How it is written.
    pub fn text(self) -> Text {
        match self {
            Registration::Node(_, text) | Registration::Service { text, .. } | Registration::Check { text, .. } => text,
        }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::Node(node) => write!(f, "{node}'s node"),
            Item::Service(node, service) => write!(f, "service {service} of {node}'s node"),
            Item::Check(node, kind) => write!(f, "{kind} of {node}'s node"),
        }
    }
}
