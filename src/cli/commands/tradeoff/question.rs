//! What a study asks: a scenario, the settings that vary, how runs are taken, and which grids are searched to the end.

use std::fs;
use std::ops::Range;
use std::path::Path;

use fencepost::catalogue;
use fencepost::model::properties::Level;
use fencepost::model::scenario::Axis;
use fencepost::sim::{Profile, Settings};
use fencepost::{AnyScenario, Property};

use super::Tradeoff;
use crate::args::Common;
use crate::exit::CommandError;
use crate::run_arguments::{STORMS, are_countable};
use crate::studies::{READY, ScenarioSource, SearchText, StudyText};
use crate::target::{self, nothing};

/// What is simulated.
pub struct StudyQuestion {
    pub name: String,
    pub title: String,
    pub about: String,
    pub simulated: Option<Simulated>,
    pub searches: Vec<Grid>,
}

/// Runs of many settings.
pub struct Simulated {
    pub scenario: Box<dyn AnyScenario>,
    pub axes: Vec<Axis>,
    /// The promise that counts as safety.
    pub safety: Property,
    pub seeds: Range<u64>,
    /// How a run is taken, but for its seed.
    pub settings: Settings,
}

/// A grid that is searched to the end.
pub struct Grid {
    pub title: String,
    pub scenario: Box<dyn AnyScenario>,
    pub axes: Vec<Axis>,
    /// Whether its settings are those that are simulated, one for one.
    pub is_of_points: bool,
}

/// The most seeds for each setting.
const SEEDS_MAX: u64 = 10_000_000;

/// The settings that are varied by default, where the service has a TTL and a lock-delay.
const USUAL: [&str; 2] = ["detector=none,gossip,ttl,both", "lock_delay=0,5,15"];

impl StudyQuestion {
    /// The study of this name, or about this scenario; with what was asked for on the command line.
    pub fn of(asked: &Tradeoff, common: &Common) -> Result<StudyQuestion, CommandError> {
        let ready = READY.iter().find(|(name, _)| *name == asked.target);
        let written = || written(&asked.target);
        let (mut question, is_study) = match (ready, ready.is_none().then(written).flatten()) {
            (Some((name, text)), _) => (StudyQuestion::read(name, text, common).map_err(CommandError::Internal)?, true),
            (None, Some((name, text))) => {
                let mistaken = |why| CommandError::Input(format!("{}: {why}", asked.target));
                (StudyQuestion::read(&name, &text, common).map_err(mistaken)?, true)
            }
            (None, None) => (StudyQuestion::about(&asked.target, common)?, false),
        };
        let Some(simulated) = &mut question.simulated else {
            if asked.changes_runs() {
                return Err(CommandError::Input(format!(
                    "the study `{}` takes no runs: it is searched to the end",
                    question.name
                )));
            }
            question.validate().map_err(|why| CommandError::Input(format!("{}: {why}", asked.target)))?;
            return Ok(question);
        };
        if !asked.vary.is_empty() {
            simulated.axes.clone_from(&asked.vary);
            question.searches.retain(|grid| !grid.is_of_points);
        } else if !is_study {
            simulated.axes = USUAL.map(|text| text.parse().expect("the usual axes are constants")).to_vec();
        }
        if let Some(property) = asked.safety {
            simulated.safety = promised(&*simulated.scenario, property)?;
        }
        if let Some(seeds) = &asked.seeds {
            simulated.seeds = seeds.clone();
        }
        if let Some(storm) = asked.storm {
            simulated.settings.storm = storm;
        }
        if let Some(profile) = &asked.profile {
            simulated.settings.profile = profile.profile.clone();
        }
        question.validate().map_err(|why| CommandError::Input(format!("{}: {why}", asked.target)))?;
        Ok(question)
    }

    /// Whether its runs and its combinations can be counted; the error is a sentence.
    pub fn validate(&self) -> Result<(), String> {
        let countable = |axes: &[Axis]| are_countable(axes).map_err(|error| error.to_string());
        self.searches.iter().try_for_each(|grid| countable(&grid.axes))?;
        let Some(simulated) = &self.simulated else { return Ok(()) };
        countable(&simulated.axes)?;
        if simulated.seeds.is_empty() {
            return Err("`seeds`: without a seed there is no run".to_owned());
        }
        if simulated.seeds.end - simulated.seeds.start > SEEDS_MAX {
            return Err(format!("`seeds`: there can be {SEEDS_MAX} of them at most"));
        }
        if !STORMS.contains(&simulated.settings.storm) {
            return Err(format!("`storm` is not from {} to {}", STORMS.start(), STORMS.end()));
        }
        Ok(())
    }

