//! `fencepost simulate`: one plausible run from a seed.

use clap::{Args, ValueEnum};
use fencepost::model::trace::AnyTrace;
use fencepost::model::with_scenario;
use fencepost::reports::timeline::timeline;
use fencepost::sim::{Run, SchedulerKind, Settings, prepare, simulate_any};
use fencepost::{AnyScenario, Expect};

use super::json::{Simulated, Violated};
use super::output::{say, say_json, write_trace};
use super::{Common, Exit, Trouble, target};

#[derive(Args, Debug)]
pub struct Simulate {
    /// A scenario, hazard (B-01) or scenario file
    target: String,
    /// The seed: it decides everything that is left to chance
    #[arg(long)]
    seed: u64,
    /// Who picks the next action
    #[arg(long, value_enum, default_value_t = Scheduler::Realistic)]
    scheduler: Scheduler,
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
    /// End the run after so many actions, if it does not come to rest before
    #[arg(long, default_value_t = 100_000)]
    actions: u64,
    /// Show at most so many steps of the run
    #[arg(long, default_value_t = 40)]
    show: usize,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
enum Scheduler {
    Realistic,
    Uniform,
}

pub fn run(simulate: &Simulate, common: &Common) -> Result<Exit, Trouble> {
    let mut exit = Exit::AsExpected;
    for scenario in target::find(&simulate.target)? {
        simulate.look_at(&scenario)?;
        let run = simulate_any(&scenario, &simulate.settings());
        let name = format!("{}--seed-{}", run.scenario, run.seed);
        let trace = write_trace(common.out.as_deref(), &name, &run.trace)?.map(|path| path.display().to_string());
        if common.json {
            say_json(&line(&run, trace));
        } else {
            tell(&run, trace.as_deref(), if common.quiet { 0 } else { simulate.show })?;
        }
        if is_surprising(&scenario, &run) {
            exit = Exit::Unexpected;
        }
    }
    Ok(exit)
}

impl Simulate {
    /// A scenario may name durations that do not fit any more when they are refined.
    fn look_at(&self, scenario: &AnyScenario) -> Result<(), Trouble> {
        with_scenario!(scenario, scenario => {
            let refined = prepare(scenario, &self.settings());
            refined.validate().map_err(|mistake| Trouble::Input(format!("{}, refined: {mistake}", scenario.name)))
        })
    }

    fn settings(&self) -> Settings {
        let (scheduler, refinement) = match self.scheduler {
            Scheduler::Realistic => (SchedulerKind::Realistic, 1000),
            Scheduler::Uniform => (SchedulerKind::Uniform, 1),
        };
        Settings {
            seed: self.seed,
            scheduler,
            refinement: self.refine.unwrap_or(refinement),
            clients: self.clients,
            rounds: self.rounds,
            storm: self.storm,
            actions_max: self.actions,
        }
    }
}

fn line(run: &Run, trace: Option<String>) -> Simulated<'_> {
    let violations = run.violations.iter();
    Simulated {
        scenario: &run.scenario,
        seed: Some(run.seed),
        digest: &run.digest,
        actions: run.actions,
        ticks: run.ticks,
        violations: violations
            .map(|v| Violated { property: v.property.name(), step: v.step, message: &v.message })
            .collect(),
        trace,
    }
}

/// Whether the run broke a promise that is expected to hold.
fn is_surprising(scenario: &AnyScenario, run: &Run) -> bool {
    let is_promised = |property| with_scenario!(scenario, scenario => scenario.promises.iter().any(|promise| promise.property == property && promise.expect == Expect::Proven));
    run.violations.iter().any(|violation| is_promised(violation.property))
}

fn tell(run: &Run, trace: Option<&str>, show: usize) -> Result<(), Trouble> {
    if show > 0 {
        let parsed = AnyTrace::from_text(&run.trace).map_err(|error| Trouble::Internal(error.to_string()))?;
        let replayed =
            parsed.replay().map_err(|error| Trouble::Internal(format!("the run cannot be repeated: {error}")))?;
        say(&timeline(&replayed.story, show));
    }
    let rest = if run.is_at_rest { "came to rest" } else { "was ended by --actions" };
    say(&format!(
        "\n{}, seed {}: {} actions, {} ticks, {rest}; digest {}\n",
        run.scenario, run.seed, run.actions, run.ticks, run.digest
    ));
    for violation in &run.violations {
        say(&format!("✗ {} is violated at step {}: {}\n", violation.property, violation.step, violation.message));
    }
    if let Some(trace) = trace {
        say(&format!("replay it with: fencepost replay {trace}\n"));
    }
    Ok(())
}
