//! The settings of a lock as the doctor asks about them.

use fencepost_consul::Consul;
use fencepost_consul_explore::SERVICE;
use fencepost_model::process::Message;
use fencepost_model::scenario::{Expect, Scenario};
use fencepost_model::units::Duration;
use fencepost_registry::Erase;

use super::coarse::{Keeping, LockScenario, Told};
use super::question::{LOCK_DELAY_MAX, LockBelief, LockQuestion, TTL_MAX};
use super::{assumptions, messages, narrower, paces, price, promise, wider};
use crate::asked::{Asked, InTicks, QuestionError, SmallScenario};
use crate::pace::Pace;
use crate::promise::Promise;
use crate::quantity::{Direction, Quantity, QuantityValue, count};
use crate::repair::{Change, Price};
use crate::rounding::{FINEST, down, sum, times};

impl Asked for LockQuestion {
    type Service = Consul;
    type Small = LockScenario;

    const STATES_MAX: u64 = 3_000_000;
    const EVEN_CLOCKS: &'static str = "the clocks of clients are never slower than the servers'";

    fn validate(&self) -> Result<(), QuestionError> {
        LockQuestion::validate(self)
    }

    fn notes(&self) -> Vec<String> {
        LockQuestion::notes(self)
    }

    fn heading(&self) -> String {
        let or_none = |duration: Option<Duration>| duration.map_or("none".to_owned(), |duration| duration.to_string());
        let (what, delay) = match self.slots {
            None => (String::new(), self.lock_delay.to_string()),
            Some(slots) => (format!(", {slots} slots"), "for no slot".to_owned()),
        };
        let (ttl, mut renew) = (or_none(self.ttl), or_none(self.renew_every));
        if self.follows_ttl() {
            renew += " (half the TTL)";
        }
        let grace = if self.grace > Duration::ZERO { format!(", grace {}", self.grace) } else { String::new() };
        let fencing = if self.fencing { ", fencing" } else { "" };
        let alarm = if self.false_alarm { ", gossip wrong once" } else { "" };
        format!(
            "consul-lock, recipe {}{what}: ttl {ttl}, lock-delay {delay}, renew-every {renew}, belief {}{grace}{fencing}\n\
             within these bounds: pause {}, latency {}, drift {}{alarm}",
            self.recipe, self.belief, self.pause, self.latency, self.drift
        )
    }

