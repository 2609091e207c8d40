//! What happens on a connection besides requests: heartbeats, and its end.

use std::time::Duration;

use amq_protocol::frame::AMQPFrame;
use amq_protocol::protocol::AMQPClass;
use amq_protocol::protocol::connection::{self, AMQPMethod as Connection};
use fencepost_rabbitmq::Name;

use crate::{BrokerError, ConnectionEnd, Polled};

impl ConnectionEnd {
    /// Sends a heartbeat frame (R-Q-44).
    ///
    /// # Errors
    /// The frame cannot be written.
    pub fn beat(&mut self) -> Result<(), BrokerError> {
        self.writer.write(&AMQPFrame::Heartbeat)
    }

    /// Whether the broker has closed the connection or its socket. Frames that come before that are skipped. R-Q-38.
    ///
    /// # Errors
    /// The socket fails in another way.
    pub fn is_over(&mut self, patience: Duration) -> Result<bool, BrokerError> {
        loop {
            match self.poll(patience)? {
                Polled::Frame(frame) => {
                    if let AMQPFrame::Method(_, AMQPClass::Connection(Connection::Close(_))) = *frame {
                        self.writer.send(0, AMQPClass::Connection(Connection::CloseOk(connection::CloseOk {})))?;
                        return Ok(true);
                    }
                }
                Polled::Quiet => return Ok(false),
                Polled::Closed => return Ok(true),
            }
        }
    }

    /// The name of a queue, as the broker has it.
    pub fn queue(&self, name: Name) -> String {
        self.writer.name(name).as_str().to_owned()
    }

    /// The port of the client's end, by which the broker's operator finds the connection.
    pub fn port(&self) -> Option<u16> {
        self.writer.socket.local_addr().ok().map(|address| address.port())
    }
}
