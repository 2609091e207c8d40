//! How much room there is: for each quantity the farthest value under which a promise is proven, and the nearest one under which it
//! is broken. Both come from verdicts, by bisection.

use fencepost_checker::InternalError;

use crate::asked::Asked;
use crate::judge::{Doctor, Verdict};
use crate::promise::Promise;
use crate::quantity::{Direction, Quantity, QuantityValue, count};

/// Where the verdict on a promise changes.
#[derive(Clone, PartialEq, Debug)]
pub struct Boundary {
    /// Of which quantity.
    pub quantity: Quantity,
    /// In which direction.
    pub direction: Direction,
    /// The value that was asked about.
    pub asked: QuantityValue,
    /// The farthest value found with a proof.
    pub kept: QuantityValue,
    /// The nearest value found with an execution that breaks the promise; none: there is none as far as values were tried.
    pub broken: Option<QuantityValue>,
    /// How far that was.
    pub tried_to: QuantityValue,
}

impl Boundary {
    /// How far the proofs reach from what was asked about.
    pub fn room(&self) -> QuantityValue {
        self.quantity.value((count(self.kept) - count(self.asked)).abs())
    }
}

impl<Q: Asked> Doctor<Q> {
    /// The boundaries around settings that keep a promise, in the directions that hurt.
    ///
    /// # Errors
    /// An internal error.
    pub fn boundaries(&mut self, question: &Q, promise: Promise) -> Result<Vec<Boundary>, InternalError> {
        let mut found = Vec::new();
        for quantity in Q::quantities().iter().copied() {
            let Some(asked) = quantity.of(question) else { continue };
            for direction in [Direction::Down, Direction::Up] {
                let limit = question.limit(quantity, direction);
                if !quantity.hurts(direction) || limit == count(asked) {
                    continue;
                }
                found.push(self.boundary(question, promise, quantity, direction)?);
            }
        }
        Ok(found)
    }

    /// Where a promise that is kept breaks, if one quantity changes in one direction.
    fn boundary(
        &mut self,
        question: &Q,
        promise: Promise,
        quantity: Quantity,
        direction: Direction,
    ) -> Result<Boundary, InternalError> {
        let asked = quantity.of(question).expect("the question has it");
        let limit = question.limit(quantity, direction);
        let precision = question.precision(quantity);
        let mut try_at = |count: i64| self.at(question, promise, quantity, count);
        let (mut kept, mut broken) = (count(asked), None);
        let last = try_at(limit)?;
        if last.as_ref().is_some_and(Verdict::is_kept) {
            kept = limit;
        } else {
            // What is not kept, and what is not broken: the two come together, but for what is unknown.
            let (mut lost, mut sound) = (limit, kept);
            if last.as_ref().is_some_and(Verdict::is_broken) {
                broken = Some(limit);
            }
            while (lost - kept).abs() > precision {
                let between = nice(kept, lost);
                let verdict = try_at(between)?;
                match verdict {
                    Some(Verdict::Kept(_)) => (kept, sound) = (between, between),
                    other => {
                        lost = between;
                        if other.as_ref().is_some_and(Verdict::is_broken) {
                            broken = Some(between);
                        } else {
                            sound = between;
                        }
                    }
                }
            }
            if let Some(mut found) = broken {
                if (found - sound).signum() != (limit - kept).signum() {
                    sound = kept;
                }
                while (found - sound).abs() > precision {
                    let between = nice(sound, found);
                    if try_at(between)?.as_ref().is_some_and(Verdict::is_broken) {
                        found = between
                    } else {
                        sound = between
                    }
                }
                broken = Some(found);
            }
        }
        let value = |count| quantity.value(count);
        Ok(Boundary {
            quantity,
            direction,
            asked,
            kept: value(kept),
            broken: broken.map(value),
            tried_to: value(limit),
        })
    }

    /// The verdict with another value; none if that cannot be meant.
    fn at(
        &mut self,
        question: &Q,
        promise: Promise,
        quantity: Quantity,
        count: i64,
    ) -> Result<Option<Verdict<Q>>, InternalError> {
        match quantity.with(question, quantity.value(count)) {
            Some(other) => self.judge(&other, promise).map(Some),
            None => Ok(None),
        }
    }

    /// The nearest value that keeps a promise which is broken, if one quantity changes in one direction.
    ///
    /// # Errors
    /// An internal error.
    pub(crate) fn nearest(
        &mut self,
        question: &Q,
        promise: Promise,
        quantity: Quantity,
        direction: Direction,
    ) -> Result<Option<QuantityValue>, InternalError> {
        let Some(asked) = quantity.of(question) else { return Ok(None) };
        let limit = question.limit(quantity, direction);
        let precision = question.precision(quantity);
        if limit == count(asked)
            || !self.at(question, promise, quantity, limit)?.is_some_and(|verdict| verdict.is_kept())
        {
            return Ok(None);
        }
        let (mut kept, mut lost) = (limit, count(asked));
        while (kept - lost).abs() > precision {
            let between = nice(lost, kept);
            if self.at(question, promise, quantity, between)?.is_some_and(|verdict| verdict.is_kept()) {
                kept = between;
            } else {
                lost = between;
            }
        }
        Ok(Some(quantity.value(kept)))
    }
}

/// A number between two others, not too near to either, and as round as possible.
fn nice(one: i64, other: i64) -> i64 {
    let (low, high) = (one.min(other), one.max(other));
    let quarter = (high - low) / 4;
    let (from, to) = (low + quarter.max(1), high - quarter.max(1));
    let mut step = 1;
    let mut best = low + (high - low) / 2;
    // 1, 5, 10, 50, …: seconds come after tenths of seconds.
    while step <= to {
        for candidate in [step, step * 5] {
            let multiple = to / candidate * candidate;
            if multiple >= from {
                best = multiple;
            }
        }
        step *= 10;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::nice;

    #[test]
    fn a_round_number_lies_between_two_others() {
        for (one, other, between) in [
            (20_000_000, 45_000_000, 30_000_000),
            (45_000_000, 20_000_000, 30_000_000),
            (29_700_000, 30_200_000, 30_000_000),
            (29_000_000, 29_400_000, 29_300_000),
            (3, 5, 4),
        ] {
            assert_eq!(nice(one, other), between, "{one} {other}");
        }
    }
}
