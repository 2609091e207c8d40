//! The methods of the RabbitMQ model as frames to a real broker, and what the broker says as the model's answers.
//!
//! The codec is that of `amq-protocol`; connections are plain sockets, for here it matters which frame goes when, and what comes back
//! in which order. Client libraries close, reopen and number channels by themselves.
//!
//! ```text
//! address     where a broker is, and as which user
//! connection  opening a connection, and frames that arrive on it
//! writer      frames that go to the broker: requests as methods
//! answers     methods from the broker as answers
//! ask         one request, and its answer waited for
//! life        heartbeats, and the end of a connection
//! error       why a broker cannot be talked to
//! ```

mod address;
mod answers;
mod ask;
mod connection;
mod error;
mod life;
mod writer;

pub use address::BrokerAddress;
pub use answers::{answer, problem};
pub use connection::{ConnectionEnd, Opened, Polled};
pub use error::BrokerError;
pub use writer::{FrameWriter, short};
