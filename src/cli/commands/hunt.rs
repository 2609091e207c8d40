//! `fencepost hunt`: the smallest seed whose run breaks a promise.

use std::ops::Range;
use std::time::{Duration, Instant};

use clap::Args;
use fencepost::sim::{Hunt as Task, Hunted, Settings, Violation};
use fencepost::{AnyScenario, Promise, Property};
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::{Common, property, seeds, time_limit};
use crate::exit::{CommandError, Exit};
use crate::json;
use crate::output::{say, say_json, write_trace};
use crate::parallel::cores;
use crate::print::{is_surprising, line, tell};
use crate::run_arguments::{self, RunArguments};
use crate::supervisor::{stop_on_interrupt, was_interrupted};
use crate::target::{self, nothing};

#[derive(Args, Debug)]
pub struct Hunt {
    /// Scenarios, hazards (B-01) or scenario files
    #[arg(required = true)]
    targets: Vec<String>,
    /// How many seeds to try, or which: 1000, or 500..1500
    #[arg(long, default_value = "10000", value_parser = seeds, value_name = "N|A..B")]
    seeds: Range<u64>,
    /// Stop the search after this time, as 90s or 5m, or in seconds
    #[arg(long, value_name = "DURATION", value_parser = time_limit)]
    timeout: Option<Duration>,
    /// Look only for this promise
    #[arg(long, value_parser = property, value_name = "NAME")]
    property: Vec<Property>,
    /// Continue until each promise is violated, or all seeds are tried: report a seed for each violated promise
    #[arg(long)]
    keep_going: bool,
    /// Simulate at most N actions of each run [default: 1000; 20000 for promises of progress]
    #[arg(long, value_name = "N")]
    within: Option<u64>,
    /// Try all seeds, and report their coverage and the probability that the next seed adds to it
    #[arg(long)]
    coverage: bool,
    /// Simulate each seed twice, and fail if the two executions differ
    #[arg(long)]
    check_determinism: bool,
    /// Use N threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    #[command(flatten)]
    arguments: RunArguments,
    /// Show at most N steps of the run
    #[arg(long, default_value_t = 40)]
    show: usize,
}

pub fn run(hunt: &Hunt, common: &Common) -> Result<Exit, CommandError> {
    let mut scenarios = Vec::new();
    for word in &hunt.targets {
        let address = |scenario: Box<dyn AnyScenario>| (target::address(word, &*scenario), scenario);
        scenarios.extend(target::find(word, common)?.into_iter().map(address));
    }
    for (_, scenario) in &scenarios {
        run_arguments::refuse_unusable(&**scenario, &hunt.arguments.settings())?;
        hunt.has_search_target(&**scenario)?;
    }
    stop_on_interrupt();
    let mut exits = Vec::new();
    for (address, scenario) in &scenarios {
        let found = hunt.through((address, &**scenario), common)?;
        // Of several promises it is enough that one breaks.
        let best = [Exit::Unexpected, Exit::AsExpected].into_iter().find(|exit| found.contains(exit));
        exits.push(best.unwrap_or(Exit::Undecided));
    }
    let worst = [Exit::Unexpected, Exit::Undecided].into_iter().find(|exit| exits.contains(exit));
    Ok(worst.unwrap_or(Exit::AsExpected))
}

impl Hunt {
    /// A promise that is not made cannot be broken by any seed.
    fn has_search_target(&self, scenario: &dyn AnyScenario) -> Result<(), CommandError> {
        let promises = scenario.promises();
        if promises.is_empty() {
            return Err(CommandError::Input(nothing(scenario, None)));
        }
        let is_made = |wanted: &&Property| promises.iter().any(|promise| promise.property == **wanted);
        match self.property.iter().find(|wanted| !is_made(wanted)) {
            Some(stranger) => Err(CommandError::Input(nothing(scenario, Some(*stranger)))),
            None => Ok(()),
        }
    }

    /// What is hunted for at once. All promises that a step breaks share one search; a promise about endless runs needs a calm, and
    /// more actions, and has its own.
    fn search_targets(&self, scenario: &dyn AnyScenario) -> Vec<Vec<Property>> {
        if !self.keep_going {
            return vec![self.property.clone()];
        }
        let wanted = scenario.promises().iter().map(|promise| promise.property);
        let wanted = wanted.filter(|property| self.property.is_empty() || self.property.contains(property));
        let (endless, steps): (Vec<Property>, Vec<Property>) = wanted.partition(|one| is_about_the_end(scenario, *one));
        let together = Some(steps).filter(|steps| !steps.is_empty());
        together.into_iter().chain(endless.into_iter().map(|one| vec![one])).collect()
    }

    fn through(
        &self,
        (address, scenario): (&str, &dyn AnyScenario),
        common: &Common,
    ) -> Result<Vec<Exit>, CommandError> {
        let mut found = Vec::new();
        for only in self.search_targets(scenario) {
            let hunted = self.search(scenario, &only, common.quiet || common.json);
            if let Some(seed) = hunted.differs {
                return Err(run_arguments::two_runs_differ(scenario, seed));
            }
            if !self.keep_going {
                return self.outcome((address, scenario), (&only, hunted.seed), &hunted, common).map(|exit| vec![exit]);
            }
            for one in only {
                let seed = hunted.each.iter().find(|(property, _)| *property == one).map(|(_, seed)| *seed);
                let exit = self.outcome((address, scenario), (&[one], seed), &hunted, common)?;
                found.push(exit);
            }
        }
        Ok(found)
    }

