//! `fencepost diff`: the differences between two scenarios, in settings, in promises, and in measured liveness.

mod lines;
mod measures;
mod promises;
mod settings;
mod tell;

use std::ops::Range;

use clap::Args;
use fencepost::model::scenario::Axis;
use fencepost::sim::{SchedulerKind, Settings};
use fencepost::{AnyScenario, Property};

use self::measures::{SEEDS_MAX, measure};
use self::promises::{Change, Compared, Judged, compare};
use self::settings::differences;
use crate::args::{Common, axis, property, seeds};
use crate::exit::{CommandError, Exit};
use crate::findings::keep;
use crate::run_arguments::{CLIENTS, ProfileFile, ROUNDS, STORMS, changed, profile, scheduler};
use crate::search_arguments::SearchArguments;
use crate::supervisor::{stop_on_interrupt, stopped, was_interrupted};
use crate::target;

/// Compare two scenarios: settings, promises, and liveness as it is measured over seeds
///
/// B is a scenario of its own, or A with other settings (`--vary`). Both are searched. A promise that only one of them makes is judged in the other as well, if its service can make it.
/// A promise is lost if A keeps it and B does not, gained if B keeps it and A does not, and undecided if the verdict on either
/// side is bounded or vacuous. Each loss is shown as a shortest execution of B. The measurements are no proof.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct Diff {
    /// A scenario or scenario file: the one before
    a: String,
    /// A scenario or scenario file: the one after
    #[arg(required_unless_present = "vary")]
    b: Option<String>,
    /// B is A with another value of a setting, for example of a recipe or a version: service.recipe=go-lock
    #[arg(long, value_name = "KEY=VALUE", value_parser = axis, conflicts_with = "b")]
    vary: Vec<Axis>,
    /// Compare only this promise
    #[arg(long, value_parser = property, value_name = "NAME")]
    property: Option<Property>,
    #[command(flatten)]
    search: SearchArguments,
    /// How many seeds to measure in each scenario, or which: 1000, or 500..1500
    #[arg(long, default_value = "200", value_parser = seeds, value_name = "N|A..B")]
    seeds: Range<u64>,
    /// The scheduler of the measured runs
    #[arg(long, value_parser = scheduler, default_value = "realistic", value_name = "NAME")]
    scheduler: SchedulerKind,
    /// How long a measured run is at most, in ticks of the scenario
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(i64).range(STORMS))]
    storm: i64,
    /// Measure with N clients instead of the scenario's number
    #[arg(long, value_parser = clap::value_parser!(u16).range(CLIENTS))]
    clients: Option<u16>,
    /// Measure with N rounds instead of the scenario's number
    #[arg(long, value_parser = clap::value_parser!(u8).range(ROUNDS))]
    rounds: Option<u8>,
    /// Delays as distributions: a TOML file, as reports/docs/simulator.md describes it
    #[arg(long, value_parser = profile, value_name = "FILE")]
    profile: Option<ProfileFile>,
}

const EXIT_CODES: &str = "Exit codes: 0 no promise is lost; 1 a promise is lost; 2 bad usage or input; 3 no promise is lost, and at least one is undecided; 4 internal error.";

pub fn run(diff: &Diff, common: &Common) -> Result<Exit, CommandError> {
    let pair = diff.pair(common)?;
    if diff.seeds.end - diff.seeds.start > SEEDS_MAX {
        return Err(CommandError::Input(format!("--seeds: there can be {SEEDS_MAX} of them at most")));
    }
    if let Some(property) = diff.property.filter(|property| !pair.iter().any(|side| makes(&**side, *property))) {
        let [a, b] = [pair[0].name(), pair[1].name()];
        return Err(CommandError::Input(format!("neither {a} nor {b} promises `{property}`")));
    }
    stop_on_interrupt();
    let is_for_people = !common.json;
    let ticks = [0, 1].map(|side: usize| pair[side].tick());
    if ticks[0] != ticks[1] && !ticks.iter().all(Option::is_some) && !common.quiet {
        let [a, b] = ticks.map(|tick| tick.map_or("of no stated length".to_owned(), |tick| tick.to_string()));
        eprintln!("note: a tick is {a} in A and {b} in B: numbers of ticks are not comparable");
    }
    let settings = differences(&pair);
    if is_for_people {
        tell::head(&pair);
        tell::differences(&settings);
    } else {
        lines::differences(&settings);
    }
    let promises = compare(&pair, (&diff.search, diff.property), common)?;
    if is_for_people {
        tell::promises(&pair, &promises)
    } else {
        lines::promises(&pair, &promises)
    }
    for lost in promises.iter().filter(|compared| compared.change() == Change::Lost) {
        // A promise that B cannot make has no execution.
        let Judged::Searched { outcome, .. } = &lost.sides[1] else { continue };
        let finding = keep((**outcome).clone(), common.out.as_deref())?;
        match (is_for_people, common.quiet) {
            (true, true) => {}
            (true, false) => tell::loss(&finding),
            (false, _) => lines::loss(&finding),
        }
    }
    let measured = measure(&pair, diff, common);
    if was_interrupted() {
        return Ok(stopped("the verdicts are those of the search until then, and nothing is measured"));
    }
    match measured {
        Ok(measured) if is_for_people => tell::measured(&pair, &measured, diff),
        Ok(measured) => lines::measured(&pair, &measured, diff),
        Err(why) => eprintln!("note: nothing is measured: {why}"),
    }
    Ok(exit(&promises))
}

fn makes(scenario: &dyn AnyScenario, property: Property) -> bool {
    scenario.promises().iter().any(|promise| promise.property == property)
}

/// The result of all promises together.
fn exit(promises: &[Compared]) -> Exit {
    let has = |change| promises.iter().any(|compared| compared.change() == change);
    match (has(Change::Lost), has(Change::Undecided)) {
        (true, _) => Exit::Unexpected,
        (false, true) => Exit::Undecided,
        (false, false) => Exit::AsExpected,
    }
}

impl Diff {
    /// A and B.
    fn pair(&self, common: &Common) -> Result<[Box<dyn AnyScenario>; 2], CommandError> {
        let a = target::one(&self.a, common)?;
        let b = match &self.b {
            Some(b) => Some(target::one(b, common)?),
            None => changed(&*a, &self.vary)?,
        };
        let several = || CommandError::Input("--vary: B has one value of each setting".to_owned());
        Ok([a, b.ok_or_else(several)?])
    }

    /// How a run is measured, except for its seed: as `fencepost tradeoff` measures it.
    fn settings(&self) -> Settings {
        Settings {
            scheduler: self.scheduler,
            refinement: self.scheduler.refinement(),
            clients: self.clients,
            rounds: self.rounds,
            storm: self.storm,
            profile: self.profile.as_ref().map(|file| file.profile.clone()).unwrap_or_default(),
            actions_max: ACTIONS_MAX,
            ends_with_storm: true,
            measures: true,
            ..Settings::default()
        }
    }
}

/// The maximum number of actions of a measured run.
const ACTIONS_MAX: u64 = 10_000_000;
