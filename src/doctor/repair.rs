//! What to change: changes of one setting, and of two, that make a broken promise hold, each proven, with what it costs.

use std::fmt;

use fencepost_checker::InternalError;
use fencepost_model::units::Duration;

use crate::asked::Asked;
use crate::judge::Doctor;
use crate::pairs::Changed;
use crate::promise::Promise;
use crate::quantity::{Direction, Quantity, QuantityValue, count};

/// What makes a promise hold.
#[derive(Clone, PartialEq, Debug)]
pub struct Repair<Q> {
    /// One change of the settings, or two.
    pub changes: Vec<Change>,
    /// The settings with them. The promise is proven for them.
    pub question: Q,
    /// The other promises that they break: they were kept before.
    pub breaks: Vec<Promise>,
}

impl<Q> Repair<Q> {
    /// Whether each change is a setting that an operator can change, and not a bound on the environment.
    pub fn is_setting(&self) -> bool {
        self.changes.iter().all(Change::is_setting)
    }

    /// How large the largest change is, in thousandths of what was there.
    fn size(&self) -> i64 {
        self.changes.iter().map(size).max().unwrap_or_default()
    }
}

impl<Q> fmt::Display for Repair<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, change) in self.changes.iter().enumerate() {
            if at > 0 {
                f.write_str(", and ")?;
            }
            change.fmt(f)?;
        }
        Ok(())
    }
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
    /// A leader does not give its lease back.
    NoRelease,
    /// The holder stops by its own clock, before its lease can end.
    BeforeExpiry {
        /// How long before.
        margin: Duration,
    },
}

impl Change {
    /// Whether it is a setting that an operator can change, and not a bound on the environment.
    pub fn is_setting(&self) -> bool {
        !matches!(self, Change::Number { quantity, .. } if !quantity.is_setting())
    }
}

impl Change {
    /// The option of the command line that says the same.
    pub fn option(&self) -> &'static str {
        match self {
            Change::Number { quantity, .. } => quantity.name(),
            Change::Belief => "belief",
            Change::Fencing => "fencing",
            Change::NoChecks => "false-alarm",
            Change::NoRelease => "release",
            Change::BeforeExpiry { .. } => "stop",
        }
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
            Change::BeforeExpiry { margin } => write!(
                f,
                "stop = before-expiry with margin = {margin}: the holder stops that much before its TTL has passed since it sent the last acknowledged renewal"
            ),
            Change::NoRelease => f.write_str("ReleaseOnCancel off: a leader that stops lets its lease expire"),
        }
    }
}

/// What settings cost, by arithmetic and not by search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Price {
    /// How long after its last renewal a dead holder's lock can be acquired again, if servers and contenders are in time.
    pub failover: Option<Duration>,
    /// How long until it is noticed that it is dead.
    pub notice: Option<Duration>,
    /// For how long a live holder may stand still, at most, before it may lose the lock. None: nothing is renewed, or nothing expires.
    pub stall: Option<Duration>,
    /// How many renewals each holder sends in an hour.
    pub renewals_an_hour: u64,
    /// All of it in words.
    pub sentence: String,
}

impl Price {
    /// Of these settings.
    pub fn of<Q: Asked>(question: &Q) -> Price {
        question.price()
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl<Q: Asked> Doctor<Q> {
    /// The changes of one setting that make a broken promise hold, and those of two where they are smaller, or where no change of one is
    /// enough: first those of settings, and of these the smallest in proportion first.
    ///
    /// # Errors
    /// An internal error.
    pub fn repairs(&mut self, question: &Q, promise: Promise) -> Result<Vec<Repair<Q>>, InternalError> {
        let before = self.kept(question)?;
        let mut repairs = Vec::new();
        for quantity in Q::quantities().iter().copied() {
            for direction in [Direction::Up, Direction::Down] {
                let Some(from) = quantity.of(question) else { continue };
                let Some(to) = self.nearest(question, promise, quantity, direction)? else { continue };
                let whole = multiple(count(to), question.grain(quantity), direction);
                for to in [quantity.value(whole), to] {
                    let Some(other) = quantity.with(question, to) else { continue };
                    let change = Change::Number { quantity, from, to };
                    if let Some(repair) = self.repair(vec![change], other, promise, &before)? {
                        repairs.push(repair);
                        break;
                    }
                }
            }
        }
        let mut too_small = Vec::new();
        for (change, other) in question.other_kinds(promise) {
            match self.repair(vec![change], other.clone(), promise, &before)? {
                Some(repair) => repairs.push(repair),
                None => too_small.push((change, other)),
            }
        }
        let of_settings = repairs.iter().filter(|repair| repair.is_setting() && repair.breaks.is_empty());
        let smallest = of_settings.map(Repair::size).min();
        let mut sets: Vec<Changed<Q>> = self.smallest_pair(question, promise, smallest)?.into_iter().collect();
        if smallest.is_none() {
            for (change, other) in too_small.iter().filter(|(_, other)| other.validate().is_ok()) {
                sets.extend(self.with_another_kind((*change, other), promise)?);
            }
        }
        for (changes, other) in sets {
            repairs.extend(self.repair(changes, other, promise, &before)?);
        }
        repairs.sort_by_key(|repair| (!repair.is_setting(), !repair.breaks.is_empty(), repair.size()));
        Ok(repairs)
    }

    /// The repair by these changes, if they are one.
    fn repair(
        &mut self,
        changes: Vec<Change>,
        question: Q,
        promise: Promise,
        before: &[Promise],
    ) -> Result<Option<Repair<Q>>, InternalError> {
        if question.validate().is_err() || !self.judge(&question, promise)?.is_kept() {
            return Ok(None);
        }
        let after = self.kept(&question)?;
        let breaks = before.iter().copied().filter(|kept| !after.contains(kept)).collect();
        Ok(Some(Repair { changes, question, breaks }))
    }

    /// The promises that are kept.
    fn kept(&mut self, question: &Q) -> Result<Vec<Promise>, InternalError> {
        let mut kept = Vec::new();
        for promise in question.promises().iter().copied() {
            if self.judge(question, promise)?.is_kept() {
                kept.push(promise);
            }
        }
        Ok(kept)
    }
}

/// The next multiple of a grain in this direction.
fn multiple(value: i64, grain: i64, direction: Direction) -> i64 {
    match direction {
        Direction::Up => value.saturating_add(grain - 1) / grain * grain,
        Direction::Down => value / grain * grain,
    }
}

/// How large a change is, in thousandths of the smaller of both values; a change of another kind counts as a doubling.
fn size(change: &Change) -> i64 {
    let Change::Number { from, to, .. } = change else { return 1_000 };
    let (small, large) = (count(*from).min(count(*to)), count(*from).max(count(*to)));
    i64::try_from(i128::from(large - small) * 1_000 / i128::from(small.max(1))).unwrap_or(i64::MAX)
}
