//! Lock-delay: keys that cannot be acquired yet. The invalidation routine sets it, an acquire checks it.

use serde::{Deserialize, Serialize};

use super::Server;
use crate::Consul;
use crate::ConsulMutation;
use crate::messages::Key;
use fencepost_model::normal::Normal;
use fencepost_model::process::Context;
use fencepost_model::time::{Deadline, Ticks};

/// A key that cannot be acquired before `until`. C-LD-7: it belongs to the name, whether or not the entry exists.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub(super) struct Delay {
    pub(super) key: Key,
    pub(super) until: Deadline,
    /// Its full length: restarted servers restart it. C-LD-12.
    pub(super) length: Ticks,
}

impl Delay {
    /// Whether it is only the timer of an earlier delay. C-LD-14.
    pub(super) fn is_timer(&self) -> bool {
        self.length == Ticks::ZERO
    }
}

impl Server {
    /// C-LD-1, C-LD-3: starts when the session ends; capped at use; none if zero.
    pub(super) fn delay(&mut self, key: Key, asked: Ticks, context: &Context<'_, Consul>) {
        let mut delay = context.scenario.service.capped(asked);
        if context.is_mutated(ConsulMutation::LockDelayUncapped) {
            delay = asked;
        }
        if context.is_mutated(ConsulMutation::LockDelayTooShort) {
            delay = delay - Ticks::new(1);
        }
        if delay <= Ticks::ZERO {
            return;
        }
        let end = Deadline(context.now + delay);
        self.delays.retain(|other| other.key != key || !other.until.is_due(context.now));
        // C-LD-14: each delay has a timer that removes the key's entry, even if a later delay has set it. Timers of
        // earlier delays are kept as delays without a length. Where a clock may jump back, those timers have fired
        // already.
        let mut first = None;
        if context.scenario.clocks.skew > Ticks::ZERO {
            self.delays.retain(|other| other.key != key);
        }
        for other in self.delays.iter_mut().filter(|other| other.key == key) {
            other.length = Ticks::ZERO;
            first = Some(first.map_or(other.until, |first: Deadline| first.min(other.until)));
        }
        let until = first.map_or(end, |first| first.min(end));
        self.delays.insert_sorted(Delay { key, until, length: delay });
        if until < end {
            self.delays.insert_sorted(Delay { key, until: end, length: Ticks::ZERO });
        }
    }

    /// The number of lock-delays that were set and not yet removed.
    pub fn delay_count(&self) -> usize {
        self.delays.len()
    }

    /// C-LD-2: refused while the deadline is ahead.
    pub fn is_delayed(&self, key: Key, context: &Context<'_, Consul>) -> bool {
        !context.is_mutated(ConsulMutation::LockDelayIgnored)
            && self
                .delays
                .iter()
                .any(|delay| (delay.key, delay.is_timer()) == (key, false) && !delay.until.is_due(context.now))
    }
}
