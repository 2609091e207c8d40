//! Changes of two settings at once, where they are smaller than any change of one, or where no change of one is enough.

use fencepost_checker::InternalError;

use crate::asked::Asked;
use crate::judge::Doctor;
use crate::promise::Promise;
use crate::quantity::{Direction, Quantity, QuantityValue, count};
use crate::repair::Change;

/// Changes, and the settings with them.
pub(crate) type Changed<Q> = (Vec<Change>, Q);

/// The largest change of a number that is tried, in thousandths: to nine times, or to a ninth.
const SIZE_MAX: i64 = 8_000;

/// Sizes nearer to each other than this are not told apart.
const PRECISION: i64 = 20;

impl<Q: Asked> Doctor<Q> {
    /// The two numbers that make a promise hold if both change by the same factor, and the factor is the smallest that was found. It is
    /// smaller by a tenth at least than `below`, in thousandths: the change of one setting that is enough.
    ///
    /// # Errors
    /// An internal error.
    pub(crate) fn smallest_pair(
        &mut self,
        question: &Q,
        promise: Promise,
        below: Option<i64>,
    ) -> Result<Option<Changed<Q>>, InternalError> {
        let numbers = settings(question);
        let (mut best, mut limit) = (None, below.unwrap_or(SIZE_MAX).min(SIZE_MAX));
        for (at, one) in numbers.iter().enumerate() {
            for other in &numbers[at + 1..] {
                for ways in Direction::BOTH.iter().flat_map(|way| Direction::BOTH.map(|next| [*way, next])) {
                    let moved = |size| both(question, [*one, *other], ways, size);
                    let (mut kept, mut lost) = (limit * 9 / 10, 0);
                    if !self.keeps(moved(kept), promise)? {
                        continue;
                    }
                    while kept - lost > PRECISION {
                        let between = lost + (kept - lost) / 2;
                        if self.keeps(moved(between), promise)? { kept = between } else { lost = between }
                    }
                    (best, limit) = (moved(kept), kept);
                }
            }
        }
        Ok(best)
    }

    /// A change of another kind together with the nearest number, for each of both that is enough.
    ///
    /// # Errors
    /// An internal error.
    pub(crate) fn with_another_kind(
        &mut self,
        (change, question): (Change, &Q),
        promise: Promise,
    ) -> Result<Vec<Changed<Q>>, InternalError> {
        let mut found = Vec::new();
        for quantity in settings(question) {
            for direction in Direction::BOTH {
                let Some(to) = self.nearest(question, promise, quantity, direction)? else { continue };
                let Some(other) = quantity.with(question, to) else { continue };
                found.push((vec![change, number(question, quantity, to)], other));
            }
        }
        Ok(found)
    }

    fn keeps(&mut self, changed: Option<Changed<Q>>, promise: Promise) -> Result<bool, InternalError> {
        let Some((_, question)) = changed else { return Ok(false) };
        Ok(self.judge(&question, promise)?.is_kept())
    }
}

/// The settings of a question that are numbers and can be multiplied.
fn settings<Q: Asked>(question: &Q) -> Vec<Quantity> {
    let is_number = |quantity: &Quantity| quantity.of(question).is_some_and(|value| !value.is_zero());
    Q::quantities().iter().copied().filter(|quantity| quantity.is_setting() && is_number(quantity)).collect()
}

/// The question with both numbers changed by this size, if that can be meant.
fn both<Q: Asked>(question: &Q, quantities: [Quantity; 2], ways: [Direction; 2], size: i64) -> Option<Changed<Q>> {
    let (mut changes, mut other) = (Vec::new(), question.clone());
    for (quantity, way) in quantities.into_iter().zip(ways) {
        let to = quantity.value(multiplied(count(quantity.of(question)?), way, size));
        changes.push(number(question, quantity, to));
        other = quantity.with(&other, to)?;
    }
    Some((changes, other))
}

fn number<Q: Asked>(question: &Q, quantity: Quantity, to: QuantityValue) -> Change {
    Change::Number { quantity, from: quantity.of(question).expect("it has the setting"), to }
}

/// The number times or by one and a size in thousandths, away from the number to three digits.
fn multiplied(number: i64, way: Direction, size: i64) -> i64 {
    let (up, factor) = (way == Direction::Up, i128::from(1_000 + size));
    let exact = if up { i128::from(number) * factor / 1_000 } else { i128::from(number) * 1_000 / factor };
    let exact = i64::try_from(exact).unwrap_or(i64::MAX / 10);
    let mut step = 1;
    while exact / step >= 1_000 {
        step *= 10;
    }
    (if up { (exact + step - 1) / step } else { exact / step }) * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_multiplied_and_rounded_away_to_three_digits() {
        for (number, way, size, expected) in [
            (15_000_000, Direction::Up, 150, 17_300_000),
            (15_000_000, Direction::Down, 150, 13_000_000),
            (7_500_000, Direction::Up, 1_000, 15_000_000),
            (999, Direction::Up, 0, 999),
            (3, Direction::Down, 8_000, 0),
        ] {
            assert_eq!(multiplied(number, way, size), expected, "{number} {way:?} {size}");
        }
    }
}
