//! Why a round for real ended early.

/// Why a round for real ended early.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The recipe gave up before it was inside.
    #[error("the recipe gave up before it held the lock: {0}")]
    GaveUp(String),
    /// The recipe panicked.
    #[error("the recipe panicked: {0}")]
    Panicked(String),
    /// A lap waits for more than the checker follows.
    #[error(
        "a lap of the recipe was told more than {} things: it would not be explored any further",
        fencepost_model::program::TOLD_MAX
    )]
    LapTooLong,
    /// The agent says something for which the model has no answer.
    #[error("{request}: the agent answers {status} {body:?}")]
    Answer {
        /// Method and path.
        request: String,
        /// HTTP's status.
        status: u16,
        /// The body, at most its first 200 bytes.
        body: String,
    },
    /// A value of the agent that does not fit into the model's.
    #[error("{what} is {value}; a state of the model has room for {most} at most")]
    TooLarge {
        /// The setting or the operation.
        what: &'static str,
        /// How much it is.
        value: u64,
        /// The maximum.
        most: u64,
    },
    /// A request that has no form over HTTP here.
    #[error("`{0}` is no request to a single agent")]
    Unsupported(String),
    /// The broker cannot be talked to, or says what the model has no name for.
    #[error(transparent)]
    Broker(#[from] fencepost_amqp::BrokerError),
    /// The recipe wants something of the protected resource that this one cannot do.
    #[error("the protected resource cannot do this: `{0}`. Its implementation of `Resource` leaves it out")]
    ResourceLacks(String),
    /// The recipe uses the protected resource, and there is none.
    #[error("the recipe reads or writes the protected resource: run it with `hold_with`")]
    NoResource,
    /// The operating system gave no random number.
    #[error("no random number: {0}")]
    Chance(String),
}
