//! The numbers of a question: what each is called, how far it is tried, and how exactly.

use std::fmt;

use fencepost_model::units::{Duration, PartsPerMillion};

use crate::asked::Asked;
#[cfg(doc)]
use crate::election::ElectionQuestion;
#[cfg(doc)]
use crate::etcd::SessionQuestion;
#[cfg(doc)]
use crate::lock::LockQuestion;
use crate::rounding::{FINEST, down};

/// A number in a question.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Quantity {
    /// [`LockQuestion::ttl`].
    Ttl,
    /// [`LockQuestion::lock_delay`].
    LockDelay,
    /// [`LockQuestion::renew_every`].
    RenewEvery,
    /// [`LockQuestion::grace`].
    Grace,
    /// [`ElectionQuestion::lease`].
    Lease,
    /// [`ElectionQuestion::renew_deadline`].
    RenewDeadline,
    /// [`ElectionQuestion::retry_period`].
    RetryPeriod,
    /// [`ElectionQuestion::request_timeout`].
    RequestTimeout,
    /// [`ElectionQuestion::stop_time`].
    StopTime,
    /// [`SessionQuestion::margin`].
    Margin,
    /// [`LockQuestion::pause`].
    Pause,
    /// [`LockQuestion::latency`].
    Latency,
    /// [`LockQuestion::drift`].
    Drift,
}

/// Up or down.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Direction {
    /// Towards more.
    Up,
    /// Towards less.
    Down,
}

impl Direction {
    /// Both.
    pub const BOTH: [Direction; 2] = [Direction::Up, Direction::Down];
}

/// The value of a quantity.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum QuantityValue {
    /// A duration.
    Duration(Duration),
    /// A rate.
    Rate(PartsPerMillion),
}

impl fmt::Display for QuantityValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QuantityValue::Duration(duration) => duration.fmt(f),
            QuantityValue::Rate(rate) => rate.fmt(f),
        }
    }
}

impl QuantityValue {
    /// Whether it is 0.
    pub fn is_zero(self) -> bool {
        count(self) == 0
    }
}

impl Quantity {
    /// The name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Ttl => "ttl",
            Quantity::LockDelay => "lock-delay",
            Quantity::RenewEvery => "renew-every",
            Quantity::Grace => "grace",
            Quantity::Lease => "lease",
            Quantity::RenewDeadline => "renew-deadline",
            Quantity::RetryPeriod => "retry-period",
            Quantity::RequestTimeout => "request-timeout",
            Quantity::StopTime => "stop-time",
            Quantity::Margin => "margin",
            Quantity::Pause => "pause",
            Quantity::Latency => "latency",
            Quantity::Drift => "drift",
        }
    }

    /// Whether it is a setting, and not what the world does.
    pub fn is_setting(self) -> bool {
        !matches!(self, Quantity::Pause | Quantity::Latency | Quantity::Drift)
    }

    /// Whether every value between two that keep a promise keeps it, too: one of them is wider than the others. Of the others, which are
    /// compared with each other, only the two values themselves are judged.
    pub fn is_monotone(self) -> bool {
        Direction::BOTH.into_iter().filter(|direction| self.hurts(*direction)).count() == 1
    }

    /// Whether moving it in this direction may break what is kept.
    pub fn hurts(self, direction: Direction) -> bool {
        match self {
            Quantity::LockDelay | Quantity::Lease | Quantity::Margin => direction == Direction::Down,
            Quantity::Ttl
            | Quantity::RenewEvery
            | Quantity::RenewDeadline
            | Quantity::RetryPeriod
            | Quantity::RequestTimeout => true,
            Quantity::Grace | Quantity::StopTime | Quantity::Pause | Quantity::Latency | Quantity::Drift => {
                direction == Direction::Up
            }
        }
    }

    /// Its value, if the question has one.
    pub fn of<Q: Asked>(self, question: &Q) -> Option<QuantityValue> {
        question.value(self)
    }

    /// The same question with another value, if that can be meant.
    pub fn with<Q: Asked>(self, question: &Q, value: QuantityValue) -> Option<Q> {
        let mut other = question.clone();
        let is_set = other.set(self, value) && other.validate().is_ok();
        is_set.then_some(other)
    }

    pub(crate) fn value(self, count: i64) -> QuantityValue {
        match self {
            Quantity::Drift => {
                QuantityValue::Rate(PartsPerMillion(u32::try_from(count).expect("a rate is at most a million")))
            }
            _ => QuantityValue::Duration(Duration::of_microseconds(count)),
        }
    }
}

/// In the unit of the quantity: microseconds, or parts per million.
pub(crate) fn count(value: QuantityValue) -> i64 {
    match value {
        QuantityValue::Duration(duration) => down(duration, FINEST),
        QuantityValue::Rate(PartsPerMillion(rate)) => rate.into(),
    }
}
