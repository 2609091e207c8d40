//! Seeds inside a user's test: runs that must keep their promises, seeds that broke one before and are tried first, and a
//! failure that ends with the line that reproduces it.

use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{env, fs, thread};

use fencepost_model::finding::Property;
use fencepost_model::scenario::Expect;
use fencepost_model::trace::{TraceError, system_of_trace};
use fencepost_registry::{AnyRun, AnyScenario, AnyTrace};
use fencepost_reports::timeline::timeline;
use fencepost_sim::{Hunt, Settings};

use crate::verify::rests_on;

/// Which seeds a test tries on a scenario.
///
/// With [`Seeds::count`] the environment has the last word: `FENCEPOST_SEED=17` tries only that seed, `FENCEPOST_SEEDS=10000` (or `500..1500`)
/// these instead, and `FENCEPOST_REPLAY=FILE` repeats a recorded run of the scenario and nothing else.
///
/// ```
/// use fencepost::sim::{SchedulerKind, Settings};
/// use fencepost::{Property, Seeds, lease};
///
/// let printer = lease::lock("our-printer").grace(2).wake_delay(1).promise(Property::MutualExclusion);
/// printer.survives(100);
///
/// // The same with other seeds and another scheduler, whose clock is that of the scenario.
/// let settings = Settings { scheduler: SchedulerKind::Uniform, refinement: 1, ..Settings::default() };
/// Seeds::range(500..600).settings(settings).run(&printer.scenario());
/// ```
#[must_use = "no seed is tried before `.run(…)`"]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seeds {
    range: Range<u64>,
    settings: Settings,
    regressions: PathBuf,
    replay: Option<PathBuf>,
    is_alone: bool,
}

impl Seeds {
    /// The seeds from 0 to before `count`, unless the environment says otherwise.
    ///
    /// # Panics
    /// The environment says what cannot be meant.
    pub fn count(count: u64) -> Self {
        let read = |name: &str| env::var(name).ok().filter(|text| !text.is_empty());
        let seeds = Seeds { replay: read("FENCEPOST_REPLAY").map(PathBuf::from), ..Seeds::range(0..count) };
        match (read("FENCEPOST_SEED"), read("FENCEPOST_SEEDS")) {
            (Some(seed), _) => seeds.single(number("FENCEPOST_SEED", &seed)),
            (None, Some(range)) => Seeds { range: range_of("FENCEPOST_SEEDS", &range), ..seeds },
            (None, None) => seeds,
        }
    }

    /// These, whatever the environment says.
    pub fn range(range: Range<u64>) -> Self {
        let home = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
        Seeds {
            range,
            settings: Settings { actions_max: 1_000, ..Settings::default() },
            regressions: home.join("tests").join("regressions"),
            replay: None,
            is_alone: false,
        }
    }

    /// Only this one.
    pub fn single(self, seed: u64) -> Self {
        Seeds { range: seed..seed + 1, is_alone: true, ..self }
    }

    /// How runs are taken; the seed in it is not used.
    pub fn settings(self, settings: Settings) -> Self {
        Seeds { settings, ..self }
    }

    /// Where seeds that failed are kept, instead of `tests/regressions` beside the crate's manifest.
    pub fn regressions_dir(self, folder: impl Into<PathBuf>) -> Self {
        Seeds { regressions: folder.into(), ..self }
    }

    /// Simulates a scenario with them: first those that failed before.
    ///
    /// # Panics
    /// A run breaks a promise that is expected to hold. The message tells the shrunk story, and ends with the line that
    /// reproduces it.
    pub fn run(&self, scenario: &dyn AnyScenario) {
        if let Some(file) = &self.replay {
            return repeat(scenario, file);
        }
        let kept = if self.is_alone { Vec::new() } else { self.kept(scenario) };
        let ranges = kept.into_iter().map(|seed| seed..seed + 1).chain([self.range.clone()]);
        for seeds in ranges {
            if let Some(seed) = self.broken(scenario, seeds) {
                let run = expected(scenario).simulate(&Settings { seed, ..self.settings.clone() });
                let kept = self.keep(scenario, &run);
                panic!("\n{}", failure(scenario, &run, &kept));
            }
        }
    }

    /// The smallest of these seeds that breaks a promise which should hold.
    fn broken(&self, scenario: &dyn AnyScenario, seeds: Range<u64>) -> Option<u64> {
        let task = Hunt { settings: self.settings.clone(), seeds, ..Hunt::default() };
        expected(scenario).hunt(&task, &|_| false).seed
    }

    fn file(&self, scenario: &dyn AnyScenario) -> PathBuf {
        self.regressions.join(format!("{}.txt", scenario.name()))
    }

