//! `fencepost simulate`: one plausible run from a seed.

use clap::Args;
use fencepost::model::scenario::{Axis, vary};
use fencepost::model::trace::AnyTrace;
use fencepost::model::with_scenario;
use fencepost::reports::timeline::timeline;
use fencepost::sim::{Run, SchedulerKind, Settings, Swarm, simulate_any};
use fencepost::{AnyScenario, Expect};

use super::envelope::axis;
use super::how::{self, How};
use super::json::{Simulated, Violated};
use super::output::{say, say_json, width, write_trace};
use super::target::quoted;
use super::{Common, Exit, Trouble, target};

#[derive(Args, Debug)]
pub struct Simulate {
    /// A scenario, hazard (B-01) or scenario file
    target: String,
    /// The seed: it decides everything that is left to chance
    #[arg(long)]
    seed: u64,
    /// With another value of a setting, as service.ttl=2 or service.ttl=none
    #[arg(long, value_name = "KEY=VALUE", value_parser = axis)]
    vary: Vec<Axis>,
    #[command(flatten)]
    how: How,
    /// End the run after so many actions, if it does not come to rest before
    #[arg(long, default_value_t = 100_000)]
    actions: u64,
    /// Take the run twice, and insist that it is the same
    #[arg(long)]
    check_determinism: bool,
    /// Show at most so many steps of the run
    #[arg(long, default_value_t = 40)]
    show: usize,
}

pub fn run(simulate: &Simulate, common: &Common) -> Result<Exit, Trouble> {
    let mut exit = Exit::AsExpected;
    for scenario in target::find(&simulate.target, common)? {
        let scenario = simulate.varied(&scenario)?;
        how::look_at(&scenario, &simulate.settings())?;
        if simulate.how.scheduler == SchedulerKind::Swarm && !common.quiet && !common.json {
            say(&format!("{}\n\n", Swarm::of(simulate.seed)));
        }
        let run = simulate_any(&scenario, &simulate.settings());
        if simulate.check_determinism && simulate_any(&scenario, &simulate.settings()) != run {
            let message = format!("{}: seed {} is another run the second time", run.scenario, run.seed);
            return Err(Trouble::Internal(message));
        }
        let name = format!("{}--seed-{}", run.scenario, run.seed);
        let trace = write_trace(common.out.as_deref(), &name, &run.trace)?.map(|path| path.display().to_string());
        if common.json {
            say_json(&line(&run, trace));
        } else {
            tell(&run, trace.as_deref(), if common.quiet { 0 } else { simulate.show }, false)?;
        }
        if is_surprising(&scenario, &run) {
            exit = Exit::Unexpected;
        }
    }
    Ok(exit)
}

impl Simulate {
    /// The scenario with the settings that were asked for.
    fn varied(&self, scenario: &AnyScenario) -> Result<AnyScenario, Trouble> {
        if self.vary.is_empty() {
            return Ok(scenario.clone());
        }
        how::are_countable(&self.vary)?;
        let mut varied = vary(scenario, &self.vary);
        match (varied.pop(), varied.is_empty()) {
            (Some(one), true) => one.scenario.map_err(|error| Trouble::Input(error.to_string())),
            _ => Err(Trouble::Input("a run has one value of each setting; `fencepost sweep` takes several".to_owned())),
        }
    }

    fn settings(&self) -> Settings {
        Settings { seed: self.seed, actions_max: self.actions, ..self.how.settings() }
    }
}

pub fn line(run: &Run, trace: Option<String>) -> Simulated<'_> {
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
pub fn is_surprising(scenario: &AnyScenario, run: &Run) -> bool {
    let is_promised = |property| with_scenario!(scenario, scenario => scenario.promises.iter().any(|promise| promise.property == property && promise.expect == Expect::Proven));
    run.violations.iter().any(|violation| is_promised(violation.property))
}

/// Tells a run, or what of it leads to the first promise that it breaks.
pub fn tell(run: &Run, trace: Option<&str>, show: usize, until_broken: bool) -> Result<(), Trouble> {
    if show > 0 {
        let parsed = AnyTrace::from_text(&run.trace).map_err(|error| Trouble::Internal(error.to_string()))?;
        let mut replayed =
            parsed.replay().map_err(|error| Trouble::Internal(format!("the run cannot be repeated: {error}")))?;
        if let Some(first) = run.violations.first().filter(|_| until_broken) {
            replayed.story.steps.truncate(usize::try_from(first.step).unwrap_or(usize::MAX));
        }
        say(&timeline(&replayed.story, show, width()));
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
        say(&format!("replay it with: fencepost replay {}\n", quoted(trace)));
    }
    Ok(())
}
