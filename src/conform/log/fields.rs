//! Values as people and proxies write them: numbers as text, dates, durations, a dash for nothing.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::super::consul::nanoseconds;

/// The fields of a line, few, with their names as they stand in the text. Of two with one name, the second counts.
#[derive(Default)]
pub(super) struct Object<'t>(Vec<(Cow<'t, str>, Value)>);

/// A name, borrowed from the text if it has no escapes.
#[derive(serde::Deserialize)]
struct Name<'t>(#[serde(borrow)] Cow<'t, str>);

impl Object<'_> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(other, _)| other == name)
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        let place = self.0.iter().position(|(other, _)| other == name)?;
        Some(self.0.swap_remove(place).1)
    }

    pub(super) fn into_map(self) -> Map<String, Value> {
        self.0.into_iter().map(|(name, value)| (name.into_owned(), value)).collect()
    }
}

impl<'t> Deserialize<'t> for Object<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'t> Visitor<'t> for Pairs {
            type Value = Object<'t>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Object<'t>, A::Error> {
                let mut object = Object(Vec::with_capacity(12));
                while let Some((Name(name), value)) = map.next_entry()? {
                    object.take(&name);
                    object.0.push((name, value));
                }
                Ok(object)
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

/// The fields of a line, taken one by one; what is left over is kept.
pub(super) struct Fields<'a> {
    object: Object<'a>,
    /// What the fields are called here, by our name for them.
    names: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(object: Object<'a>, names: &'a Map<String, Value>) -> Self {
        Fields { object, names }
    }

    pub(super) fn into_rest(self) -> Map<String, Value> {
        self.object.into_map()
    }

    /// A field; the outer none: it is not there.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        let theirs = self.names.get(name).and_then(Value::as_str).unwrap_or(name);
        self.object.take(theirs)
    }

    /// A text; null and nothing are none.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.take(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(format!("`{name}` is a text, not {other}")),
        }
    }

    /// A whole number, or one as text; what proxies write for nothing is none.
    pub(super) fn whole(&mut self, name: &str) -> Result<Option<u64>, String> {
        self.take(name).map_or(Ok(None), |value| whole(name, &value))
    }

    /// A text that may be unknown: null says so, and so does nothing at all where `is_unknown`.
    pub(super) fn body(&mut self, name: &str, is_unknown: bool) -> Result<(Option<String>, bool), String> {
        match self.take(name) {
            None => Ok((None, is_unknown)),
            Some(Value::Null) => Ok((None, true)),
            Some(Value::String(text)) => Ok((Some(text), false)),
            Some(other) => Err(format!("`{name}` is a text, not {other}")),
        }
    }

    /// An instant in nanoseconds: seconds, or a date.
    pub(super) fn instant(&mut self, name: &str) -> Result<Option<i64>, String> {
        let at = match self.take(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => match text.parse::<f64>() {
                Ok(seconds) => of_seconds(seconds),
                Err(_) => date(&text),
            },
            Some(value) => value.as_f64().and_then(of_seconds),
        };
        at.map(Some).ok_or_else(|| format!("`{name}` is no instant: seconds, or a date as 2026-01-31T12:00:00.250Z"))
    }

    /// How long something took, in nanoseconds: `took` in seconds or as `12ms`, `took_ms`, `took_ns`.
    pub(super) fn duration(&mut self) -> Result<Option<i64>, String> {
        let wrong = |name: &str| format!("`{name}` is no duration");
        if let Some(value) = self.take("took") {
            let took = match &value {
                Value::String(text) => match text.parse::<f64>() {
                    Ok(seconds) => of_seconds(seconds),
                    Err(_) => nanoseconds(text).ok().filter(|took| *took >= 0),
                },
                value => value.as_f64().and_then(of_seconds),
            };
            return took.map(Some).ok_or_else(|| wrong("took"));
        }
        for (name, unit) in [("took_ms", 1_000_000), ("took_ns", 1)] {
            if let Some(count) = self.whole(name)? {
                let took = i64::try_from(count).ok().and_then(|count| count.checked_mul(unit));
                return took.filter(|took| *took < INSTANT_MAX).map(Some).ok_or_else(|| wrong(name));
            }
        }
        Ok(None)
    }
}

/// A whole number, or one as text; none for null, nothing and a dash.
pub(super) fn whole(name: &str, value: &Value) -> Result<Option<u64>, String> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) if text.is_empty() || text == "-" => Ok(None),
        Value::String(text) => text.parse().map(Some).map_err(|_| format!("`{name}` is a number, not `{text}`")),
        value => value.as_u64().map(Some).ok_or_else(|| format!("`{name}` is a number, not {value}")),
    }
}

/// The last instant that a log may have, in nanoseconds.
const INSTANT_MAX: i64 = 4_000_000_000_000_000_000;

pub(super) fn of_seconds(seconds: f64) -> Option<i64> {
    let nanoseconds = (seconds * 1e9).round();
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a bound, and a number within it")]
    (0.0..INSTANT_MAX as f64).contains(&nanoseconds).then_some(nanoseconds as i64)
}

/// A date of RFC 3339, in nanoseconds since 1970.
fn date(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        digits.parse().ok()
    };
    let is_separated = |at: usize, by: &[u8]| text.as_bytes().get(at).is_some_and(|byte| by.contains(byte));
    if !(is_separated(4, b"-") && is_separated(7, b"-") && is_separated(10, b"Tt ")) {
        return None;
    }
    if !(is_separated(13, b":") && is_separated(16, b":")) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !(1970..2090).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let rest = text.get(19..)?;
    let fraction: String = rest.strip_prefix('.').unwrap_or("").chars().take_while(char::is_ascii_digit).collect();
    let zone = rest.get(if fraction.is_empty() { 0 } else { fraction.len() + 1 }..)?;
    let nanoseconds: i64 = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    let seconds = (days(year, month, day) * 24 + hour) * 3600 + minute * 60 + second - offset(zone)?;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds).filter(|at| (0..INSTANT_MAX).contains(at))
}

/// Days since 1970, of the calendar that is in use.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that a leap day is the last of its year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Seconds east of Greenwich: `Z`, `+01:00`, `-0500`.
fn offset(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits = zone.strip_prefix(['+', '-'])?.replace(':', "");
    let is_plain = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: i64 = digits.parse().ok().filter(|_| is_plain)?;
    Some(sign * (number / 100 * 3600 + number % 100 * 60))
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_read_with_their_zone_and_fraction_and_nothing_else_is() {
        assert_eq!(date("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(date("2000-03-01T00:00:00Z"), Some(951_868_800_000_000_000));
        assert_eq!(date("2026-11-24T17:00:00.25+01:00"), date("2026-11-24T16:00:00.250000000Z"));
        assert_eq!(date("2026-11-24 11:30:00.1-0430"), date("2026-11-24T16:00:00.1z"));
        for wrong in ["", "2026-11-24", "2026-11-24T17:00:00", "2026-13-24T17:00:00Z", "24/Nov/2026:17:00:00 +0000"] {
            assert_eq!(date(wrong), None, "{wrong}");
        }
    }
}