    /// Seeds that failed before: a number on each line, and what it broke behind a `#`.
    fn kept(&self, scenario: &dyn AnyScenario) -> Vec<u64> {
        let file = self.file(scenario);
        let text = fs::read_to_string(&file).unwrap_or_default();
        let seeds = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        seeds.filter(|seed| !seed.is_empty()).map(|seed| number(&file.display().to_string(), seed)).collect()
    }

    /// Adds a seed to those kept; says where, or why not.
    fn keep(&self, scenario: &dyn AnyScenario, run: &AnyRun) -> String {
        let file = self.file(scenario);
        if self.kept(scenario).contains(&run.seed) {
            return format!("seed {} is among those kept in {}", run.seed, file.display());
        }
        let broken = run.violations.first().map(|violation| violation.property.name()).unwrap_or_default();
        let old = fs::read_to_string(&file).unwrap_or_default();
        let new = format!("{old}{} # {broken}\n", run.seed);
        match fs::create_dir_all(&self.regressions).and_then(|()| fs::write(&file, new)) {
            Ok(()) => format!("seed {} is now kept in {}, and tried first; commit it", run.seed, file.display()),
            Err(error) => format!("seed {} could not be kept in {}: {error}", run.seed, file.display()),
        }
    }
}

fn number(name: &str, text: &str) -> u64 {
    text.trim().parse().unwrap_or_else(|_| panic!("{name}: `{text}` is not a seed, which is a number"))
}

fn range_of(name: &str, text: &str) -> Range<u64> {
    match text.split_once("..") {
        Some((from, to)) => number(name, from)..number(name, to),
        None => 0..number(name, text),
    }
}

/// The scenario with only the promises that should hold.
fn expected(scenario: &dyn AnyScenario) -> Box<dyn AnyScenario> {
    scenario.judging(&|promise| promise.expect == Expect::Proven)
}

/// The test that is running, by the name of its thread.
fn test_name() -> String {
    thread::current().name().filter(|name| *name != "main").map(|name| format!(" {name}")).unwrap_or_default()
}

fn failure(scenario: &dyn AnyScenario, run: &AnyRun, kept: &str) -> String {
    let mut text = String::new();
    for violation in &run.violations {
        let _ = writeln!(text, "{}: {} is violated: {}", scenario.name(), violation.property, violation.message);
    }
    let first = run.violations.first().map(|violation| violation.property);
    text += &story(&*run.trace, first);
    let _ = writeln!(text, "{kept}");
    let _ = write!(text, "reproduce it with: FENCEPOST_SEED={} cargo test{}", run.seed, test_name());
    text
}

/// The shrunk story, with its assumptions.
fn story(trace: &dyn AnyTrace, broken: Option<Property>) -> String {
    let small = broken.and_then(|property| trace.shrink(property).ok());
    let small = small.as_deref().unwrap_or(trace);
    let replayed = small.replay().expect("a run that was just taken can be repeated");
    let mut text = format!("  shrunk from {} steps to {}:\n\n", trace.steps(), small.steps());
    text += &timeline(&replayed.story, usize::MAX, None);
    text + "\n" + &rests_on(&replayed.assumptions)
}

/// Repeats a recorded run of this scenario; one of another scenario is another test's.
fn repeat(scenario: &dyn AnyScenario, file: &Path) {
    let name = file.display();
    let text =
        fs::read_to_string(file).unwrap_or_else(|error| panic!("FENCEPOST_REPLAY: {name} cannot be read: {error}"));
    let bad = |error: TraceError| -> ! { panic!("FENCEPOST_REPLAY: {name}: {error}") };
    if system_of_trace(&text).unwrap_or_else(|error| bad(error)) != scenario.system() {
        return;
    }
    let trace = scenario.read_trace(&text).unwrap_or_else(|error| bad(error));
    if trace.scenario_name() != scenario.name() {
        return;
    }
    let replayed = trace.replay().unwrap_or_else(|mismatch| panic!("FENCEPOST_REPLAY: {name}: {mismatch}"));
    let should_hold = |property: Property| {
        scenario.promises().iter().any(|promise| promise.property == property && promise.expect == Expect::Proven)
    };
    let broken =
        replayed.story.steps.iter().flat_map(|step| &step.violations).find(|violation| should_hold(violation.property));
    if let Some(violation) = broken {
        panic!(
            "\n{}: {} is violated: {}\n{}reproduce it with: FENCEPOST_REPLAY={name} cargo test{}",
            scenario.name(),
            violation.property,
            violation.message,
            story(&*trace, Some(violation.property)),
            test_name()
        );
    }
}
