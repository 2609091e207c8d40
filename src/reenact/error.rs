//! Why a server cannot be driven.

use std::fmt;

/// Why a server cannot be driven.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerError(pub String);

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ServerError {}

impl From<fencepost_amqp::BrokerError> for ServerError {
    fn from(error: fencepost_amqp::BrokerError) -> Self {
        ServerError(error.to_string())
    }
}
