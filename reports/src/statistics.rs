//! How sure a number is. Elementary functions come from `libm`: the same bits everywhere.

/// An estimate with its 95 % interval.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Estimate {
    /// The best guess.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The probability in each tail outside of an interval.
const TAIL: f64 = 0.025;

/// The share of `seen` among `all`, with the exact interval of Clopper and Pearson (1934): never too short, and never a bare zero.
/// Where nothing was seen its upper end is near 3.7 / all; one-sided it would be the rule of three.
pub fn share(seen: u64, all: u64) -> Estimate {
    if all == 0 {
        return Estimate { value: 0.0, low: 0.0, high: 1.0 };
    }
    let low = if seen == 0 { 0.0 } else { solve(|p| 1.0 - at_most(seen - 1, all, p), TAIL) };
    let high = if seen == all { 1.0 } else { 1.0 - solve(|q| at_most(seen, all, 1.0 - q), TAIL) };
    Estimate { value: seen as f64 / all as f64, low, high }
}

/// Where a rising function takes a value, between 0 and 1.
fn solve(function: impl Fn(f64) -> f64, value: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if function(middle) < value {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// The probability of at most this number of successes.
fn at_most(successes: u64, all: u64, p: f64) -> f64 {
    if p <= 0.0 {
        return 1.0;
    }
    if p >= 1.0 {
        return if successes >= all { 1.0 } else { 0.0 };
    }
    let (n, log_odds) = (all as f64, libm::log(p / (1.0 - p)));
    let mut log_term = n * libm::log1p(-p);
    let mut sum = libm::exp(log_term);
    for k in 1..=successes {
        let k = k as f64;
        log_term += libm::log((n - k + 1.0) / k) + log_odds;
        sum += libm::exp(log_term);
    }
    sum.min(1.0)
}

/// A mean with its interval, by Student's distribution.
pub fn mean(values: &[f64]) -> Estimate {
    let n = values.len() as f64;
    if values.is_empty() {
        return Estimate { value: 0.0, low: 0.0, high: 0.0 };
    }
    let value = values.iter().sum::<f64>() / n;
    if values.len() == 1 {
        return Estimate { value, low: f64::NEG_INFINITY, high: f64::INFINITY };
    }
    let variance = values.iter().map(|other| (other - value) * (other - value)).sum::<f64>() / (n - 1.0);
    let half = student(values.len() - 1) * libm::sqrt(variance / n);
    Estimate { value, low: value - half, high: value + half }
}

/// The 97.5 % quantile of Student's distribution.
fn student(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ];
    // Beyond the table, the first terms of its expansion round the normal quantile.
    TABLE.get(degrees - 1).copied().unwrap_or_else(|| {
        let degrees = degrees as f64;
        1.959_964 + 2.372 / degrees + 2.82 / (degrees * degrees)
    })
}

/// The value below which so large a part of a sorted list lies.
pub fn quantile(sorted: &[i64], part: f64) -> Option<i64> {
    let last = sorted.len().checked_sub(1)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the last place")]
    let place = libm::ceil(part * sorted.len() as f64) as usize;
    Some(sorted[place.saturating_sub(1).min(last)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= expected.abs() * 1e-4 + 1e-6, "{found} is not {expected}");
    }

    #[test]
    fn the_interval_of_clopper_and_pearson_is_that_of_the_tables() {
        for (seen, all, low, high) in [
            (0, 10, 0.0, 0.308_497),
            (1, 10, 0.002_529, 0.445_016),
            (5, 10, 0.187_086, 0.812_914),
            (10, 10, 0.691_503, 1.0),
            (7, 1000, 0.002_819, 0.014_369),
            (0, 3000, 0.0, 0.001_229),
            (2500, 5000, 0.486_043, 0.513_957),
        ] {
            let estimate = share(seen, all);
            near(estimate.low, low);
            near(estimate.high, high);
            assert!(estimate.low <= estimate.value && estimate.value <= estimate.high);
        }
        assert_eq!((share(0, 0).low, share(0, 0).high), (0.0, 1.0));
    }

    #[test]
    fn means_and_quantiles() {
        let estimate = mean(&[1.0, 2.0, 3.0, 4.0]);
        near(estimate.value, 2.5);
        near(estimate.high, 2.5 + 3.182 * 1.290_994 / 2.0);
        assert!(mean(&[1.0]).high.is_infinite());
        let sorted: Vec<i64> = (1..=100).collect();
        assert_eq!([0.0, 0.5, 0.99, 1.0].map(|part| quantile(&sorted, part)), [1, 50, 99, 100].map(Some));
        assert_eq!(quantile(&[], 0.5), None);
        near(student(31), 2.0395);
    }
}