    /// Reads a study; the error is a sentence.
    pub fn read(name: &str, text: &str, common: &Common) -> Result<StudyQuestion, String> {
        let text: StudyText = toml::from_str(text).map_err(|error| error.to_string())?;
        let axes = |vary: &[String]| -> Result<Vec<Axis>, String> {
            let axes = vary.iter().map(|axis| axis.parse::<Axis>());
            axes.collect::<Result<_, _>>().map_err(|error| format!("`vary`: {error}"))
        };
        let simulated = match text.scenario {
            None => None,
            Some(table) => {
                let scenario = built(table, name, &text.title)?;
                Some(Simulated {
                    safety: safety(&*scenario).map_err(|error| format!("`scenario`: {error}"))?,
                    scenario,
                    axes: axes(&text.vary)?,
                    seeds: 0..text.seeds,
                    settings: measuring(text.storm, text.profile.unwrap_or_default()),
                })
            }
        };
        let grid = |search: SearchText| {
            let scenario = match search.scenario {
                ScenarioSource::Named(name) => {
                    target::one(&name, common).map_err(|error| format!("`search`: {error}"))?
                }
                ScenarioSource::Written(table) => built(table, &format!("{name}-in-the-small"), &search.title)?,
            };
            Ok(Grid { scenario, axes: axes(&search.vary)?, title: search.title, is_of_points: search.of_points })
        };
        Ok(StudyQuestion {
            name: name.to_owned(),
            title: text.title,
            about: text.about,
            simulated,
            searches: text.searches.into_iter().map(grid).collect::<Result<_, String>>()?,
        })
    }

    fn about(word: &str, common: &Common) -> Result<StudyQuestion, CommandError> {
        let scenario = target::one(word, common).map_err(|error| match error {
            CommandError::Input(message) => {
                let names = READY.map(|(name, _)| name).join(", ");
                CommandError::Input(format!("{message}; studies that are ready: {names}"))
            }
            CommandError::Stopped(_) | CommandError::Internal(_) => error,
        })?;
        Ok(StudyQuestion {
            name: scenario.name().to_owned(),
            title: format!("{}: what do its settings cost, if a tick is a second?", scenario.name()),
            about: "Clients, faults and users as the scenario says; how long things take as in the usual profile of the simulator.".to_owned(),
            simulated: Some(Simulated {
                safety: safety(&*scenario)?,
                scenario,
                axes: Vec::new(),
                seeds: 0..200,
                settings: measuring(600, Profile::default()),
            }),
            searches: Vec::new(),
        })
    }
}

/// The scenario that stands in a study.
fn built(mut table: toml::Table, name: &str, about: &str) -> Result<Box<dyn AnyScenario>, String> {
    table.insert("name".to_owned(), name.into());
    table.insert("about".to_owned(), about.into());
    if table.contains_key("mutation") {
        return Err(format!("{name}: a study is about the service; leave `mutation` out"));
    }
    let written = toml::to_string(&table).expect("a table can be written");
    catalogue::read(&written, "scenario").map_err(|error| error.to_string())
}

/// The name and the text of a study, if that is what stands in the file: a scenario file names its system.
fn written(file: &str) -> Option<(String, String)> {
    let text = fs::read_to_string(file).ok()?;
    let is_study = toml::from_str::<toml::Table>(&text)
        .is_ok_and(|table| table.contains_key("title") && !table.contains_key("system"));
    let name = Path::new(file).file_stem()?.to_string_lossy().into_owned();
    is_study.then_some((name, text))
}

/// A promise that runs can break; what is not promised is not judged, and would count as kept by every run.
fn promised(scenario: &dyn AnyScenario, property: Property) -> Result<Property, CommandError> {
    let promises = scenario.promises();
    let Some(promise) = promises.iter().find(|promise| promise.property == property) else {
        return Err(CommandError::Input(nothing(scenario, Some(property))));
    };
    if property.is_about_endless_runs(promise.bound) {
        return Err(CommandError::Input(format!(
            "`{property}` is a liveness property, and a measured run is finite: no run violates it"
        )));
    }
    Ok(property)
}

/// The maximum number of actions of a run of a study; a longer run is not measured at all.
pub const ACTIONS: u64 = 10_000_000;

fn measuring(storm: i64, profile: Profile) -> Settings {
    Settings { storm, profile, ends_with_storm: true, measures: true, actions_max: ACTIONS, ..Settings::default() }
}

/// The first promise about what clients believe, or else the first that a step can break.
fn safety(scenario: &dyn AnyScenario) -> Result<Property, CommandError> {
    let promises = scenario.promises();
    let is_about_steps = |property: &Property| property.level() != Level::Progress;
    let properties = || promises.iter().map(|promise| promise.property);
    let found = properties().find(|property| property.level() == Level::Belief).or(properties().find(is_about_steps));
    found.ok_or_else(|| CommandError::Input(format!("{} promises nothing that a step can break", scenario.name())))
}