    fn promises(&self) -> &'static [Promise] {
        match self.slots {
            None => &[Promise::MutualExclusion, Promise::NoLostUpdate, Promise::KeepsLock],
            Some(_) => &[Promise::SlotLimit, Promise::KeepsLock],
        }
    }

    fn quantities() -> &'static [Quantity] {
        &[
            Quantity::Ttl,
            Quantity::LockDelay,
            Quantity::RenewEvery,
            Quantity::Grace,
            Quantity::Pause,
            Quantity::Latency,
            Quantity::Drift,
        ]
    }

    fn value(&self, quantity: Quantity) -> Option<QuantityValue> {
        Some(match quantity {
            Quantity::Ttl => QuantityValue::Duration(self.ttl?),
            // It protects no slot (C-SEM-11).
            Quantity::LockDelay => QuantityValue::Duration(Some(self.lock_delay).filter(|_| self.slots.is_none())?),
            Quantity::RenewEvery => QuantityValue::Duration(self.renew_every.filter(|_| !self.follows_ttl())?),
            Quantity::Grace => QuantityValue::Duration(Some(self.grace).filter(|grace| *grace > Duration::ZERO)?),
            Quantity::Pause => QuantityValue::Duration(self.pause),
            Quantity::Latency => QuantityValue::Duration(self.latency),
            Quantity::Drift => QuantityValue::Rate(self.drift),
            _ => return None,
        })
    }

    fn set(&mut self, quantity: Quantity, value: QuantityValue) -> bool {
        match (quantity, value) {
            (Quantity::Ttl, QuantityValue::Duration(value)) => self.set_ttl(Some(value)),
            (Quantity::LockDelay, QuantityValue::Duration(value)) => self.lock_delay = value,
            (Quantity::RenewEvery, QuantityValue::Duration(value)) => self.set_renew_every(Some(value)),
            (Quantity::Grace, QuantityValue::Duration(value)) => self.grace = value,
            (Quantity::Pause, QuantityValue::Duration(value)) => self.pause = value,
            (Quantity::Latency, QuantityValue::Duration(value)) => self.latency = value,
            (Quantity::Drift, QuantityValue::Rate(value)) => self.drift = value,
            _ => return false,
        }
        true
    }

    fn scale(&self) -> Duration {
        self.ttl.unwrap_or(self.lock_delay)
    }

    fn limit(&self, quantity: Quantity, direction: Direction) -> i64 {
        let ttl = self.ttl.unwrap_or_default();
        let scale = sum(sum(times(ttl, 2), self.lock_delay), sum(self.pause, self.latency));
        let far = down(times(scale.max(Duration::of_seconds(1)), 4).min(TTL_MAX), FINEST);
        let now = self.value(quantity).map_or(0, count);
        match (quantity, direction) {
            (Quantity::Drift, Direction::Up) => 1_000_000,
            (Quantity::LockDelay, Direction::Up) => down(LOCK_DELAY_MAX, FINEST),
            (Quantity::Ttl | Quantity::RenewEvery, Direction::Down) => (now / 32).max(1),
            (_, Direction::Down) => 0,
            (_, Direction::Up) => far.max(now),
        }
    }

    fn wider(&self, promise: Promise) -> Vec<InTicks<LockScenario>> {
        wider::candidates(self, promise)
    }

    fn narrower(&self, promise: Promise) -> Vec<InTicks<LockScenario>> {
        narrower::candidates(self, promise)
    }

    fn exactly(&self, promise: Promise, _: &InTicks<LockScenario>) -> Scenario<Consul> {
        promise::exactly(self, promise)
    }

    fn paces(&self, sized: &InTicks<LockScenario>) -> Vec<Pace> {
        paces::paces(sized, self)
    }

    fn other_kinds(&self, promise: Promise) -> Vec<(Change, Self)> {
        let mut changes = Vec::new();
        if self.belief != LockBelief::SelfLimiting && self.ttl.is_some() {
            changes.push((Change::Belief, LockQuestion { belief: LockBelief::SelfLimiting, ..self.clone() }));
        }
        if promise == Promise::NoLostUpdate && !self.fencing {
            changes.push((Change::Fencing, LockQuestion { fencing: true, ..self.clone() }));
        }
        if self.false_alarm && self.ttl.is_some() {
            changes.push((Change::NoChecks, LockQuestion { false_alarm: false, ..self.clone() }));
        }
        changes
    }

    fn price(&self) -> Price {
        price::price(self)
    }

    fn assumptions(&self, promise: Promise) -> Vec<String> {
        assumptions::assumptions(self, promise)
    }
}

impl SmallScenario for LockScenario {
    type Service = Consul;

    fn scenario(&self) -> Scenario<Consul> {
        LockScenario::scenario(self)
    }

    fn erase() -> Erase<Consul> {
        SERVICE.erase()
    }

    /// Bounds on lateness only forbid. The servers may be as late as they like, so an execution with a longer lock-delay is one with a
    /// shorter lock-delay. The wait of a refused client differs, and takes part in no violation: no client is inside any more
    /// when it asks again.
    fn is_wider_than(&self, other: &LockScenario) -> bool {
        match (self, other) {
            (LockScenario::Lease(own), LockScenario::Lease(other)) => own.is_wider_than(other),
            (LockScenario::Told(own), LockScenario::Told(other)) => {
                let bounds = Told { delay: other.delay, message: other.message, wake: other.wake, ..*own } == *other;
                bounds && own.delay <= other.delay && own.message >= other.message && own.wake >= other.wake
            }
            (LockScenario::Keeping(own), LockScenario::Keeping(other)) => {
                let bounds = Keeping { message: other.message, wake: other.wake, ..*own } == *other;
                bounds && own.message >= other.message && own.wake >= other.wake
            }
            _ => self == other,
        }
    }

    fn for_file(&self, promise: Promise, expect: Expect, about: String) -> Option<(Scenario<Consul>, String)> {
        let mut remarks = String::new();
        if matches!(self, LockScenario::Keeping(_)) {
            remarks += "# A client that lives keeps its lock if and only if none of its writes is accepted after the end of its tenure: that is\n# `sequencer-sound`, for one client that never releases by itself.\n";
            if promise != Promise::KeepsLock {
                remarks += &format!("# No lock is taken away from a holder, so `{promise}` is kept as well.\n");
            }
        }
        Some((LockScenario::for_file(self, expect, about), remarks))
    }

    fn is_alike(one: &Message<Consul>, other: &Message<Consul>) -> bool {
        messages::kind(one) == messages::kind(other)
    }

    fn leaves_out(message: &Message<Consul>) -> bool {
        messages::is_of_read(message)
    }

    fn is_created(message: &Message<Consul>) -> bool {
        messages::is_created(message)
    }
}
