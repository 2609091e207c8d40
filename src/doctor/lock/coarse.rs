//! The small scenarios of locks and semaphores that are explored.

use std::fmt;

use fencepost_consul::{
    Behavior, BeliefRule, CheckKind, Consul, Job, Killed, Monitor, OperatorActionKind, Priced, Release, Semaphore,
    Settings,
};
use fencepost_model::scenario::{Goal, Scenario};
use fencepost_model::time::Ticks;

use super::promise::promising;
use crate::promise::Promise;

/// A small scenario, in ticks.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockScenario {
    /// Two clients that count their lease, one attempt each, no renewals; messages take no time unless clients write.
    Lease(Lease),
    /// Two clients that are told of a loss by their monitor.
    Told(Told),
    /// One client that renews.
    Keeping(Keeping),
    /// Nothing is bounded, clients go on whatever they hear, and the resource compares tokens.
    Fenced,
    /// No session ever ends by itself.
    Endless,
}

/// Two clients that count their lease.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Lease {
    /// The TTL.
    pub ttl: i64,
    /// How many of them the server waits.
    pub multiplier: u8,
    /// The lock-delay.
    pub delay: i64,
    /// How late the client may stop.
    pub stay: i64,
    /// How long a write may be in flight; none: no client writes, and messages take no time.
    pub write: Option<i64>,
    /// Whether gossip may be wrong once.
    pub alarm: bool,
    /// Whether they contend for the slot of a semaphore, and not for a lock.
    pub slot: bool,
}

/// What ends the session of a holder that is told.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Ends {
    /// Anything, at any time.
    Anytime,
    /// The TTL in ticks, and its multiplier; no client renews.
    ByTtl(i64, u8),
    /// Gossip that is wrong.
    ByAlarm,
}

/// Two clients that are told of a loss.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Told {
    /// What ends a session.
    pub ends: Ends,
    /// The lock-delay.
    pub delay: i64,
    /// How long a message is under way.
    pub message: i64,
    /// How late a deadline fires.
    pub wake: i64,
    /// How long the work goes on after the loss is known; none: it stops at once.
    pub grace: Option<i64>,
    /// Whether clients write.
    pub writes: bool,
    /// Whether they contend for the slot of a semaphore, and not for a lock.
    pub slot: bool,
}

/// One client that renews.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Keeping {
    /// The TTL.
    pub ttl: i64,
    /// How many of them the server waits.
    pub multiplier: u8,
    /// How often it renews; none: never.
    pub renew: Option<i64>,
    /// How late a deadline fires.
    pub wake: i64,
    /// How long a message is under way.
    pub message: i64,
    /// Whether it stops when its lease is over.
    pub counts: bool,
}

impl LockScenario {
    /// The promise that it is about.
    pub fn promise(&self) -> Promise {
        match self {
            LockScenario::Lease(Lease { write: Some(_), .. })
            | LockScenario::Told(Told { writes: true, .. })
            | LockScenario::Fenced => Promise::NoLostUpdate,
            LockScenario::Lease(Lease { slot: true, .. }) | LockScenario::Told(Told { slot: true, .. }) => {
                Promise::SlotLimit
            }
            LockScenario::Keeping(_) => Promise::KeepsLock,
            LockScenario::Lease(_) | LockScenario::Told(_) | LockScenario::Endless => Promise::MutualExclusion,
        }
    }

    /// The scenario itself.
    pub fn scenario(&self) -> Scenario<Consul> {
        let name = format!("doctor-{self}");
        let scenario = match *self {
            LockScenario::Lease(lease) => lease.scenario(&name),
            LockScenario::Told(told) => told.scenario(&name),
            LockScenario::Keeping(keeping) => keeping.scenario(&name),
            LockScenario::Fenced => fenced(&name),
            LockScenario::Endless => Scenario::<Consul>::new(&name).goal(Goal::CONTENDED),
        };
        promising(scenario, self.promise(), matches!(self, LockScenario::Fenced))
    }
}

impl fmt::Display for LockScenario {
    /// A name for files: letters, digits and hyphens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockScenario::Lease(Lease { ttl, multiplier, delay, stay, write, alarm, slot }) => {
                let alarm = if *alarm { "-alarm" } else { "" };
                let write = write.map(|write| format!("-write{write}")).unwrap_or_default();
                let slot = if *slot { "slot-" } else { "" };
                write!(f, "{slot}lease-ttl{ttl}x{multiplier}-delay{delay}-stay{stay}{write}{alarm}")
            }
            LockScenario::Told(Told { ends, delay, message, wake, grace, writes, slot }) => {
                let ends = match ends {
                    Ends::Anytime => "anytime".to_owned(),
                    Ends::ByTtl(ttl, multiplier) => format!("ttl{ttl}x{multiplier}"),
                    Ends::ByAlarm => "alarm".to_owned(),
                };
                let grace = grace.map(|grace| format!("-grace{grace}")).unwrap_or_default();
                let writes = if *writes { "-writes" } else { "" };
                let slot = if *slot { "slot-" } else { "" };
                write!(f, "{slot}told-{ends}-delay{delay}-message{message}-wake{wake}{grace}{writes}")
            }
            LockScenario::Keeping(Keeping { ttl, multiplier, renew, wake, message, counts }) => {
                let renew = renew.map(|renew| format!("-renew{renew}")).unwrap_or_default();
                let counts = if *counts { "-counts" } else { "" };
                write!(f, "keeping-ttl{ttl}x{multiplier}{renew}-wake{wake}-message{message}{counts}")
            }
            LockScenario::Fenced => f.write_str("fenced"),
            LockScenario::Endless => f.write_str("endless"),
        }
    }
}

