//! What a sweep is to do: settings × seeds, in one order, and which part of it a shard takes. A pure function of its arguments.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use fencepost::catalogue;
use fencepost::model::scenario::Axis;
use fencepost::sim::{Profile, SchedulerKind, Settings};
use fencepost::{AnyScenario, Property};
use serde::{Deserialize, Serialize};

use crate::exit::CommandError;
use crate::run_arguments;

/// Everything that decides what a store holds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepPlan {
    /// The scenario, whole.
    pub scenario: String,
    /// The axes, as they were typed.
    pub vary: Vec<String>,
    /// The first seed, and the one after the last.
    pub seeds: (u64, u64),
    pub scheduler: String,
    pub refinement: i64,
    pub clients: Option<u16>,
    pub rounds: Option<u8>,
    pub storm: i64,
    pub calm: Option<i64>,
    pub actions: u64,
    /// How long things take; none: as usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
}

/// A part of a sweep, from 1: the second of eight is `2/8`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Shard {
    part: u64,
    of: u64,
}

impl Shard {
    /// All of it.
    pub const WHOLE: Shard = Shard { part: 1, of: 1 };

    /// Which of the runs it takes: all shards are as long as each other, up to one run.
    pub fn range(self, runs: u64) -> Range<u64> {
        let cut = |part: u64| {
            u64::try_from(u128::from(runs) * u128::from(part) / u128::from(self.of)).expect("it is not more than all")
        };
        cut(self.part - 1)..cut(self.part)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<u64>().ok();
        match text.split_once('/').map(|(part, of)| (number(part), number(of))) {
            Some((Some(part), Some(of))) if (1..=of).contains(&part) => Ok(Shard { part, of }),
            _ => Err("a part of how many, as 2/8".to_owned()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

/// One combination of the values that vary.
pub struct Setting {
    /// One for each setting that varies.
    pub names: Vec<String>,
    /// The scenario; or why the combination is impossible: there are no runs of it.
    pub scenario: Result<Box<dyn AnyScenario>, String>,
}

/// A plan, spelt out.
pub struct Jobs {
    pub settings: Vec<Setting>,
    /// The places of the possible ones.
    possible: Vec<usize>,
    seeds: Range<u64>,
    run_settings: Settings,
}

/// A run to be taken.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// The place of its setting.
    pub setting: usize,
    pub seed: u64,
}

impl SweepPlan {
    /// Whether its numbers are such as the command line takes; the error is a sentence.
    fn validate(&self) -> Result<(), String> {
        let (first, after) = self.seeds;
        if first >= after {
            return Err(format!("`seeds`: there is no seed from {first} to before {after}"));
        }
        let numbers = [
            ("refinement", Some(self.refinement), run_arguments::REFINEMENTS),
            ("clients", self.clients.map(i64::from), run_arguments::CLIENTS),
            ("rounds", self.rounds.map(i64::from), run_arguments::ROUNDS),
            ("storm", Some(self.storm), run_arguments::STORMS),
            ("calm", self.calm, run_arguments::CALMS),
        ];
        for (name, number, range) in numbers {
            if number.is_some_and(|number| !range.contains(&number)) {
                return Err(format!("`{name}` is not from {} to {}", range.start(), range.end()));
            }
        }
        Ok(())
    }

    /// Spells it out.
    ///
    /// # Errors
    /// The scenario or an axis cannot be read, no combination is possible, or there are too many runs to count.
    pub fn jobs(&self) -> Result<Jobs, CommandError> {
        let bad = |error: &dyn fmt::Display| CommandError::Input(error.to_string());
        self.validate().map_err(|mistake| bad(&mistake))?;
        let scenario = catalogue::read(&self.scenario, "the scenario").map_err(|error| bad(&error))?;
        let axes: Result<Vec<Axis>, _> = self.vary.iter().map(|text| text.parse::<Axis>()).collect();
        let scheduler = SchedulerKind::ALL.into_iter().find(|kind| kind.name() == self.scheduler);
        let run_settings = Settings {
            scheduler: scheduler.ok_or_else(|| bad(&format!("there is no scheduler `{}`", self.scheduler)))?,
            refinement: self.refinement,
            clients: self.clients,
            rounds: self.rounds,
            storm: self.storm,
            calm: self.calm,
            actions_max: self.actions,
            profile: self.profile.clone().unwrap_or_default(),
            ..Settings::default()
        };
        let axes = axes.map_err(|error| bad(&error))?;
        run_arguments::are_countable(&axes)?;
        let settings: Vec<Setting> = scenario
            .vary(&axes)
            .into_iter()
            .map(|varied| {
                let read = varied.scenario.map_err(|error| error.message.clone());
                let scenario =
                    read.and_then(|scenario| match run_arguments::refuse_unusable(&*scenario, &run_settings) {
                        Ok(()) => Ok(scenario),
                        Err(error) => Err(error.to_string()),
                    });
                Setting { names: varied.settings, scenario }
            })
            .collect();
        let possible: Vec<usize> = (0..settings.len()).filter(|place| settings[*place].scenario.is_ok()).collect();
        if possible.is_empty() {
            let why = settings.first().and_then(|setting| setting.scenario.as_ref().err()).cloned();
            return Err(bad(&format!("no setting is possible: {}", why.unwrap_or_default())));
        }
        let jobs = Jobs { settings, possible, seeds: self.seeds.0..self.seeds.1, run_settings };
        let runs = (jobs.possible.len() as u64).checked_mul(self.seeds.1 - self.seeds.0);
        match runs {
            Some(runs) if [self.seeds.1, runs].iter().all(|number| i64::try_from(*number).is_ok()) => Ok(jobs),
            _ => Err(bad(&"the number of runs is too large, or a seed is beyond 2^63")),
        }
    }
}

impl Jobs {
    /// How many runs there are.
    pub fn len(&self) -> u64 {
        self.possible.len() as u64 * (self.seeds.end - self.seeds.start)
    }

    /// The run with this number: all seeds of the first setting, then of the next. None: there is no such run.
    pub fn job(&self, number: u64) -> Option<Job> {
        let seeds = self.seeds.end - self.seeds.start;
        let place = usize::try_from(number / seeds).ok()?;
        Some(Job { setting: *self.possible.get(place)?, seed: self.seeds.start + number % seeds })
    }

    /// The scenario of a run.
    pub fn scenario(&self, job: Job) -> &dyn AnyScenario {
        &**self.settings[job.setting].scenario.as_ref().expect("only possible settings have runs")
    }

    /// What the scenario promises.
    pub fn promises(&self) -> Vec<Property> {
        let first = self.possible.first().and_then(|place| self.settings[*place].scenario.as_ref().ok());
        first.map(|scenario| scenario.promises().iter().map(|promise| promise.property).collect()).unwrap_or_default()
    }

    /// How a run is taken.
    pub fn run_settings(&self, job: Job) -> Settings {
        Settings { seed: job.seed, ..self.run_settings.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_take_every_run_once() {
        for runs in [0, 1, 7, 64, 1000] {
            for of in [1, 2, 3, 64] {
                let mut next = 0;
                for part in 1..=of {
                    let range = Shard { part, of }.range(runs);
                    assert_eq!(range.start, next, "{part}/{of} of {runs}");
                    assert!(range.end - range.start <= runs / of + 1);
                    next = range.end;
                }
                assert_eq!(next, runs);
            }
        }
        for wrong in ["", "3", "0/2", "3/2", "1/0", "a/b", "1/2/3"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
