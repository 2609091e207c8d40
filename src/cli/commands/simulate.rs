//! `fencepost simulate`: one plausible run from a seed.

use clap::Args;
use fencepost::AnyScenario;
use fencepost::model::scenario::Axis;
use fencepost::sim::{SchedulerKind, Settings, Swarm};

use crate::args::{Common, axis};
use crate::exit::{CommandError, Exit};
use crate::output::{say, say_json, write_trace};
use crate::print::{is_surprising, line, tell};
use crate::run_arguments::{self, RunArguments, changed};
use crate::target;

#[derive(Args, Debug)]
pub struct Simulate {
    /// A scenario, hazard (B-01) or scenario file
    target: String,
    /// The seed, which determines every random choice
    #[arg(long)]
    seed: u64,
    /// Override a setting, for example service.ttl=2 or service.ttl=none
    #[arg(long, value_name = "KEY=VALUE", value_parser = axis)]
    vary: Vec<Axis>,
    #[command(flatten)]
    arguments: RunArguments,
    /// End the run after N actions, if it does not come to rest before
    #[arg(long, default_value_t = 100_000)]
    actions: u64,
    /// Simulate the seed twice, and fail if the two executions differ
    #[arg(long)]
    check_determinism: bool,
    /// Show at most N steps of the run
    #[arg(long, default_value_t = 40)]
    show: usize,
}

pub fn run(simulate: &Simulate, common: &Common) -> Result<Exit, CommandError> {
    let mut exit = Exit::AsExpected;
    for scenario in target::find(&simulate.target, common)? {
        let scenario = simulate.varied(&*scenario)?;
        run_arguments::refuse_unusable(&*scenario, &simulate.settings())?;
        if simulate.arguments.scheduler == SchedulerKind::Swarm && !common.quiet && !common.json {
            say(&format!("{}\n\n", Swarm::of(simulate.seed)));
        }
        let run = scenario.simulate(&simulate.settings());
        if simulate.check_determinism && scenario.simulate(&simulate.settings()) != run {
            return Err(run_arguments::two_runs_differ(&*scenario, run.seed));
        }
        let name = format!("{}--seed-{}", run.scenario, run.seed);
        let trace =
            write_trace(common.out.as_deref(), &name, &run.trace.to_text())?.map(|path| path.display().to_string());
        if common.json {
            say_json(&line(&run, trace));
        } else {
            tell(&run, trace.as_deref(), if common.quiet { 0 } else { simulate.show }, false)?;
        }
        if is_surprising(&*scenario, &run) {
            exit = Exit::Unexpected;
        }
    }
    Ok(exit)
}

impl Simulate {
    /// The scenario with the settings that were asked for.
    fn varied(&self, scenario: &dyn AnyScenario) -> Result<Box<dyn AnyScenario>, CommandError> {
        changed(scenario, &self.vary)?.ok_or_else(|| {
            CommandError::Input("a run has one value of each setting; `fencepost sweep` takes several".to_owned())
        })
    }

    fn settings(&self) -> Settings {
        Settings { seed: self.seed, actions_max: self.actions, ..self.arguments.settings() }
    }
}
