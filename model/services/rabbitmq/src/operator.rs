//! Operator actions on the broker: an operator has every permission.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::messages::{Name, QueueProperties};
use super::settings::OperatorActionKind;
use super::{Broker, RabbitMq, display};
use fencepost_model::ids::SessionId;
use fencepost_model::normal::Normal;
use fencepost_model::scenario::Scenario;
use fencepost_model::world::World;

/// One operator action.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperatorAction {
    /// Deletes a queue with or without an owner; no client is notified (R-Q-15, R-Q-16).
    Delete(Name),
    /// Declares a holder's queue that is not exclusive (F-43).
    Declare(Name),
    /// Closes a connection by force (R-Q-38).
    Close(SessionId),
}

/// The queue that an operator declares.
pub(super) const NOT_EXCLUSIVE: QueueProperties = QueueProperties {
    exclusive: false,
    durable: false,
    auto_delete: false,
    keeps: super::Keeps::Nothing,
    expires: None,
};

pub(super) fn offers(world: &World<RabbitMq>, scenario: &Scenario<RabbitMq>, offer: &mut dyn FnMut(OperatorAction)) {
    let broker: &Broker = &world.server.process;
    for action in &scenario.service.operator {
        match action {
            OperatorActionKind::DeleteHolder => broker
                .names()
                .filter(|name| matches!(name, Name::Holder(_)))
                .for_each(|name| offer(OperatorAction::Delete(name))),
            OperatorActionKind::DeleteSlot => {
                broker
                    .names()
                    .filter(|name| matches!(name, Name::Slot(_)))
                    .for_each(|name| offer(OperatorAction::Delete(name)));
            }
            OperatorActionKind::DeclareHolder => {
                let is_free = |name: &Name| broker.names().all(|other| other != *name);
                broker.slots().map(Name::Holder).filter(is_free).for_each(|name| offer(OperatorAction::Declare(name)));
            }
            OperatorActionKind::CloseConnection => {
                broker.connections().for_each(|connection| offer(OperatorAction::Close(connection.id)));
            }
        }
    }
}

impl fmt::Display for OperatorAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OperatorAction::Delete(name) => write!(f, "deletes {name}"),
            OperatorAction::Declare(name) => write!(f, "declares {name}, not exclusive"),
            OperatorAction::Close(id) => write!(f, "closes {}", display::connection(*id)),
        }
    }
}
