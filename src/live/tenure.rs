//! What the user's code has in hand while the client is inside.

use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use fencepost_model::ids::Token;

use crate::driver::Event;

/// A tenure, from the moment at which the recipe entered.
pub struct Tenure {
    token: Token,
    lost: Mutex<bool>,
    change: Condvar,
    events: Sender<Event>,
}

impl Tenure {
    pub(crate) fn new(token: Token, events: Sender<Event>) -> Self {
        Tenure { token, lost: Mutex::new(false), change: Condvar::new(), events }
    }

    /// The fencing token that the recipe entered with, to send along with each write; 0: it has none.
    pub fn token(&self) -> Token {
        self.token
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
        // The driver is gone once the round is over: no program writes any more.
        let _ = self.events.send(Event::Write);
    }

    pub(crate) fn lose(&self) {
        *self.lost.lock().expect("no thread panics while it holds the lock") = true;
        self.change.notify_all();
    }
}
