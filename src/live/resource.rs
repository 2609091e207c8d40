//! What the recipe itself reads and writes under the lock.

use fencepost_model::ids::Token;
use fencepost_model::work_queue::QueueItem;

use crate::LiveError;

/// The protected resource of recipes that read or write it themselves.
pub trait Resource {
    /// A write with this fencing token (0: none is sent): whether it was accepted.
    ///
    /// # Errors
    /// The round ends with it.
    fn write(&mut self, token: Token) -> Result<bool, LiveError>;

    /// A write to one of its keys, from 0: whether it was accepted.
    ///
    /// # Errors
    /// The round ends with it; usually, that the resource has no keys.
    fn write_to(&mut self, key: u8, _token: Token) -> Result<bool, LiveError> {
        Err(LiveError::ResourceLacks(format!("write to key {key}")))
    }

    /// The next item of a work queue, which is removed if it is taken; none if the queue is empty.
    ///
    /// # Errors
    /// The round ends with it; usually, that there is no work queue.
    fn next_item(&mut self, takes: bool) -> Result<Option<QueueItem>, LiveError> {
        Err(LiveError::ResourceLacks(if takes { "take an item" } else { "ask which item is next" }.to_owned()))
    }

    /// Does the work on an item: whether the token was accepted.
    ///
    /// # Errors
    /// The round ends with it; usually, that there is no work queue.
    fn handle_item(&mut self, item: QueueItem, _token: Token) -> Result<bool, LiveError> {
        Err(LiveError::ResourceLacks(format!("handle {item}")))
    }

    /// Removes an item from the work queue: whether the token was accepted.
    ///
    /// # Errors
    /// The round ends with it; usually, that there is no work queue.
    fn finish_item(&mut self, item: QueueItem, _token: Token) -> Result<bool, LiveError> {
        Err(LiveError::ResourceLacks(format!("finish {item}")))
    }

    /// Does both at once: whether the token was accepted, and the item was still there.
    ///
    /// # Errors
    /// The round ends with it; usually, that there is no work queue.
    fn complete_item(&mut self, item: QueueItem, _token: Token) -> Result<bool, LiveError> {
        Err(LiveError::ResourceLacks(format!("handle and finish {item}")))
    }

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
