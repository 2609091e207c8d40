//! What cannot be caused from outside.

use fencepost_model::ids::ProcessId;
use fencepost_model::scenario::Scenario;
use fencepost_model::world::{Action, Fault};
use fencepost_rabbitmq::{Name, OperatorAction, RabbitMq, RabbitmqFault};

use crate::driven::Means;
use crate::outcome::Obstacle;

/// What in the scenario describes another broker than RabbitMQ 3.10.8.
pub(super) fn of_scenario(scenario: &Scenario<RabbitMq>) -> Option<Obstacle> {
    // R-Q-47: a few messages fill no real memory.
    scenario.service.memory.map(|_| Obstacle::Alarm)
}

/// What in the action cannot be caused.
pub(super) fn of_action(action: &Action<RabbitMq>, means: Means) -> Option<Obstacle> {
    match action {
        Action::Slip { process: ProcessId::Server, .. } => Some(Obstacle::ServerClock),
        Action::Fault(Fault::Pause(ProcessId::Server)) => Some(Obstacle::ServerPause),
        Action::Fault(Fault::Service(fault)) => match fault {
            RabbitmqFault::Drop(_) => None,
            RabbitmqFault::Restart => (!means.restart).then_some(Obstacle::Restart),
            RabbitmqFault::Alarm | RabbitmqFault::Relief => Some(Obstacle::Alarm),
            RabbitmqFault::Down(_) | RabbitmqFault::Up(_) | RabbitmqFault::Split(_) | RabbitmqFault::Heal => {
                Some(Obstacle::Cluster)
            }
        },
        Action::Operator(action) => (needs_tool(*action) && !means.tool).then_some(Obstacle::Tool),
        _ => None,
    }
}

/// Whether an operator needs more than AMQP: the queue of another connection (R-Q-12, R-Q-16), or a connection itself (R-Q-38).
pub(super) fn needs_tool(action: OperatorAction) -> bool {
    matches!(action, OperatorAction::Delete(Name::Holder(_)) | OperatorAction::Close(_))
}
