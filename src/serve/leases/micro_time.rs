//! Times of leases: the server reads them, writes them in one form, and does not interpret them (OL-S-7).

/// A time with an offset, in the one form in which the server writes it; none: it is no time with six decimals, which the server demands.
pub(super) fn canonical(text: &str) -> Option<String> {
    let (day, rest) = text.split_once('T')?;
    let [year, month, of_month] = numbers(day, '-', [4, 2, 2])?;
    let (clock, fraction) = rest.split_at_checked(8)?;
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    let (decimals, zone) = fraction.strip_prefix('.')?.split_at_checked(6)?;
    let is_number = decimals.bytes().all(|byte| byte.is_ascii_digit());
    let is_time = (1..=12).contains(&month) && (1..=31).contains(&of_month) && hour < 24 && minute < 60 && second < 60;
    if !is_number || !is_time {
        return None;
    }
    let local = days(year, month, of_month) * 86_400 + hour * 3_600 + minute * 60 + second;
    let (date, time) = civil(local - offset(zone)?);
    Some(format!("{date}T{time}.{decimals}Z"))
}

/// A number of seconds since the beginning of 1970, as `creationTimestamp` is written.
pub(super) fn whole(seconds: i64) -> String {
    let (date, time) = civil(seconds);
    format!("{date}T{time}Z")
}

/// The seconds by which a zone is ahead.
fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.as_bytes().first()? {
        b'Z' => return (zone == "Z").then_some(0),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let [hours, minutes] = numbers(zone.get(1..)?, ':', [2, 2])?;
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

/// Numbers, each of a given number of digits.
fn numbers<const N: usize>(text: &str, separator: char, widths: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(separator);
    let mut found = [0; N];
    for (number, width) in found.iter_mut().zip(widths) {
        let part = parts.next().filter(|part| part.len() == width && part.bytes().all(|byte| byte.is_ascii_digit()))?;
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(found)
}

/// Days since the beginning of 1970 (Hinnant, "chrono-compatible low-level date algorithms": the year begins in March).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date and the time of day of a number of seconds since the beginning of 1970.
fn civil(seconds: i64) -> (String, String) {
    let (day, time) = (seconds.div_euclid(86_400) + 719_468, seconds.rem_euclid(86_400));
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let date = format!("{year:04}-{month:02}-{:02}", of_year - (153 * shifted + 2) / 5 + 1);
    (date, format!("{:02}:{:02}:{:02}", time / 3_600, time / 60 % 60, time % 60))
}

#[cfg(test)]
mod tests {
    use super::{canonical, days, whole};

    #[test]
    fn a_time_is_written_in_one_form_and_one_without_six_decimals_is_refused() {
        for (text, expected) in [
            ("2026-11-28T04:05:06.123456Z", Some("2026-11-28T04:05:06.123456Z")),
            ("2026-11-28T04:05:06.123456+00:00", Some("2026-11-28T04:05:06.123456Z")),
            ("2026-01-01T00:30:00.000000+01:00", Some("2025-12-31T23:30:00.000000Z")),
            ("2024-02-28T23:30:00.000000-01:30", Some("2024-02-29T01:00:00.000000Z")),
            ("2026-11-28T04:05:06Z", None),
            ("2026-11-28T04:05:06.123Z", None),
            ("2026-11-28T04:05:06.123456789Z", None),
            ("2026-11-28T04:05:06.123456", None),
            ("2026-13-28T04:05:06.123456Z", None),
            ("2026-11-28T24:05:06.123456Z", None),
            ("2026-11-28", None),
            ("ü", None),
            ("2026-11-28Tü4:05:06.123456Z", None),
            ("", None),
        ] {
            assert_eq!(canonical(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn days_are_counted_from_1970() {
        assert_eq!([days(1970, 1, 1), days(2000, 3, 1), days(1969, 12, 31)], [0, 11_017, -1]);
        assert_eq!(whole(951_782_400), "2000-02-29T00:00:00Z");
    }
}
