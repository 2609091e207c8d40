//! Why a broker cannot be talked to.

/// Why a broker cannot be talked to.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BrokerError {
    /// The address is none of a broker.
    #[error("{address}: {why}")]
    Address {
        /// The address.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// No connection can be opened.
    #[error("{address}: {why}")]
    Unreachable {
        /// The broker's host and port.
        address: String,
        /// The reason.
        why: String,
    },
    /// The broker refuses the user.
    #[error("{address}: the broker refuses the user {user}")]
    UserRefused {
        /// The broker's host and port.
        address: String,
        /// The user's name.
        user: String,
    },
    /// The socket fails in another way than by being closed.
    #[error("no answer: {0}")]
    Socket(String),
    /// No answer came in time.
    #[error("no answer for {0} s")]
    Silent(u64),
    /// The broker says what the model has no name for.
    #[error("{0}")]
    Unknown(String),
}
