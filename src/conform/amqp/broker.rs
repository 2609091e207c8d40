//! A running broker, as the commands here need it.

use fencepost_amqp::{BrokerAddress, BrokerError, ConnectionEnd};

use crate::ConformError;

/// A running broker.
#[derive(Clone, Debug)]
pub struct Broker {
    address: BrokerAddress,
    /// Its version.
    pub version: String,
    /// Whether queues that a killed run has left behind are deleted; else they are an error.
    pub removes_leftovers: bool,
    /// How late its timers may be, in milliseconds; none: there is no bound.
    pub lateness: Option<u32>,
    /// A shell command that restarts it, if there may be restarts. Its data must outlast it.
    pub restart: Option<String>,
}

/// How late the timers of a broker may be unless it is said, in milliseconds. A busy machine wakes processes late.
const LATENESS: u32 = 900;

/// The user with few permissions; its password is its name.
const LIMITED: &str = "limited";

impl Broker {
    /// Connects to the broker at an address like `amqp://127.0.0.1:5672`, as guest unless it names another user.
    ///
    /// # Errors
    /// There is no RabbitMQ broker at the address.
    pub fn connect(address: &str) -> Result<Self, ConformError> {
        let address = BrokerAddress::parse(address)?;
        let version = address.open("", 0)?.version;
        Ok(Broker::at(address, version))
    }

    /// The broker at an address.
    pub(super) fn at(address: BrokerAddress, version: String) -> Self {
        Broker { address, version, removes_leftovers: false, lateness: Some(LATENESS), restart: None }
    }

    /// Opens a connection with a channel 1 that confirms; each queue's name begins with the prefix.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn line(&self, prefix: &str) -> Result<ConnectionEnd, ConformError> {
        self.line_with_heartbeat(prefix, 0)
    }

    /// The same with a heartbeat value, in seconds; 0: no heartbeats.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn line_with_heartbeat(&self, prefix: &str, heartbeat: u16) -> Result<ConnectionEnd, ConformError> {
        Ok(self.address.open(prefix, heartbeat)?.end)
    }

    /// The same as the user with few permissions; none: there is no such user.
    ///
    /// # Errors
    /// It cannot be opened for another reason.
    pub fn limited_line(&self, prefix: &str) -> Result<Option<ConnectionEnd>, ConformError> {
        match self.address.as_user(LIMITED, LIMITED).open(prefix, 0) {
            Ok(opened) => Ok(Some(opened.end)),
            Err(BrokerError::UserRefused { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl From<BrokerError> for ConformError {
    fn from(error: BrokerError) -> Self {
        ConformError(error.to_string())
    }
}
