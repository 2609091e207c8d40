//! `fencepost tradeoff`: what each choice of settings costs, in safety and in liveness, with a run behind every number.

pub mod measure;
pub mod question;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use fencepost::Property;
use fencepost::model::finding::{Search, Study};
use fencepost::model::scenario::Axis;
use fencepost::reports::export::chart_picture;
use fencepost::reports::html::study_page;
use fencepost::reports::study::{chart, csv, table, vega};

use self::measure::{again, measure};
use self::question::{Grid, StudyQuestion};
use crate::args::{Common, axis, property, seeds};
use crate::exit::{CommandError, Exit};
use crate::grid::{is_undecided, search};
use crate::output::{say, say_json, write};
use crate::run_arguments::{ProfileFile, profile};
use crate::supervisor::{Watch, stop_on_interrupt, stopped, was_interrupted};
use crate::target::quoted;

#[derive(Args, Debug)]
pub struct Tradeoff {
    /// A study (dial, ttl-and-lock-delay, detector, slots), a study file, a scenario or a scenario file
    #[arg(default_value = "dial")]
    target: String,
    /// A setting and its values, as ttl=10,20 or detector=none,gossip,ttl,both; several times for a grid
    #[arg(long, value_name = "KEY=VALUES", value_parser = axis)]
    vary: Vec<Axis>,
    /// How many seeds for each setting, or which: 1000, or 500..1500
    #[arg(long, value_parser = seeds, value_name = "N|A..B")]
    seeds: Option<Range<u64>>,
    /// How long a run is, in ticks of the scenario
    #[arg(long, value_parser = clap::value_parser!(i64).range(1..=1_000_000_000))]
    storm: Option<i64>,
    /// How long things take: distributions in a TOML file, as reports/docs/simulator.md says
    #[arg(long, value_parser = profile, value_name = "FILE")]
    profile: Option<ProfileFile>,
    /// The promise whose violations count as unsafe [default: the first one about what clients believe]
    #[arg(long, value_parser = property, value_name = "NAME")]
    safety: Option<Property>,
    /// Take one run of one setting again, by the setting's number: 3:17 is seed 17 of setting 3
    #[arg(long, value_name = "SETTING:SEED", value_parser = one_run)]
    run: Option<OneRun>,
}

/// A run behind a number.
#[derive(Copy, Clone, Debug)]
pub struct OneRun {
    setting: usize,
    seed: u64,
}

fn one_run(text: &str) -> Result<OneRun, String> {
    let parsed = text.split_once(':').and_then(|(setting, seed)| {
        let setting: usize = setting.parse().ok().filter(|setting| *setting > 0)?;
        Some(OneRun { setting, seed: seed.parse().ok()? })
    });
    parsed.ok_or_else(|| "a setting and a seed, as 3:17".to_owned())
}

impl Tradeoff {
    fn changes_runs(&self) -> bool {
        !self.vary.is_empty()
            || self.seeds.is_some()
            || self.storm.is_some()
            || self.profile.is_some()
            || self.safety.is_some()
            || self.run.is_some()
    }
}

pub fn run(tradeoff: &Tradeoff, common: &Common) -> Result<Exit, CommandError> {
    stop_on_interrupt();
    let question = StudyQuestion::of(tradeoff, common)?;
    if let (Some(one), Some(simulated)) = (&tradeoff.run, &question.simulated) {
        return again(simulated, one.setting, one.seed, common);
    }
    let command = repeated();
    let points = match &question.simulated {
        None => Vec::new(),
        Some(simulated) => measure(simulated, &command, common)?,
    };
    let out = common.out.clone().unwrap_or_else(|| PathBuf::from("out"));
    let watch = Arc::new(Watch::new(None, None)?);
    let traces = out.join(format!("tradeoff-{}", question.name));
    let searches = question.searches.iter().map(|Grid { title, scenario, axes, is_of_points }| {
        let search = search(&**scenario, axes, &watch, Some(&traces), common)?;
        if *is_of_points && search.settings.len() != points.len() {
            let (searched, simulated) = (search.settings.len(), points.len());
            return Err(CommandError::Input(format!(
                "{searched} settings are searched and {simulated} simulated: not one for one"
            )));
        }
        Ok(Search { title: title.clone(), is_of_points: *is_of_points, ..search })
    });
    let searches = searches.collect::<Result<Vec<Search>, CommandError>>()?;
    if was_interrupted() {
        return Ok(stopped("nothing was written"));
    }
    let study = Study {
        name: question.name.clone(),
        title: question.title.clone(),
        about: question.about.clone(),
        command,
        safety: question.simulated.as_ref().map_or(Property::MutualExclusion, |simulated| simulated.safety),
        unit: "s".to_owned(),
        units_per_hour: 3600,
        refinement: question.simulated.as_ref().map_or(1, |simulated| simulated.settings.refinement),
        points,
        searches,
    };
    tell(&study, &out, common)?;
    let is_vacuous = study.points.iter().any(|point| point.runs > 0 && point.problem.is_some());
    let is_cut = study.searches.iter().any(is_undecided);
    Ok(if is_cut || is_vacuous { Exit::Undecided } else { Exit::AsExpected })
}

/// The command as it was typed, but for where the results go.
fn repeated() -> String {
    let mut words: Vec<String> = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--out" => drop(arguments.next()),
            "--json" | "--quiet" | "-q" => {}
            _ if argument.starts_with("--out=") => {}
            _ => words.push(quoted(&argument)),
        }
    }
    format!("fencepost {}", words.join(" "))
}

/// The table on the terminal, and the page, the numbers and the chart as files.
fn tell(study: &Study, out: &Path, common: &Common) -> Result<(), CommandError> {
    let file = |extension: &str| out.join(format!("tradeoff-{}.{extension}", study.name));
    write(&file("html"), &study_page(study))?;
    write(&file("json"), &serde_json::to_string(study).expect("plain data can be written"))?;
    if !study.points.is_empty() {
        write(&file("csv"), &csv(study))?;
        write(&file("vl.json"), &vega(study))?;
        write(&file("svg"), &chart_picture(&chart(study)))?;
    }
    if common.json {
        study.points.iter().for_each(say_json);
        study.searches.iter().for_each(say_json);
    } else {
        say(&table(study));
        say(&format!("\npage: {}\n", file("html").display()));
    }
    Ok(())
}
