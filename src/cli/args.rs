//! Arguments that several commands take, as they are typed: the options of every command, and the values that need reading.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use fencepost::Property;
use fencepost::model::scenario::Axis;
use fencepost::model::units::{self, DurationError};

/// Options of every command.
#[derive(Args, Clone, Debug, Default)]
pub struct Common {
    /// One JSON object a line on stdout; everything else goes to stderr
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,
    /// Where to write the report and traces
    #[arg(long, global = true, help_heading = "Global options", value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// No progress, no explanations
    #[arg(long, short, global = true, help_heading = "Global options")]
    pub quiet: bool,
    /// Accept a scenario file with a `mutation`, a deliberate fault of the model: its verdicts are about the mutant only
    #[arg(long, global = true, help_heading = "Global options")]
    pub allow_mutation: bool,
}

/// A promise, by its name or by its short one.
pub fn property(text: &str) -> Result<Property, String> {
    let names = || Property::ALL.iter().map(|property| property.name()).collect::<Vec<_>>().join(", ");
    let is_meant = |property: &&Property| property.name() == text || property.hazards_name() == text;
    Property::ALL.iter().find(is_meant).copied().ok_or_else(|| format!("there are {}", names()))
}

/// How long a command may take: with a unit, as everywhere, or in seconds.
pub fn time_limit(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string());
    }
    let duration: units::Duration = text.parse().map_err(|error: DurationError| error.to_string())?;
    Ok(Duration::from_nanos(duration.nanoseconds().unsigned_abs()))
}

/// The same, and not zero.
pub fn some_time(text: &str) -> Result<Duration, String> {
    time_limit(text).and_then(|limit| if limit.is_zero() { Err("it is more than 0".to_owned()) } else { Ok(limit) })
}

/// A number of seeds, or a range of them.
pub fn seeds(text: &str) -> Result<Range<u64>, String> {
    let number = |text: &str| text.parse::<u64>().map_err(|_| "a number, or a range as 500..1500".to_owned());
    let range = match text.split_once("..") {
        Some((from, to)) => number(from)?..number(to)?,
        None => 0..number(text)?,
    };
    if range.is_empty() { Err("there is no seed in that range".to_owned()) } else { Ok(range) }
}

/// A setting and its values.
pub fn axis(text: &str) -> Result<Axis, String> {
    text.parse::<Axis>().map_err(|error| error.to_string())
}
