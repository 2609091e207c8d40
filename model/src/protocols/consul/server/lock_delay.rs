//! Lock-delay: which keys cannot be acquired yet. Set by the invalidation routine, looked at when somebody acquires.

use serde::{Deserialize, Serialize};

use super::Server;
use crate::mutation::Mutation;
use crate::process::Context;
use crate::protocols::consul::Consul;
use crate::protocols::consul::messages::Key;
use crate::time::{Instant, Ticks};

/// A key that cannot be acquired before `until`. C-LD-7: it belongs to the name, whatever becomes of the entry.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub(super) struct Delay {
    pub(super) key: Key,
    pub(super) until: Instant,
    /// How long it is in full: servers that start anew start it anew. C-LD-12.
    pub(super) length: Ticks,
}

impl Server {
    /// C-LD-1, C-LD-3: starts when the session ends; capped at use; nothing if zero.
    pub(super) fn delay(&mut self, key: Key, asked: Ticks, context: &Context<'_, Consul>) {
        let cap = context.scenario.service.lock_delay_max;
        let mut delay = cap.map_or(asked, |cap| asked.min(cap));
        if context.is_mutated(Mutation::LockDelayTooShort) {
            delay = delay - Ticks::new(1);
        }
        if delay <= Ticks::ZERO {
            return;
        }
        self.delays.retain(|other| other.key != key);
        self.delays.insert_sorted(Delay { key, until: context.now + delay, length: delay });
    }

    /// C-LD-2: refused while the deadline is ahead.
    pub(super) fn is_delayed(&self, key: Key, context: &Context<'_, Consul>) -> bool {
        !context.is_mutated(Mutation::LockDelayIgnored)
            && self.delays.iter().any(|delay| delay.key == key && delay.until > context.now)
    }
}
