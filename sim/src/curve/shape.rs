//! Distributions as people write them, made into tables of quantiles once and for all. The functions come from `libm`, which
//! gives the same bits everywhere; what is drawn from is integers.

use serde::Deserialize;

use super::{Curve, CurveError};

/// A distribution as it stands in a file, in thousandths of a tick.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a number, a list of quantiles, { median, factor } or { at_least, alpha, at_most }")]
pub(crate) enum CurveText {
    Constant(i64),
    Quantiles(Vec<i64>),
    /// Log-normal: two thirds of all lie between the median divided and multiplied by the factor.
    LogNormal {
        median: i64,
        factor: f64,
    },
    /// A heavy tail (Pareto), cut off.
    Pareto {
        at_least: i64,
        alpha: f64,
        at_most: i64,
    },
}

/// As many stretches are cut from a distribution that is given by a formula.
const STRETCHES: u32 = 1024;

impl TryFrom<CurveText> for Curve {
    type Error = CurveError;

    fn try_from(shape: CurveText) -> Result<Self, CurveError> {
        match shape {
            CurveText::Constant(only) => Curve::new(vec![only]),
            CurveText::Quantiles(quantiles) => Curve::new(quantiles),
            CurveText::LogNormal { median, factor } => {
                if median <= 0 || !factor.is_finite() {
                    return Err(CurveError::NoMedian);
                }
                if factor < 1.0 {
                    return Err(CurveError::Factor);
                }
                let quantile = |part: f64| median as f64 * libm::exp(libm::log(factor) * normal_quantile(part));
                tabulate(quantile)
            }
            CurveText::Pareto { at_least, alpha, at_most } => {
                if at_least <= 0 || !alpha.is_finite() || alpha <= 0.0 {
                    return Err(CurveError::NoTail);
                }
                if at_most < at_least {
                    return Err(CurveError::EndsSwapped);
                }
                let quantile = |part: f64| at_least as f64 * libm::pow(1.0 - part, -1.0 / alpha);
                tabulate(|part| quantile(part).min(at_most as f64))
            }
        }
    }
}

/// The quantiles at equal distances; the outermost ones half a stretch from the ends, which may lie at infinity.
fn tabulate(quantile: impl Fn(f64) -> f64) -> Result<Curve, CurveError> {
    let part = |step: u32| match step {
        0 => 0.25 / f64::from(STRETCHES),
        STRETCHES => 1.0 - 0.25 / f64::from(STRETCHES),
        _ => f64::from(step) / f64::from(STRETCHES),
    };
    let round = |value: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "what is too long is refused as such")]
        let number = libm::round(value) as i64;
        number
    };
    Curve::new((0..=STRETCHES).map(|step| round(quantile(part(step)))).collect())
}

/// The inverse of the normal distribution (Acklam's rational approximation, relative error below 1.2 in 10^9).
fn normal_quantile(part: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.38357751867269e2,
        -3.066479806614716e1,
        2.506628277459239,
    ];
    const B: [f64; 6] = [
        -5.447609879822406e1,
        1.615858368580409e2,
        -1.556989798598866e2,
        6.680131188771972e1,
        -1.328068155288572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const D: [f64; 5] = [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1.0];
    let polynomial = |coefficients: &[f64], at: f64| coefficients.iter().fold(0.0, |sum, next| sum * at + next);
    let tail = |part: f64| {
        let at = libm::sqrt(-2.0 * libm::log(part));
        polynomial(&C, at) / polynomial(&D, at)
    };
    match part {
        ..0.02425 => tail(part),
        0.97575.. => -tail(1.0 - part),
        _ => {
            let at = part - 0.5;
            polynomial(&A, at * at) * at / polynomial(&B, at * at)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_quantiles_are_those_of_the_tables() {
        for (part, quantile) in [(0.5, 0.0), (0.841_344_746, 1.0), (0.975, 1.959_963_985), (0.001, -3.090_232_306)] {
            assert!((normal_quantile(part) - quantile).abs() < 1e-6, "{part}: {}", normal_quantile(part));
        }
    }
}
