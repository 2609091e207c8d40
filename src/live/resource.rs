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
        Err(self.lacks(format!("write to key {key}")))
    }

    /// The number of writes to one of its keys that were accepted so far.
    ///
    /// # Errors
    /// The round ends with it; usually, that the resource has no keys.
    fn version_of(&mut self, key: u8) -> Result<u32, LiveError> {
        Err(self.lacks(format!("read key {key}")))
    }

    /// The next item of a work queue, which is removed if it is taken; none if the queue is empty.
    ///
    /// # Errors
    /// The round ends with it; usually, that there is no work queue.
    fn next_item(&mut self, takes: bool) -> Result<Option<QueueItem>, LiveError> {
        Err(self.lacks(if takes { "take an item" } else { "ask which item is next" }.to_owned()))
    }

    /// Does the work on an item: whether the token was accepted.
    ///
    /// # Errors
    /// The round ends with it; usually, that there is no work queue.
    fn handle_item(&mut self, item: QueueItem, _token: Token) -> Result<bool, LiveError> {
        Err(self.lacks(format!("handle {item}")))
    }

    /// Removes an item from the work queue: whether the token was accepted.
    ///
    /// # Errors
    /// The round ends with it; usually, that there is no work queue.
    fn finish_item(&mut self, item: QueueItem, _token: Token) -> Result<bool, LiveError> {
        Err(self.lacks(format!("finish {item}")))
    }

    /// Does both at once: whether the token was accepted, and the item was still there.
    ///
    /// # Errors
    /// The round ends with it; usually, that there is no work queue.
    fn complete_item(&mut self, item: QueueItem, _token: Token) -> Result<bool, LiveError> {
        Err(self.lacks(format!("handle and finish {item}")))
    }

    /// The error of what it cannot do.
    #[doc(hidden)]
    fn lacks(&self, what: String) -> LiveError {
        LiveError::ResourceLacks(what)
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
    fn lacks(&self, _: String) -> LiveError {
        LiveError::NoResource
    }

    fn write(&mut self, _: Token) -> Result<bool, LiveError> {
        Err(LiveError::NoResource)
    }

    fn version(&mut self) -> Result<u32, LiveError> {
        Err(LiveError::NoResource)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A resource that is written as one thing.
    struct Plain;

    impl Resource for Plain {
        fn write(&mut self, _: Token) -> Result<bool, LiveError> {
            Ok(true)
        }

        fn version(&mut self) -> Result<u32, LiveError> {
            Ok(0)
        }
    }

    #[test]
    fn what_a_resource_leaves_out_is_named_and_without_one_it_says_how_to_get_one() {
        let item = QueueItem::try_from(2).expect("it is one");
        let all = |resource: &mut dyn Resource| {
            let errors = [
                resource.write_to(3, Token::numbered(1)).err(),
                resource.version_of(4).err(),
                resource.next_item(true).err(),
                resource.next_item(false).err(),
                resource.handle_item(item, Token::numbered(1)).err(),
                resource.finish_item(item, Token::numbered(1)).err(),
                resource.complete_item(item, Token::numbered(1)).err(),
            ];
            errors.map(|error| error.expect("it cannot do this").to_string())
        };
        let named = [
            "write to key 3",
            "read key 4",
            "take an item",
            "which item is next",
            "handle item 2",
            "finish item 2",
            "handle and",
        ];
        for (error, what) in all(&mut Plain).iter().zip(named) {
            assert!(error.contains(what) && error.contains("`Resource`"), "{error}");
        }
        assert!(all(&mut NoResource).iter().all(|error| error.contains("`hold_with`")));
    }
}
