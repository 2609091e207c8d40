//! The values of options: durations with units, rates, names of promises.

use fencepost::model::units::{Duration, PartsPerMillion};
use fencepost_doctor::Promise;

/// A duration, or none.
#[derive(Copy, Clone, Debug)]
pub struct Optional(pub Option<Duration>);

/// A duration with a unit.
pub fn duration(text: &str) -> Result<Duration, String> {
    text.parse::<Duration>().map_err(|error| error.to_string())
}

/// A duration with a unit, or `none`.
pub fn optional(text: &str) -> Result<Optional, String> {
    if text == "none" { Ok(Optional(None)) } else { duration(text).map(|duration| Optional(Some(duration))) }
}

/// A rate, as 200ppm.
pub fn rate(text: &str) -> Result<PartsPerMillion, String> {
    text.parse::<PartsPerMillion>().map_err(|error| error.to_string())
}

/// A promise by its name.
pub fn promise(text: &str) -> Result<Promise, String> {
    let names = || Promise::ALL.map(Promise::name).join(", ");
    Promise::ALL.into_iter().find(|promise| promise.name() == text).ok_or_else(|| format!("there are {}", names()))
}
