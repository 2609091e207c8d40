//! What a client has while it believes that it is inside: its token goes with each of its writes.

use std::fmt;

use super::Programmable;
use super::handle::{Handle, Operation};
use crate::fact::Leaving;
use crate::ids::{RawId, Token};
use crate::work_queue::QueueItem;

/// A tenure of a program, with the token that goes with each write.
///
/// It stands for what the client believes, and is not that belief: dropping it changes nothing, for a lap may end while the client stays
/// inside. The next lap has it again from [`Handle::guard`]. [`leave`](TenureGuard::leave) consumes it, so nothing is written with it afterwards.
///
/// ```
/// use fencepost_model::fact::Leaving;
/// use fencepost_model::ids::Token;
/// use fencepost_model::program::{Gone, Handle, Programmable};
///
/// async fn write_once<S: Programmable>(client: &Handle<S>, token: Token) -> Result<(), Gone> {
///     let tenure = client.enter(token);
///     // Refused: another client has written with a higher token.
///     if !tenure.write().await {
///         tenure.leave(Leaving::Notified);
///         return Err(Gone);
///     }
///     tenure.leave(Leaving::Done);
///     Ok(())
/// }
/// ```
pub struct TenureGuard<S: Programmable> {
    handle: Handle<S>,
    token: Token,
}

impl<S: Programmable> TenureGuard<S> {
    pub(super) fn new(handle: Handle<S>, token: Token) -> Self {
        TenureGuard { handle, token }
    }

    /// The token that its writes carry.
    pub fn token(&self) -> Token {
        self.token
    }

    /// [`Handle::write`] with the token.
    pub fn write(&self) -> Operation<S, bool> {
        self.handle.write(self.token)
    }

    /// [`Handle::send_write`] with the token.
    pub fn send_write(&self) {
        self.handle.send_write(self.token);
    }

    /// [`Handle::write_to`] with the token.
    ///
    /// # Panics
    /// There is no such key.
    pub fn write_to(&self, key: u8) -> Operation<S, bool> {
        self.handle.write_to(key, self.token)
    }

    /// [`Handle::handle_item`] with the token.
    pub fn handle_item(&self, item: QueueItem) -> Operation<S, bool> {
        self.handle.handle_item(item, self.token)
    }

    /// [`Handle::finish_item`] with the token.
    pub fn finish_item(&self, item: QueueItem) -> Operation<S, bool> {
        self.handle.finish_item(item, self.token)
    }

    /// [`Handle::complete_item`] with the token.
    pub fn complete_item(&self, item: QueueItem) -> Operation<S, bool> {
        self.handle.complete_item(item, self.token)
    }

    /// The client does not believe any more that it is inside, for this reason.
    pub fn leave(self, why: Leaving) {
        self.handle.leave(why);
    }
}

impl<S: Programmable> fmt::Debug for TenureGuard<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Guard of {} with token {}", self.handle.me(), self.token.raw())
    }
}
