//! Durations as Go writes them: `1.5s`, `10m`, `-2h45m`.

use fencepost_model::units::UNITS;

/// How many nanoseconds a text says.
///
/// # Errors
/// Go's words for why it is no duration.
pub fn nanoseconds(text: &str) -> Result<i64, String> {
    let invalid = || format!("invalid duration {text:?}");
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut sum: i128 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, unit_on) = rest.split_at(end);
        let unit_end = unit_on.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(unit_on.len());
        let (unit, next) = unit_on.split_at(unit_end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.len() + fraction.len() == 0 || fraction.contains('.') {
            return Err(invalid());
        }
        if unit.is_empty() {
            return Err(format!("missing unit in duration {text:?}"));
        }
        let Some((_, unit)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(format!("unknown unit {unit:?} in duration {text:?}"));
        };
        let unit = i128::from(*unit);
        if whole.len() > 19 {
            return Err(invalid());
        }
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
        let mut scale = unit;
        let mut parts = 0;
        for digit in fraction.bytes().take(18) {
            scale *= 10;
            parts = parts * 10 + i128::from(digit - b'0');
        }
        sum += whole * unit + parts * unit / (scale / unit).max(1);
        if sum > i128::from(i64::MAX) {
            return Err(invalid());
        }
        rest = next;
    }
    Ok(i64::try_from(sign * sum).expect("checked above"))
}

/// A duration as Go writes it: `10s`, `1m0s`, `1.5s`, `300ms`.
pub(super) fn text(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let all = nanoseconds.unsigned_abs();
    let decimal = |unit: u64| {
        let digits = unit.ilog10() as usize;
        let fraction = format!("{:0digits$}", all % unit);
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() { String::new() } else { format!(".{fraction}") }
    };
    match all {
        0 => "0s".to_owned(),
        1..1_000 => format!("{sign}{all}ns"),
        1_000..1_000_000 => format!("{sign}{}{}µs", all / 1_000, decimal(1_000)),
        1_000_000..1_000_000_000 => format!("{sign}{}{}ms", all / 1_000_000, decimal(1_000_000)),
        _ => {
            let seconds = all / 1_000_000_000;
            let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
            let before = match (hours, minutes) {
                (0, 0) => String::new(),
                (0, minutes) => format!("{minutes}m"),
                (hours, minutes) => format!("{hours}h{minutes}m"),
            };
            format!("{sign}{before}{}{}s", seconds % 60, decimal(1_000_000_000))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{nanoseconds, text};

    #[test]
    fn durations_are_written_as_go_writes_them() {
        for (written, expected) in [
            (0, "0s"),
            (10_000_000_000, "10s"),
            (1_500_000_000, "1.5s"),
            (60_000_000_000, "1m0s"),
            (86_400_000_000_001, "24h0m0.000000001s"),
            (300_000_000, "300ms"),
            (1_100, "1.1µs"),
            (-7, "-7ns"),
        ] {
            assert_eq!(text(written), expected);
            assert_eq!(nanoseconds(expected), Ok(written), "{expected}");
        }
    }

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, expected) in [
            ("0", 0),
            ("0s", 0),
            ("15s", 15_000_000_000),
            ("1.5s", 1_500_000_000),
            (".5ms", 500_000),
            ("-10s", -10_000_000_000),
            ("1h1m1s", 3_661_000_000_000),
            ("999ns", 999),
            ("1us", 1_000),
            ("24h1ns", 86_400_000_000_001),
        ] {
            assert_eq!(nanoseconds(text), Ok(expected), "{text}");
        }
        for (text, word) in
            [("", "invalid"), ("15", "missing unit"), ("s", "invalid"), ("1x", "unknown unit"), ("1.2.3s", "invalid")]
        {
            assert!(nanoseconds(text).unwrap_err().contains(word), "{text}");
        }
    }
}
