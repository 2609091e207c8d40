//! How runs are taken: what `simulate` and `hunt` have in common.

use clap::{Args, ValueEnum};
use fencepost::AnyScenario;
use fencepost::model::with_scenario;
use fencepost::sim::{SchedulerKind, Settings, prepare};

use super::Trouble;

#[derive(Args, Debug)]
pub struct How {
    /// Who picks the next action
    #[arg(long, value_enum, default_value_t = Scheduler::Realistic)]
    pub scheduler: Scheduler,
    /// How much finer the clock is than the scenario's [default: 1000; uniform: 1]
    #[arg(long, value_parser = clap::value_parser!(i64).range(1..=1_000_000))]
    refine: Option<i64>,
    /// So many clients instead of the scenario's
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    clients: Option<u16>,
    /// So many rounds instead of the scenario's
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..))]
    rounds: Option<u8>,
    /// Ticks of the scenario until nothing goes wrong any more
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(i64).range(0..=1_000_000_000))]
    storm: i64,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
pub enum Scheduler {
    Realistic,
    Uniform,
}

impl How {
    pub fn settings(&self) -> Settings {
        let (scheduler, refinement) = match self.scheduler {
            Scheduler::Realistic => (SchedulerKind::Realistic, 1000),
            Scheduler::Uniform => (SchedulerKind::Uniform, 1),
        };
        Settings {
            scheduler,
            refinement: self.refine.unwrap_or(refinement),
            clients: self.clients,
            rounds: self.rounds,
            storm: self.storm,
            ..Settings::default()
        }
    }

    /// The options that make `simulate` take the same runs.
    pub fn options(&self) -> String {
        let mut text = String::new();
        if self.scheduler == Scheduler::Uniform {
            text += " --scheduler uniform";
        }
        let numbers = [
            ("refine", self.refine),
            ("clients", self.clients.map(i64::from)),
            ("rounds", self.rounds.map(i64::from)),
            ("storm", Some(self.storm).filter(|storm| *storm != Settings::default().storm)),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                text += &format!(" --{name} {number}");
            }
        }
        text
    }
}

/// A scenario may name durations that do not fit any more when they are refined, or clients that are too many.
pub fn look_at(scenario: &AnyScenario, settings: &Settings) -> Result<(), Trouble> {
    with_scenario!(scenario, scenario => {
        let refined = prepare(scenario, settings);
        refined.validate().map_err(|mistake| Trouble::Input(format!("{}, refined: {mistake}", scenario.name)))
    })
}
