//! Options of every question, and their values: bounds, durations with units, rates, names of promises.

use clap::Args;
use fencepost::model::units::{Duration, PartsPerMillion};
use fencepost_doctor::{Promise, Quantity};

/// The bounds that the user counts on.
#[derive(Args, Debug)]
pub struct Bounds {
    /// The longest pause of a client
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    pub pause: Option<Duration>,
    /// The maximum delay of a message that arrives
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    pub latency: Option<Duration>,
    /// By how much the clock of a holder may be slower than the servers', or a contender's, as 200ppm
    #[arg(long, value_parser = rate, value_name = "RATE")]
    pub drift: Option<PartsPerMillion>,
}

impl Bounds {
    /// Whether this bound is given.
    pub fn has(&self, bound: Quantity) -> bool {
        match bound {
            Quantity::Pause => self.pause.is_some(),
            Quantity::Latency => self.latency.is_some(),
            _ => self.drift.is_some(),
        }
    }
}

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