impl Lease {
    pub(super) fn is_wider_than(&self, other: &Lease) -> bool {
        let bounds = Lease { delay: other.delay, stay: other.stay, write: other.write, ..*self } == *other;
        let writes = self.write.is_some() == other.write.is_some() && self.write >= other.write;
        bounds && writes && self.delay <= other.delay && self.stay >= other.stay
    }

    fn scenario(self, name: &str) -> Scenario<Consul> {
        let settings = Settings {
            ttl: Some(Ticks::new(self.ttl)),
            ttl_multiplier: self.multiplier,
            lock_delay: Ticks::new(self.delay),
            belief: BeliefRule::SelfLimiting,
            release: Release::Never,
            // One attempt: a refused client does not ask again before the end.
            retry_every: Ticks::new(self.ttl * i64::from(self.multiplier + 1) + self.delay + self.stay + 1),
            ..contending(self.slot)
        };
        let scenario = Scenario::<Consul>::new(name).message_delay(self.write.unwrap_or(0)).wake_delay(self.stay);
        let scenario = scenario.service(|consul| *consul = settings);
        if self.alarm { alarmed(scenario) } else { scenario.goal(Goal::EXPIRED) }
    }
}

/// The settings of a client that contends for a lock, or for the one slot of a semaphore.
fn contending(slot: bool) -> Settings {
    let semaphore = slot.then(|| Semaphore { limits: vec![1], ..Semaphore::default() });
    let behavior = if slot { Behavior::Delete } else { Behavior::default() };
    Settings { semaphore, behavior, ..Settings::default() }
}

/// Sessions are bound to gossip's check, which may be wrong once.
fn alarmed(scenario: Scenario<Consul>) -> Scenario<Consul> {
    let bound = scenario.service(|consul| consul.health.checks = vec![CheckKind::SerfHealth]);
    bound.allow("false_alarms", 1).goal(Goal::CHECK_FAILED)
}

impl Told {
    fn scenario(self, name: &str) -> Scenario<Consul> {
        let rest = match self.ends {
            Ends::ByTtl(ttl, multiplier) => ttl * i64::from(multiplier),
            Ends::Anytime | Ends::ByAlarm => 0,
        };
        let job = self.grace.map(|grace| Job { killed: Killed::Group, grace: Ticks::new(grace) });
        let settings = Settings {
            lock_delay: Ticks::new(self.delay),
            belief: BeliefRule::ByMonitor,
            monitor: Some(Monitor::default()),
            release: Release::Never,
            retry_every: Ticks::new(rest + self.delay + 4 * self.message + self.wake + 1),
            job,
            ..contending(self.slot)
        };
        let scenario = Scenario::<Consul>::new(name).message_delay(self.message).wake_delay(self.wake);
        let scenario = scenario.service(|consul| *consul = settings);
        match self.ends {
            Ends::Anytime => scenario
                .service(|consul| consul.operator = vec![Priced::Plain(OperatorActionKind::DestroySession)])
                .budget(|budget| budget.operator = 1)
                .goal(Goal::INVALIDATED),
            Ends::ByTtl(ttl, multiplier) => scenario
                .service(|consul| (consul.ttl, consul.ttl_multiplier) = (Some(Ticks::new(ttl)), multiplier))
                .goal(Goal::EXPIRED),
            Ends::ByAlarm => alarmed(scenario),
        }
    }
}

/// How many ticks of a TTL and of a message, multiplied, a scenario of one client may have: seconds of search.
const KEEPING_SIZE_MAX: i64 = 4_000;

impl Keeping {
    /// Whether it is explored in seconds: a message that is under way for long is in many places at each instant of the TTL.
    pub(crate) fn is_small(&self) -> bool {
        self.ttl * i64::from(self.multiplier) * self.message.max(1) <= KEEPING_SIZE_MAX
    }

    pub(crate) fn scenario(self, name: &str) -> Scenario<Consul> {
        let settings = Settings {
            ttl: Some(Ticks::new(self.ttl)),
            ttl_multiplier: self.multiplier,
            renew_every: self.renew.map(Ticks::new),
            belief: if self.counts { BeliefRule::SelfLimiting } else { BeliefRule::None },
            ..Settings::default()
        };
        Scenario::<Consul>::new(name)
            .message_delay(self.message)
            .wake_delay(self.wake)
            .service(|consul| *consul = settings)
    }
}

fn fenced(name: &str) -> Scenario<Consul> {
    let settings = Settings { ttl: Some(Ticks::new(1)), belief: BeliefRule::None, ..Settings::default() };
    Scenario::<Consul>::new(name).service(|consul| *consul = settings).goal(Goal::EXPIRED)
}
