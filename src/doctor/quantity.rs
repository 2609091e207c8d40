//! The numbers of a question: what each is called, how far it is tried, and how exactly.

use std::fmt;

use fencepost_model::units::{Duration, PartsPerMillion};

use crate::question::{FINEST, LOCK_DELAY_MAX, Question, TTL_MAX};
use crate::wider::{down, sum, times};

/// A number in a question.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Quantity {
    /// [`Question::ttl`].
    Ttl,
    /// [`Question::lock_delay`].
    LockDelay,
    /// [`Question::renew_every`].
    RenewEvery,
    /// [`Question::grace`].
    Grace,
    /// [`Question::pause`].
    Pause,
    /// [`Question::latency`].
    Latency,
    /// [`Question::drift`].
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
    /// Every quantity, in the order of the answer.
    pub const ALL: [Quantity; 7] = [
        Quantity::Ttl,
        Quantity::LockDelay,
        Quantity::RenewEvery,
        Quantity::Grace,
        Quantity::Pause,
        Quantity::Latency,
        Quantity::Drift,
    ];

    /// The name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Ttl => "ttl",
            Quantity::LockDelay => "lock-delay",
            Quantity::RenewEvery => "renew-every",
            Quantity::Grace => "grace",
            Quantity::Pause => "pause",
            Quantity::Latency => "latency",
            Quantity::Drift => "drift",
        }
    }

    /// Whether it is a setting, and not what the world does.
    pub fn is_setting(self) -> bool {
        matches!(self, Quantity::Ttl | Quantity::LockDelay | Quantity::RenewEvery | Quantity::Grace)
    }

    /// Whether every value between two that keep a promise keeps it, too: one of them is wider than the others. Of the TTL and the
    /// renewal period only the two values themselves are judged.
    pub fn is_monotone(self) -> bool {
        !matches!(self, Quantity::Ttl | Quantity::RenewEvery)
    }

    /// Its value, if the question has one.
    pub fn of(self, question: &Question) -> Option<QuantityValue> {
        Some(match self {
            Quantity::Ttl => QuantityValue::Duration(question.ttl?),
            // It protects no slot (C-SEM-11).
            Quantity::LockDelay => {
                QuantityValue::Duration(Some(question.lock_delay).filter(|_| question.slots.is_none())?)
            }
            Quantity::RenewEvery => QuantityValue::Duration(question.renew_every?),
            Quantity::Grace => QuantityValue::Duration(Some(question.grace).filter(|grace| *grace > Duration::ZERO)?),
            Quantity::Pause => QuantityValue::Duration(question.pause),
            Quantity::Latency => QuantityValue::Duration(question.latency),
            Quantity::Drift => QuantityValue::Rate(question.drift),
        })
    }

    /// The same question with another value, if that can be meant.
    pub fn with(self, question: &Question, value: QuantityValue) -> Option<Question> {
        let mut other = question.clone();
        match (self, value) {
            (Quantity::Ttl, QuantityValue::Duration(value)) => other.ttl = Some(value),
            (Quantity::LockDelay, QuantityValue::Duration(value)) => other.lock_delay = value,
            (Quantity::RenewEvery, QuantityValue::Duration(value)) => other.renew_every = Some(value),
            (Quantity::Grace, QuantityValue::Duration(value)) => other.grace = value,
            (Quantity::Pause, QuantityValue::Duration(value)) => other.pause = value,
            (Quantity::Latency, QuantityValue::Duration(value)) => other.latency = value,
            (Quantity::Drift, QuantityValue::Rate(value)) => other.drift = value,
            _ => return None,
        }
        other.validate().is_ok().then_some(other)
    }

    /// How far values are tried.
    pub(crate) fn limit(self, question: &Question, direction: Direction) -> i64 {
        let ttl = question.ttl.unwrap_or_default();
        let scale = sum(sum(times(ttl, 2), question.lock_delay), sum(question.pause, question.latency));
        let far = down(times(scale.max(Duration::of_seconds(1)), 4).min(TTL_MAX), FINEST);
        let now = self.of(question).map_or(0, count);
        match (self, direction) {
            (Quantity::Drift, Direction::Up) => 1_000_000,
            (Quantity::LockDelay, Direction::Up) => down(LOCK_DELAY_MAX, FINEST),
            (Quantity::Ttl | Quantity::RenewEvery, Direction::Down) => (now / 32).max(1),
            (_, Direction::Down) => 0,
            (_, Direction::Up) => far.max(now),
        }
    }

    pub(crate) fn value(self, count: i64) -> QuantityValue {
        match self {
            Quantity::Drift => {
                QuantityValue::Rate(PartsPerMillion(u32::try_from(count).expect("a rate is at most a million")))
            }
            _ => QuantityValue::Duration(Duration::of_microseconds(count)),
        }
    }

    /// Values nearer to each other than this are not told apart: a hundredth of the TTL, or of the lock-delay.
    pub(crate) fn precision(self, question: &Question) -> i64 {
        let scale = question.ttl.unwrap_or(question.lock_delay).max(Duration::of_seconds(1));
        match self {
            Quantity::Drift => 2_000,
            _ => (down(scale, FINEST) / 100).max(1),
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
