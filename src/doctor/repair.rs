//! What to change: single changes that make a broken promise hold, each proven, with what it costs.

use std::fmt;

use fencepost_checker::InternalError;
use fencepost_model::units::Duration;

use crate::judge::Doctor;
use crate::promise::Promise;
use crate::quantity::{Direction, Quantity, QuantityValue};
use crate::question::{LockBelief, Question};
use crate::wider::{sum, times};

/// One change.
#[derive(Clone, PartialEq, Debug)]
pub struct Repair {
    /// A change of the settings.
    pub change: Change,
    /// The settings with it. The promise is proven for them.
    pub question: Question,
    /// The other promises that it breaks: they were kept before.
    pub breaks: Vec<Promise>,
}

/// A change of the settings.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Change {
    /// A number becomes another one, the nearest that was found.
    Number {
        /// The setting that is changed.
        quantity: Quantity,
        /// What it was.
        from: QuantityValue,
        /// What it becomes.
        to: QuantityValue,
    },
    /// The holder stops by its own clock.
    Belief,
    /// The resource compares the index of the acquiring write.
    Fencing,
    /// Sessions are bound to no check.
    NoChecks,
}

impl Change {
    /// Whether it is a setting that an operator can change, and not a bound on the environment.
    pub fn is_setting(&self) -> bool {
        !matches!(self, Change::Number { quantity, .. } if !quantity.is_setting())
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Number { quantity, from, to } if quantity.is_setting() => {
                write!(f, "{} = {to} instead of {from}", quantity.name())
            }
            Change::Number { quantity, from, to } => write!(f, "a bound of {to} on {} instead of {from}", quantity.name()),
            Change::Belief => f.write_str("belief = self-limiting: the holder stops when its TTL has passed since it sent the last acknowledged renewal"),
            Change::Fencing => {
                f.write_str("fencing: writes carry the ModifyIndex of the acquired key, and the resource refuses lower ones")
            }
            Change::NoChecks => f.write_str("checks = []: the session is bound to its TTL alone, and gossip cannot end it"),
        }
    }
}

/// What settings cost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Price {
    /// How long after its last renewal a dead holder's lock can be acquired again, if the servers are in time: EQ-1.
    pub failover: Option<Duration>,
    /// How long until the servers notice that it is dead.
    pub notice: Option<Duration>,
    /// How many renewals each client sends in an hour.
    pub renewals_an_hour: u64,
}

impl Price {
    /// Of these settings; by arithmetic, not by search.
    pub fn of(question: &Question) -> Price {
        let notice = question.ttl.map(|ttl| times(ttl, question.ttl_multiplier.into()));
        let hour = 3_600_000_000_000_u64;
        let period = question.renew_every.map_or(0, |period| period.nanoseconds().unsigned_abs());
        Price {
            failover: notice.map(|notice| sum(notice, question.delay())),
            notice,
            renewals_an_hour: hour.checked_div(period).unwrap_or(0),
        }
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.notice, self.failover) {
            (Some(notice), Some(failover)) => write!(
                f,
                "a dead holder is noticed {notice} after its last renewal, its lock is free after {failover}; {} renewals an hour",
                self.renewals_an_hour
            ),
            _ => f.write_str(
                "a dead holder is noticed by no TTL: its lock is free when a check or an operator ends its session",
            ),
        }
    }
}

impl Doctor {
    /// The single changes that make a broken promise hold: first those of settings, and of these the smallest in proportion first.
    ///
    /// # Errors
    /// An internal error.
    pub fn repairs(&mut self, question: &Question, promise: Promise) -> Result<Vec<Repair>, InternalError> {
        let mut changes = Vec::new();
        for quantity in Quantity::ALL {
            for direction in [Direction::Up, Direction::Down] {
                let Some(from) = quantity.of(question) else { continue };
                if let Some(to) = self.nearest(question, promise, quantity, direction)? {
                    changes.push((Change::Number { quantity, from, to }, quantity.with(question, to)));
                }
            }
        }
        if question.belief != LockBelief::SelfLimiting && question.ttl.is_some() {
            changes.push((Change::Belief, Some(Question { belief: LockBelief::SelfLimiting, ..question.clone() })));
        }
        if promise == Promise::NoLostUpdate && !question.fencing {
            changes.push((Change::Fencing, Some(Question { fencing: true, ..question.clone() })));
        }
        if question.false_alarm && question.ttl.is_some() {
            changes.push((Change::NoChecks, Some(Question { false_alarm: false, ..question.clone() })));
        }
        let before = self.kept(question)?;
        let mut repairs = Vec::new();
        for (change, other) in changes {
            let Some(other) = other.filter(|other| other.validate().is_ok()) else { continue };
            if !self.judge(&other, promise)?.is_kept() {
                continue;
            }
            let after = self.kept(&other)?;
            let breaks = before.iter().copied().filter(|kept| !after.contains(kept)).collect();
            repairs.push(Repair { change, question: other, breaks });
        }
        repairs.sort_by_key(|repair| (!repair.change.is_setting(), !repair.breaks.is_empty(), size(&repair.change)));
        Ok(repairs)
    }

    /// The promises that are kept.
    fn kept(&mut self, question: &Question) -> Result<Vec<Promise>, InternalError> {
        let mut kept = Vec::new();
        for promise in Promise::of(question).iter().copied() {
            if self.judge(question, promise)?.is_kept() {
                kept.push(promise);
            }
        }
        Ok(kept)
    }
}

/// How large a change is, in thousandths of what was there; a change of another kind counts as a doubling.
fn size(change: &Change) -> i64 {
    let Change::Number { from, to, .. } = change else { return 1_000 };
    let count = |value: &QuantityValue| match value {
        QuantityValue::Duration(duration) => duration.nanoseconds(),
        QuantityValue::Rate(rate) => i64::from(rate.0),
    };
    let (from, to) = (count(from), count(to));
    i64::try_from(i128::from((to - from).abs()) * 1_000 / i128::from(from.max(1))).unwrap_or(i64::MAX)
}
