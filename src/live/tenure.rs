//! What the user's code has in hand while the client is inside.

use std::fmt;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use fencepost_model::ids::Token;

use crate::server::UserRequest;

/// A tenure, from the moment at which the recipe entered.
pub struct Tenure {
    token: Token,
    slot: Option<u8>,
    lost: Mutex<bool>,
    change: Condvar,
    ask: Box<dyn Fn(UserRequest) + Send + Sync>,
}

impl fmt::Debug for Tenure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tenure { token, slot, lost, .. } = self;
        f.debug_struct("Tenure").field("token", token).field("slot", slot).field("lost", lost).finish_non_exhaustive()
    }
}

impl Tenure {
    pub(crate) fn new(token: Token, slot: Option<u8>, ask: impl Fn(UserRequest) + Send + Sync + 'static) -> Self {
        Tenure { token, slot, lost: Mutex::new(false), change: Condvar::new(), ask: Box::new(ask) }
    }

    /// The fencing token that the recipe entered with, to send along with each write; 0: it has none.
    pub fn token(&self) -> Token {
        self.token
    }

    /// The number of the slot, from 1, where a semaphore's slots have numbers.
    pub fn slot(&self) -> Option<u8> {
        self.slot
    }

    /// Whether the recipe has left the critical section by itself: it was notified, or its lease is over.
    pub fn is_lost(&self) -> bool {
        *self.lost.lock().expect("no thread panics while it holds the lock")
    }

    /// Waits so long, or until the tenure is lost; says whether it is still held.
    pub fn wait(&self, length: Duration) -> bool {
        let lost = self.lost.lock().expect("no thread panics while it holds the lock");
        let (lost, _) = self
            .change
            .wait_timeout_while(lost, length, |lost| !*lost)
            .expect("no thread panics while it holds the lock");
        !*lost
    }

    /// Asks the recipe to write to the resource, as its user does in a scenario. It does so at the next tick, if it still waits for
    /// its user then, and at most 254 times in a tenure.
    pub fn write(&self) {
        (self.ask)(UserRequest::Write);
    }

    /// Asks the recipe to verify that it still holds what it holds, where recipes of the service do that: it leaves if it does not.
    pub fn verify(&self) {
        (self.ask)(UserRequest::Verification);
    }

    pub(crate) fn lose(&self) {
        *self.lost.lock().expect("no thread panics while it holds the lock") = true;
        self.change.notify_all();
    }
}
