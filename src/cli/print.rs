//! A simulated run, printed: as a JSON line, or as a story with what it broke.

use fencepost::reports::timeline::timeline;
use fencepost::{AnyRun, AnyScenario, Expect, Ticks};

use crate::exit::CommandError;
use crate::json::{RunJson, ViolationJson};
use crate::output::{say, width};
use crate::target::quoted;

/// A run as a JSON line.
pub fn line(run: &AnyRun, trace: Option<String>) -> RunJson<'_> {
    let violations = run.violations.iter();
    RunJson {
        scenario: &run.scenario,
        seed: Some(run.seed),
        digest: &run.digest,
        actions: run.actions,
        ticks: run.ticks,
        violations: violations
            .map(|v| ViolationJson { property: v.property.name(), step: v.step, message: &v.message })
            .collect(),
        trace,
    }
}

/// Whether the run broke a promise that is expected to hold.
pub fn is_surprising(scenario: &dyn AnyScenario, run: &AnyRun) -> bool {
    let is_promised = |property| {
        scenario.promises().iter().any(|promise| promise.property == property && promise.expect == Expect::Proven)
    };
    run.violations.iter().any(|violation| is_promised(violation.property))
}

/// Tells a run, or what of it leads to the first promise that it breaks.
pub fn tell(run: &AnyRun, trace: Option<&str>, show: usize, until_broken: bool) -> Result<(), CommandError> {
    if show > 0 {
        let mut replayed = run
            .trace
            .replay()
            .map_err(|error| CommandError::Internal(format!("the run cannot be repeated: {error}")))?;
        if let Some(first) = run.violations.first().filter(|_| until_broken) {
            replayed.story.steps.truncate(usize::try_from(first.step).unwrap_or(usize::MAX));
        }
        say(&timeline(&replayed.story, show, width()));
    }
    let rest = if run.is_at_rest { "came to rest" } else { "was ended by --actions" };
    let time = run.trace.scenario().told_ticks(Ticks::new(run.ticks));
    say(&format!(
        "\n{}, seed {}: {} actions, {time}, {rest}; digest {}\n",
        run.scenario, run.seed, run.actions, run.digest
    ));
    for violation in &run.violations {
        say(&format!("✗ {} is violated at step {}: {}\n", violation.property, violation.step, violation.message));
    }
    if let Some(trace) = trace {
        say(&format!("replay it with: fencepost replay {}\n", quoted(trace)));
    }
    Ok(())
}
