//! How runs are taken: what `simulate`, `hunt` and `diff` have in common.

use std::fs;
use std::ops::RangeInclusive;

use clap::Args;
use fencepost::AnyScenario;
use fencepost::model::scenario::Axis;
use fencepost::sim::{Profile, SchedulerKind, Settings};
use serde::Deserialize as _;

use crate::exit::CommandError;
use crate::target::quoted;

/// What the numbers of a plan may be.
pub const REFINEMENTS: RangeInclusive<i64> = 1..=1_000_000;
pub const CLIENTS: RangeInclusive<i64> = 1..=10_000;
pub const ROUNDS: RangeInclusive<i64> = 1..=255;
pub const STORMS: RangeInclusive<i64> = 0..=1_000_000_000;
pub const CALMS: RangeInclusive<i64> = 1..=1_000_000_000;

/// The most combinations of settings that are spelt out.
const COMBINATIONS_MAX: usize = 100_000;

#[derive(Args, Debug)]
pub struct RunArguments {
    /// The scheduler, which picks the next action
    #[arg(long, value_parser = scheduler, default_value = "realistic", value_name = "NAME")]
    pub scheduler: SchedulerKind,
    /// Simulator ticks per scenario tick [default: 1000; uniform and priorities: 1]
    #[arg(long, value_parser = clap::value_parser!(i64).range(REFINEMENTS), value_name = "N")]
    refine: Option<i64>,
    /// Use N clients instead of the scenario's number
    #[arg(long, value_parser = clap::value_parser!(u16).range(CLIENTS), value_name = "N")]
    clients: Option<u16>,
    /// Use N rounds instead of the scenario's number
    #[arg(long, value_parser = clap::value_parser!(u8).range(ROUNDS), value_name = "N")]
    rounds: Option<u8>,
    /// How long faults may occur, in ticks of the scenario
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(i64).range(STORMS), value_name = "TICKS")]
    storm: i64,
    /// The maximum wait of a client after the faults, in ticks of the scenario; a longer wait violates a promise of progress
    /// [default: 100 of the slowest steps and the longest stall of the profile, plus 8 times the longest duration of the service]
    #[arg(long, value_parser = clap::value_parser!(i64).range(CALMS), value_name = "TICKS")]
    calm: Option<i64>,
    /// Delays as distributions: a TOML file, as reports/docs/simulator.md describes it
    #[arg(long, value_parser = profile, value_name = "FILE")]
    profile: Option<ProfileFile>,
}

/// A profile, and the file that it stands in.
#[derive(Clone, Debug)]
pub struct ProfileFile {
    pub file: String,
    pub profile: Profile,
}

/// Reads a profile.
pub fn profile(file: &str) -> Result<ProfileFile, String> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    pace(&text, file)
}

/// The profile that stands in a file; the error names the line.
pub fn pace(text: &str, file: &str) -> Result<ProfileFile, String> {
    let mut table: toml::Table = toml::from_str(text).map_err(|error| format!("{file}: {error}"))?;
    let profile = match table.remove("gossip") {
        None => toml::from_str(text).map_err(|error| format!("{file}: {error}"))?,
        Some(detector) => {
            eprintln!("warning: {file}: `[gossip]` is called `[detector]` now");
            table.insert("detector".to_owned(), detector);
            Profile::deserialize(table).map_err(|error| format!("{file}: {error}"))?
        }
    };
    Ok(ProfileFile { file: file.to_owned(), profile })
}

/// Whether this number of combinations can be listed.
pub fn are_countable(axes: &[Axis]) -> Result<(), CommandError> {
    let combinations = axes.iter().fold(1, |all: usize, axis| all.saturating_mul(axis.len()));
    if combinations <= COMBINATIONS_MAX {
        return Ok(());
    }
    Err(CommandError::Input(format!("`vary`: these are more than {COMBINATIONS_MAX} combinations; name fewer values")))
}

/// A scenario with other settings; none if there are several values of one of them.
///
/// # Errors
/// The scenario is impossible with them.
pub fn changed(scenario: &dyn AnyScenario, axes: &[Axis]) -> Result<Option<Box<dyn AnyScenario>>, CommandError> {
    if axes.is_empty() {
        return Ok(Some(scenario.copy()));
    }
    are_countable(axes)?;
    let mut varied = scenario.vary(axes);
    match (varied.pop(), varied.is_empty()) {
        (Some(one), true) => one.scenario.map(Some).map_err(|error| CommandError::Input(error.to_string())),
        _ => Ok(None),
    }
}

/// The scheduler of this name.
pub fn scheduler(name: &str) -> Result<SchedulerKind, String> {
    let names = SchedulerKind::ALL.map(SchedulerKind::name).join(", ");
    let found = SchedulerKind::ALL.into_iter().find(|kind| kind.name() == name);
    found.ok_or_else(|| format!("there are {names}"))
}

impl RunArguments {
    pub fn settings(&self) -> Settings {
        Settings {
            scheduler: self.scheduler,
            refinement: self.refine.unwrap_or(self.scheduler.refinement()),
            clients: self.clients,
            rounds: self.rounds,
            storm: self.storm,
            calm: self.calm,
            profile: self.profile.as_ref().map(|pace| pace.profile.clone()).unwrap_or_default(),
            ..Settings::default()
        }
    }

    /// The options that make `simulate` take the same runs.
    pub fn options(&self) -> String {
        let mut text = String::new();
        if self.scheduler != SchedulerKind::default() {
            text += &format!(" --scheduler {}", self.scheduler.name());
        }
        let numbers = [
            ("refine", self.refine),
            ("clients", self.clients.map(i64::from)),
            ("rounds", self.rounds.map(i64::from)),
            ("calm", self.calm),
            ("storm", Some(self.storm).filter(|storm| *storm != Settings::default().storm)),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                text += &format!(" --{name} {number}");
            }
        }
        if let Some(pace) = &self.profile {
            text += &format!(" --profile {}", quoted(&pace.file));
        }
        text
    }
}

/// Two runs of a seed that differ: a program of the user's is to blame where there is one, and this program otherwise.
pub fn two_runs_differ(scenario: &dyn AnyScenario, seed: u64) -> CommandError {
    let name = scenario.name();
    let differ = format!("{name}: seed {seed} is not deterministic: two runs have different digests");
    if scenario.assumptions().iter().any(|assumption| assumption.kind == "deterministic-programs") {
        return CommandError::Input(format!(
            "{differ}; one of its programs is not deterministic, and `fencepost check` names the place"
        ));
    }
    CommandError::Internal(differ)
}

/// A scenario may name durations that do not fit any more when they are refined, or clients that are too many.
pub fn refuse_unusable(scenario: &dyn AnyScenario, settings: &Settings) -> Result<(), CommandError> {
    scenario.can_be_simulated(settings).map_err(CommandError::Input)
}

#[cfg(test)]
mod tests {
    use fencepost::Ticks;
    use fencepost::lease::{self, Loan};
    use fencepost::model::ids::Index;

    use super::*;

    #[test]
    fn where_two_runs_differ_a_program_is_bad_input_and_this_program_has_an_internal_error() {
        let machines = lease::lock("machines").scenario();
        let loan = Loan { lease: Ticks::new(4), retry_every: Ticks::new(1), last: Index::NONE };
        let programs = lease::lock("programs").programs(loan).scenario();
        let error = |scenario| two_runs_differ(lease::SERVICE.any(scenario), 7);
        assert!(matches!(error(&machines), CommandError::Internal(why) if why.contains("seed 7")));
        assert!(matches!(error(&programs), CommandError::Input(why) if why.contains("one of its programs")));
    }
}
