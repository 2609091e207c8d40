//! Axes: where a value lies, and which values are named.

/// How values lie on an axis.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Scale {
    /// Evenly, from 0.
    Linear,
    /// By their logarithm.
    Log,
}

/// An axis of a chart.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it shows.
    pub title: String,
    /// How values lie on it.
    pub scale: Scale,
    /// The smallest value that it shows.
    pub from: f64,
    /// The largest one.
    pub to: f64,
}

impl Axis {
    /// An axis that starts at 0 and has room for these values.
    pub fn linear(title: &str, values: impl Iterator<Item = f64>) -> Axis {
        let most = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        let to = if most > 0.0 { most * 1.05 } else { 1.0 };
        Axis { title: title.to_owned(), scale: Scale::Linear, from: 0.0, to }
    }

    /// An axis of powers of ten round these values; what is not positive has no place on it.
    pub fn log(title: &str, values: impl Iterator<Item = f64> + Clone) -> Axis {
        let positive = values.filter(|value| value.is_finite() && *value > 0.0);
        let least = positive.clone().fold(f64::INFINITY, f64::min);
        let most = positive.fold(0.0, f64::max);
        let (least, most) = if most > 0.0 { (least, most) } else { (0.1, 1.0) };
        let power = |value: f64, round: fn(f64) -> f64| libm::pow(10.0, round(libm::log10(value)));
        let (from, to) = (power(least, libm::floor), power(most, libm::ceil));
        Axis { title: title.to_owned(), scale: Scale::Log, from, to: if to > from { to } else { from * 10.0 } }
    }

    /// Where a value lies, between 0 and 1; what is outside lies at the edge.
    pub fn place(&self, value: f64) -> f64 {
        let place = match self.scale {
            Scale::Linear => (value - self.from) / (self.to - self.from),
            Scale::Log if value <= 0.0 => 0.0,
            Scale::Log => libm::log10(value / self.from) / libm::log10(self.to / self.from),
        };
        place.clamp(0.0, 1.0)
    }

    /// The values that are named: four to eight round ones.
    pub fn ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Linear => {
                let rough = (self.to - self.from) / 5.0;
                let power = libm::pow(10.0, libm::floor(libm::log10(rough)));
                let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= rough).unwrap_or(10.0) * power;
                (0..20).map(|place| f64::from(place) * step).take_while(|value| *value <= self.to).collect()
            }
            Scale::Log => {
                let decades = libm::round(libm::log10(self.to / self.from));
                let stride = libm::ceil(decades / 8.0).max(1.0);
                (0..=20)
                    .map(|place| self.from * libm::pow(10.0, f64::from(place) * stride))
                    .take_while(|value| *value <= self.to * 1.001)
                    .collect()
            }
        }
    }
}

/// A share in percent, with as many digits as it needs.
pub fn percent(value: f64) -> String {
    format!("{} %", digits(value * 100.0))
}

/// A number with two or three digits that count.
pub fn digits(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !size.is_finite() {
        return "∞".to_owned();
    }
    if size >= 99.5 {
        return format!("{value:.0}");
    }
    let power = libm::floor(libm::log10(size));
    if power < -6.0 {
        return format!("{value:.1e}");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 7")]
    let decimals = (1.0 - power).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_values_and_place_them() {
        let axis = Axis::linear("share", [0.02, 0.137].into_iter());
        assert_eq!(axis.ticks().iter().map(|tick| percent(*tick)).collect::<Vec<_>>(), ["0 %", "5 %", "10 %"]);
        assert!((axis.place(axis.to / 2.0) - 0.5).abs() < 1e-12);
        let axis = Axis::log("risk", [0.000_2, 0.3].into_iter());
        assert_eq!(
            axis.ticks().iter().map(|tick| percent(*tick)).collect::<Vec<_>>(),
            ["0.01 %", "0.1 %", "1 %", "10 %", "100 %"]
        );
        assert!((axis.place(0.01) - 0.5).abs() < 1e-12);
        assert_eq!((axis.place(0.0), axis.place(5.0)), (0.0, 1.0));
        assert_eq!(Axis::log("nothing", std::iter::empty()).ticks().len(), 2);
    }

    #[test]
    fn numbers_have_the_digits_that_count() {
        let texts = [0.0, 0.012_345, 1.0, 9.96, 12.34, 123.4, 0.000_000_012].map(digits);
        assert_eq!(texts, ["0", "0.012", "1", "10", "12", "123", "1.2e-8"]);
    }
}
