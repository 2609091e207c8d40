//! The cost of the settings of a lock: for each combination of settings, the measurements of many simulated runs and
//! the verdicts of the checker.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Finding, Measurement, Property};

/// A question about settings, with the measurements that answer it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Study {
    /// Its name on the command line.
    pub name: String,
    /// The question.
    pub title: String,
    /// The assumptions, in sentences: clients, faults, durations.
    pub about: String,
    /// The command that repeats the study.
    pub command: String,
    /// The promise whose violations count as unsafe.
    pub safety: Property,
    /// The unit of a tick of the scenario, for example `s`.
    pub unit: String,
    /// The number of ticks of the scenario in an hour.
    pub units_per_hour: i64,
    /// The number of ticks of the measurements per tick of the scenario.
    pub refinement: i64,
    /// The settings, in the order of the grid.
    pub points: Vec<Point>,
    /// The settings that were searched exhaustively and not simulated.
    pub searches: Vec<Search>,
}

/// One combination of settings, with its measurements.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Point {
    /// The settings that differ from the other points, for example `ttl = 10`.
    pub settings: Vec<String>,
    /// The reason why the combination is impossible, if it is.
    pub problem: Option<String>,
    /// The number of runs.
    pub runs: u64,
    /// For each promise, the number of runs that violated it.
    pub broken: BTreeMap<Property, u64>,
    /// The sum of the measurements.
    pub total: Measurement,
    /// For each measure with an interval, the values of the runs.
    pub samples: Vec<Sample>,
    /// Example runs.
    pub seeds: Vec<Extreme>,
    /// Estimates of the probability of an unsafe run where none or few were seen: repetitions of importance splitting.
    pub splits: Vec<Split>,
}

/// The idle time of one run, in ticks.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// The duration of the run.
    pub ticks: i64,
    /// The time during which a slot was free while a client was waiting.
    pub idle: i64,
    /// The time during which too many clients were inside.
    pub overlap: i64,
}

/// An extreme run of the measurements.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Extreme {
    /// The measure in which it is extreme.
    pub what: String,
    /// Its seed.
    pub seed: u64,
    /// The command that replays it.
    pub command: String,
}

/// A repetition of importance splitting: for each level of danger, the number of runs that started from the level
/// before and the number that reached it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Split {
    /// One entry for each level. The last level is the violation.
    pub stages: Vec<Stage>,
}

/// One level of a repetition.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stage {
    /// The number of runs that started.
    pub tried: u64,
    /// The number of runs that reached the level.
    pub reached: u64,
}

impl Study {
    /// The verdicts on a setting in a small scenario, if the scenario was searched.
    pub fn searched(&self, place: usize) -> Option<&Finding> {
        let search = self.searches.iter().find(|search| search.is_of_points)?;
        let found = search.settings.get(place)?.found.as_ref().ok()?;
        found.iter().find(|finding| finding.property == self.safety)
    }
}

/// A grid that was searched exhaustively.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Search {
    /// Whether its settings are the settings of the points, one for one, in a scenario that is small enough for a
    /// search.
    pub is_of_points: bool,
    /// The assumptions, as a heading.
    pub title: String,
    /// The scenario.
    pub scenario: String,
    /// The combinations of settings.
    pub settings: Vec<Searched>,
}

/// One combination of settings, searched exhaustively.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Searched {
    /// The settings that differ from the others.
    pub settings: Vec<String>,
    /// The verdicts, or the reason why the combination is impossible.
    pub found: Result<Vec<Finding>, String>,
}
