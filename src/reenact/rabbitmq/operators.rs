//! What operators do: as another client of the broker, or with their tool.

use fencepost_model::ids::SessionId;
use fencepost_rabbitmq::{Keeps, Name, OperatorAction, QueueProperties, Request};

use super::drive::BrokerDriver;
use crate::error::ServerError;

impl BrokerDriver<'_> {
    /// Carries out what an operator does.
    pub(super) fn operate(&mut self, action: OperatorAction) -> Result<(), ServerError> {
        match action {
            OperatorAction::Delete(name @ Name::Holder(_)) => {
                let queue = self.stage.queue(name);
                let deletion = self.stage.broker.begin_tool(&["delete_queue", &queue])?;
                self.run(deletion)
            }
            OperatorAction::Delete(name) => self.stage.done(Request::Delete { name, if_empty: false }),
            OperatorAction::Declare(name) => {
                // F-43: it belongs to no connection.
                let shape = QueueProperties { keeps: Keeps::Nothing, ..QueueProperties::default() };
                self.stage.done(Request::Declare { name, shape })
            }
            OperatorAction::Close(id) => self.close_by_force(id),
        }
    }

    /// R-Q-38: by the port of the client's end.
    fn close_by_force(&mut self, id: SessionId) -> Result<(), ServerError> {
        let Some(port) = self.connections.end(id)?.and_then(|end| end.port()) else { return Ok(()) };
        let find = format!("{{peer_port, {port}}}");
        let program = format!(
            "'[rabbit_networking:close_connection(Pid, \"fencepost reenact\") || \
             [{{pid, Pid}}, {find}] <- rabbit_networking:connection_info_all([pid, peer_port])].'"
        );
        let closing = self.stage.broker.begin_tool(&["eval", &program])?;
        self.run(closing)?;
        self.await_close(id)
    }
}
