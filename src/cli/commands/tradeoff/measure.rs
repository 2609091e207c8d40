//! Takes the runs of a study, adds up what they measured, and looks closer where nothing or hardly anything was seen.

use fencepost::AnyScenario;
use fencepost::model::finding::{Extreme, Point, Sample};
use fencepost::reports::study::ENOUGH;
use fencepost::sim::{RunSummary, Settings};

use super::question::{ACTIONS, Simulated};
use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::output::{say_json, write_trace};
use crate::parallel::{in_parallel, progress};
use crate::print::{line, tell};
use crate::run_arguments::refuse_unusable;
use crate::supervisor::was_interrupted;

/// The number of seeds of a work item.
const PIECE: u64 = 10;
/// So often importance splitting is repeated: that says how sure it is.
const REPETITIONS: u64 = 10;

/// A setting of the grid.
pub struct Setting {
    names: Vec<String>,
    pub scenario: Result<Box<dyn AnyScenario>, String>,
}

/// Every combination of the values that vary.
pub fn settings(simulated: &Simulated) -> Vec<Setting> {
    let settings = simulated.scenario.vary(&simulated.axes).into_iter().map(|varied| {
        let scenario = varied.scenario.map_err(|error| error.message.clone());
        let scenario = scenario.and_then(|scenario| {
            refuse_unusable(&*scenario, &simulated.settings).map_err(|error| error.to_string())?;
            Ok(scenario)
        });
        Setting { names: varied.settings, scenario }
    });
    settings.collect()
}

/// Takes all runs.
pub fn measure(simulated: &Simulated, command: &str, common: &Common) -> Result<Vec<Point>, CommandError> {
    let settings = settings(simulated);
    let is_quiet = common.quiet || common.json;
    if let Some(Err(problem)) = settings.first().map(|setting| &setting.scenario)
        && settings.iter().all(|setting| setting.scenario.is_err())
    {
        return Err(CommandError::Input(format!("no setting is possible: {problem}")));
    }
    let possible = |place: &usize| settings[*place].scenario.is_ok();
    let places: Vec<usize> = (0..settings.len()).filter(possible).collect();
    let seeds = simulated.seeds.clone();
    let pieces: Vec<(usize, u64)> =
        places.iter().flat_map(|place| seeds.clone().step_by(PIECE as usize).map(|from| (*place, from))).collect();
    let scenario = |place: usize| settings[place].scenario.as_ref().expect("only possible settings have runs");
    let bar = progress(pieces.len(), "tens of runs", is_quiet);
    let taken = in_parallel(&pieces, &bar, |(place, from)| -> Vec<(u64, RunSummary)> {
        let seeds = *from..seeds.end.min(from + PIECE);
        let seeds = seeds.take_while(|_| !was_interrupted());
        seeds.map(|seed| (seed, scenario(*place).summarize(&Settings { seed, ..simulated.settings.clone() }))).collect()
    });
    if taken.iter().flatten().any(|(_, summarize)| summarize.actions >= ACTIONS) {
        return Err(CommandError::Input(format!("a run takes more than {ACTIONS} actions; make --storm shorter")));
    }
    let mut sums: Vec<Sum> = settings.iter().map(Sum::new).collect();
    for ((place, _), runs) in pieces.iter().zip(taken) {
        runs.iter().for_each(|(seed, summarize)| sums[*place].add(*seed, summarize, simulated));
    }
    let rare: Vec<(usize, u64)> = places
        .iter()
        .filter(|place| sums[**place].point.broken.get(&simulated.safety).copied().unwrap_or(0) < ENOUGH)
        .flat_map(|place| (0..REPETITIONS).map(|repetition| (*place, repetition)))
        .collect();
    let effort = ((seeds.end - seeds.start) / 4).clamp(10, 1000);
    let bar = progress(rare.len(), "times importance splitting", is_quiet);
    let splits = in_parallel(&rare, &bar, |(place, repetition)| {
        let seed = *repetition;
        let settings = Settings { seed, ..simulated.settings.clone() };
        (!was_interrupted()).then(|| scenario(*place).split(&settings, simulated.safety, effort))
    });
    for ((place, _), split) in rare.iter().zip(splits) {
        sums[*place].point.splits.extend(split);
    }
    let points = sums.into_iter().enumerate().map(|(place, sum)| sum.finish(place, command));
    Ok(points.collect())
}

/// What the runs of a setting come to.
struct Sum {
    point: Point,
    /// The first unsafe run.
    first: Option<u64>,
    /// The largest value so far, and its seed, of what runs have most of.
    most: [Option<(i64, u64)>; 3],
}

/// What runs are shown for having most of.
const MOST: [&str; 3] = ["too many inside", "time lost", "a dead holder"];

impl Sum {
    fn new(setting: &Setting) -> Self {
        let problem = setting.scenario.as_ref().err().map(|problem| format!("impossible: {problem}"));
        let point = Point { settings: setting.names.clone(), problem, ..Point::default() };
        Sum { point, first: None, most: [None; 3] }
    }

    fn add(&mut self, seed: u64, summarize: &RunSummary, simulated: &Simulated) {
        let measured = summarize.measurement.as_ref().expect("the settings say that runs measure");
        let point = &mut self.point;
        point.runs += 1;
        for violation in &summarize.violations {
            *point.broken.entry(violation.property).or_default() += 1;
            if violation.property == simulated.safety {
                self.first = self.first.or(Some(seed));
            }
        }
        point.total.add(measured);
        point.samples.push(Sample { ticks: measured.ticks, idle: measured.idle, overlap: measured.overlap });
        let dead = measured.dead_holds.iter().copied().max().unwrap_or(0);
        for (most, value) in self.most.iter_mut().zip([measured.overlap, measured.idle, dead]) {
            if value > most.map_or(0, |(most, _)| most) {
                *most = Some((value, seed));
            }
        }
    }

    fn finish(self, place: usize, command: &str) -> Point {
        let Sum { mut point, first, most } = self;
        if point.runs > 0 && point.total.entries == 0 {
            point.problem = Some("no client ever entered, so there are no numbers".to_owned());
        }
        let extreme = |what: &str, seed: u64| {
            let command = format!("{command} --run {}:{seed}", place + 1);
            Extreme { what: what.to_owned(), seed, command }
        };
        point.seeds.extend(first.map(|seed| extreme("the first unsafe run", seed)));
        let most = MOST.iter().zip(most).filter_map(|(what, most)| Some(extreme(what, most?.1)));
        point.seeds.extend(most);
        point
    }
}

/// Takes one run again, tells it, and writes its trace down.
pub fn again(simulated: &Simulated, number: usize, seed: u64, common: &Common) -> Result<Exit, CommandError> {
    let settings = settings(simulated);
    let Some(setting) = settings.get(number - 1) else {
        return Err(CommandError::Input(format!("there are {} settings", settings.len())));
    };
    let scenario = setting.scenario.as_ref().map_err(|problem| CommandError::Input(problem.clone()))?;
    let run = scenario.simulate(&Settings { seed, ..simulated.settings.clone() });
    let name = format!("{}-{number}--seed-{seed}", run.scenario);
    let trace = write_trace(common.out.as_deref(), &name, &run.trace.to_text())?.map(|path| path.display().to_string());
    if common.json {
        say_json(&line(&run, trace));
    } else {
        tell(&run, trace.as_deref(), if common.quiet { 0 } else { 40 }, true)?;
    }
    Ok(Exit::AsExpected)
}
