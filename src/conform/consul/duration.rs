//! Durations as Go writes them: `1.5s`, `10m`, `-2h45m`.

const UNITS: [(&str, i128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

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
        if whole.len() > 19 {
            return Err(invalid());
        }
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
        let mut scale = *unit;
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

#[cfg(test)]
mod tests {
    use super::nanoseconds;

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