    /// What the search has found for these promises.
    fn outcome(
        &self,
        (address, scenario): (&str, &dyn AnyScenario),
        (only, seed): (&[Property], Option<u64>),
        hunted: &Hunted,
        common: &Common,
    ) -> Result<Exit, CommandError> {
        let Some(seed) = seed else {
            self.tell_nothing((address, scenario), only, hunted, common);
            self.tell_coverage(hunted, common);
            return Ok(Exit::Undecided);
        };
        // The whole run, as `simulate` takes it.
        let run = scenario.simulate(&Settings { seed, ..self.arguments.settings() });
        let tried = seed - self.seeds.start + 1;
        let name = format!("{}--seed-{seed}", run.scenario);
        let trace =
            write_trace(common.out.as_deref(), &name, &run.trace.to_text())?.map(|path| path.display().to_string());
        if common.json {
            let coverage = self.coverage.then(|| json::CoverageJson::from(&hunted.coverage));
            say_json(&json::HuntJson { run: line(&run, trace), seeds_tried: tried, coverage });
        } else {
            tell(&run, trace.as_deref(), if common.quiet { 0 } else { self.show }, true)?;
            say(&format!("found at the {} of the seeds {}..{}\n", ordinal(tried), self.seeds.start, self.seeds.end));
            say(&format!(
                "reproduce it with: fencepost simulate {address} --seed {seed}{}\n",
                self.arguments.options()
            ));
            let is_a_step = |violation: &Violation| !is_about_the_end(scenario, violation.property);
            if let Some(trace) = trace.as_ref().filter(|_| run.violations.iter().any(is_a_step)) {
                say(&format!("make it shorter with: fencepost shrink {}\n", target::quoted(trace)));
            }
            self.tell_coverage(hunted, common);
        }
        Ok(if is_surprising(scenario, &run) { Exit::Unexpected } else { Exit::AsExpected })
    }

    /// A calm takes a while.
    fn within(&self, scenario: &dyn AnyScenario, only: &[Property]) -> u64 {
        let is_meant = |property: Property| only.is_empty() || only.contains(&property);
        let mut meant = scenario.promises().iter().map(|promise| promise.property).filter(|one| is_meant(*one));
        self.within.unwrap_or(if meant.any(|one| is_about_the_end(scenario, one)) { 20_000 } else { 1_000 })
    }

    fn search(&self, scenario: &dyn AnyScenario, only: &[Property], is_quiet: bool) -> Hunted {
        let jobs = self.jobs.map_or_else(cores, usize::from);
        let task = Task {
            settings: Settings { actions_max: self.within(scenario, only), ..self.arguments.settings() },
            seeds: self.seeds.clone(),
            workers: jobs,
            only: only.to_vec(),
            twice: self.check_determinism,
            covers: self.coverage,
            each: self.keep_going,
        };
        let bar = progress(self.seeds.end - self.seeds.start, scenario.name(), is_quiet);
        let start = Instant::now();
        let is_over = |tried: u64| {
            bar.set_position(tried);
            was_interrupted() || self.timeout.is_some_and(|timeout| start.elapsed() >= timeout)
        };
        let hunted = scenario.hunt(&task, &is_over);
        bar.finish_and_clear();
        hunted
    }

    fn tell_nothing(
        &self,
        (address, scenario): (&str, &dyn AnyScenario),
        only: &[Property],
        hunted: &Hunted,
        common: &Common,
    ) {
        if common.json {
            let coverage = self.coverage.then(|| json::CoverageJson::from(&hunted.coverage));
            let (scenario, seeds_tried) = (scenario.name(), hunted.tried);
            return say_json(&json::NothingFoundJson { scenario, seed: None, seeds_tried, coverage });
        }
        let cut = if hunted.was_stopped { ", and was called off" } else { "" };
        say(&format!(
            "{}: {} seeds break {}{cut}. That proves nothing; `fencepost check {address}` looks at every run.\n",
            scenario.name(),
            hunted.tried,
            if let [one] = only { format!("no {one}") } else { "nothing".to_owned() }
        ));
    }

    /// What all the seeds have shown, where that was asked for.
    fn tell_coverage(&self, hunted: &Hunted, common: &Common) {
        if !self.coverage || common.json {
            return;
        }
        let (alone, seeds) = hunted.coverage.alone();
        say(&format!(
            "{seeds} seeds show {} worlds in outline; {alone} of them show one that no other does, so the next seed shows a new \
             one with a probability of {}\n",
            hunted.coverage.outlines(),
            percent(alone, seeds)
        ));
    }
}

/// Whether no single step breaks what the scenario promises by this name.
fn is_about_the_end(scenario: &dyn AnyScenario, property: Property) -> bool {
    let is_it = |promise: &Promise| promise.property == property && property.is_about_endless_runs(promise.bound);
    scenario.promises().iter().any(is_it)
}

/// A share in percent; of none, what it is below with a probability of 95 % (the rule of three).
fn percent(part: u64, of: u64) -> String {
    let (part, arguments) = if part == 0 { (3, "below") } else { (part, "about") };
    format!("{arguments} {:.2} %", (part * 100) as f64 / of.max(1) as f64)
}

fn ordinal(number: u64) -> String {
    let suffix = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{suffix}")
}

/// A bar on terminals only.
fn progress(length: u64, name: &str, is_quiet: bool) -> ProgressBar {
    if is_quiet {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} seeds, {per_sec}, {eta} left")
        .expect("the template is a constant");
    ProgressBar::new(length).with_style(style).with_prefix(name.to_owned())
}
