//! What the settings of a lock cost: for each combination what many simulated runs measured, and what the checker has to say.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Finding, Measurement, Property};

/// A question about settings, and what was measured to answer it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Study {
    /// Its name, as on the command line.
    pub name: String,
    /// The question.
    pub title: String,
    /// What is taken for granted, in sentences: clients, faults, how long things take.
    pub about: String,
    /// The command that does it again.
    pub command: String,
    /// The promise whose violations count as unsafe.
    pub safety: Property,
    /// What a tick of the scenario stands for, as `s`.
    pub unit: String,
    /// How many of them make an hour.
    pub units_per_hour: i64,
    /// How much finer the measurements' clock is.
    pub refinement: i64,
    /// The settings, in the order of the grid.
    pub points: Vec<Point>,
    /// What was searched to the end, and not simulated.
    pub searches: Vec<Search>,
}

/// One combination of settings, measured.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Point {
    /// What makes it differ from the others, as `ttl = 10`.
    pub settings: Vec<String>,
    /// Why it is impossible, if it is.
    pub problem: Option<String>,
    /// How many runs were taken.
    pub runs: u64,
    /// In how many of them each promise broke.
    pub broken: BTreeMap<Property, u64>,
    /// What they measured, added up.
    pub total: Measurement,
    /// What each of them measured of what has an interval.
    pub samples: Vec<Sample>,
    /// Runs to look at.
    pub seeds: Vec<Extreme>,
    /// Estimates of how likely an unsafe run is, where none or few were seen: repetitions of importance splitting.
    pub splits: Vec<Split>,
}

/// How much of a run was lost, in ticks.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// How long it took.
    pub ticks: i64,
    /// For how long there was room although somebody kept trying.
    pub idle: i64,
    /// For how long too many were inside.
    pub overlap: i64,
}

/// A run at one end of what was measured.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Extreme {
    /// What it has most of.
    pub what: String,
    /// Its seed.
    pub seed: u64,
    /// The command that repeats it.
    pub command: String,
}

/// A repetition of importance splitting: for each level of danger how many runs tried to reach it from the one before, and how
/// many did.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Split {
    /// One for each level; the last one is the violation.
    pub stages: Vec<Stage>,
}

/// One level of a repetition.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stage {
    /// How many runs set out.
    pub tried: u64,
    /// How many of them got there.
    pub reached: u64,
}

impl Study {
    /// What every run of a setting in the small says of the safety promise, where that was searched.
    pub fn searched(&self, place: usize) -> Option<&Finding> {
        let search = self.searches.iter().find(|search| search.is_of_points)?;
        let found = search.settings.get(place)?.found.as_ref().ok()?;
        found.iter().find(|finding| finding.property == self.safety)
    }
}

/// A grid that was searched to the end.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Search {
    /// Whether its settings are those of the points, one for one, in a world that is small enough to be searched.
    pub is_of_points: bool,
    /// What is assumed, as a heading.
    pub title: String,
    /// The scenario.
    pub scenario: String,
    /// The combinations of settings.
    pub settings: Vec<Searched>,
}

/// One combination of settings, searched to the end.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Searched {
    /// What makes it differ from the others.
    pub settings: Vec<String>,
    /// The verdicts; or why it is impossible.
    pub found: Result<Vec<Finding>, String>,
}
