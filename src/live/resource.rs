//! What the recipe itself reads and writes under the lock.

use fencepost_model::ids::Token;

use crate::LiveError;

/// The protected resource of recipes that read or write it themselves.
pub trait Resource {
    /// A write with this fencing token (0: none is sent): whether it was accepted.
    ///
    /// # Errors
    /// The round ends with it.
    fn write(&mut self, token: Token) -> Result<bool, LiveError>;

    /// The number of writes that were accepted so far.
    ///
    /// # Errors
    /// The round ends with it.
    fn version(&mut self) -> Result<u32, LiveError>;
}

/// No resource: clients only enter and leave.
pub(crate) struct NoResource;

impl Resource for NoResource {
    fn write(&mut self, _: Token) -> Result<bool, LiveError> {
        Err(LiveError::NoResource)
    }

    fn version(&mut self) -> Result<u32, LiveError> {
        Err(LiveError::NoResource)
    }
}
