//! The studies that come with the program, as their files say, and the background of a report: these and what the scenarios
//! say of themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use fencepost::AnyScenario;
use fencepost::catalogue::{self, documents};
use fencepost::model::finding::Study;
use fencepost::registry::Description;
use fencepost::reports::choice::Choice;
use fencepost::reports::documents::Document;
use fencepost::reports::html::{Background, Measurements, Ready, ScenarioText};
use fencepost::sim::Profile;
use fencepost_reenact::{RECORDED, SeenViolation, read};
use serde::Deserialize;

/// The studies that come with the program.
pub const READY: [(&str, &str); 4] = [
    ("dial", include_str!("../../reports/studies/dial.toml")),
    ("ttl-and-lock-delay", include_str!("../../reports/studies/ttl-and-lock-delay.toml")),
    ("detector", include_str!("../../reports/studies/detector.toml")),
    ("slots", include_str!("../../reports/studies/slots.toml")),
];

/// A study as it stands in its file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyText {
    pub title: String,
    pub about: String,
    #[serde(default)]
    pub seeds: u64,
    /// How long a run is, in ticks.
    #[serde(default)]
    pub storm: i64,
    #[serde(default)]
    pub vary: Vec<String>,
    #[serde(default)]
    pub profile: Option<Profile>,
    /// What is simulated; none: only searches.
    #[serde(default)]
    pub scenario: Option<toml::Table>,
    #[serde(default, rename = "search")]
    pub searches: Vec<SearchText>,
}

/// A grid of settings that is searched, as it stands in a study.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchText {
    pub title: String,
    pub scenario: ScenarioSource,
    pub vary: Vec<String>,
    /// Whether its settings are those that are simulated, one for one.
    #[serde(default)]
    pub of_points: bool,
}

/// The name of a scenario, or one that stands there.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum ScenarioSource {
    Named(String),
    Written(toml::Table),
}

/// What these scenarios and the catalogue's documents say, and the studies with their pages in the folder.
pub fn background(scenarios: &[Box<dyn AnyScenario>], out: &Path) -> Background {
    let recorded: Vec<SeenViolation> =
        RECORDED.iter().flat_map(|text| read(text).expect("the recorded files are tested")).collect();
    let texts = scenarios.iter().map(|scenario| (scenario.name().to_owned(), text(&**scenario, &recorded))).collect();
    let documents = documents().map(Document::read).collect();
    Background {
        own: BTreeSet::new(),
        texts,
        choice: Some(Choice::shipped()),
        documents,
        studies: ready(out),
        pages: Vec::new(),
    }
}

fn text(scenario: &dyn AnyScenario, recorded: &[SeenViolation]) -> ScenarioText {
    let Description { title, also, story, sources, .. } = scenario.description();
    let (title, story) = (title.to_owned(), story.to_owned());
    ScenarioText { title, also: also.to_vec(), story, sources: sources.to_vec(), seen: seen(scenario, recorded) }
}

/// The violations of the scenario that were seen on a real server. A scenario in a file may have the name of another one.
fn seen(scenario: &dyn AnyScenario, recorded: &[SeenViolation]) -> BTreeMap<String, String> {
    let happened = recorded.iter().filter(|line| line.scenario == scenario.name() && line.has_happened());
    let sight = |line: &SeenViolation| match &line.other {
        Some(other) => format!("{} in another execution, {other}", line.server),
        None => line.server.clone(),
    };
    let seen: BTreeMap<String, String> = happened.map(|line| (line.property.clone(), sight(line))).collect();
    let mut files = catalogue::files().filter(|(name, _)| !seen.is_empty() && *name == scenario.name());
    let is_known = files.any(|(name, text)| catalogue::read(text, name).is_ok_and(|known| *known == *scenario));
    if is_known { seen } else { BTreeMap::new() }
}

/// The studies that come with the program, and what was measured for them into this folder.
fn ready(out: &Path) -> Vec<Ready> {
    let ready = |(name, text): &(&str, &str)| {
        let text: StudyText = toml::from_str(text).expect("the studies are tested");
        let taken = taken(&out.join(format!("tradeoff-{name}.json")));
        Ready { name: (*name).to_owned(), title: text.title, taken }
    };
    READY.iter().map(ready).collect()
}

/// What was measured into this file. As with make, what is older than the program is out of date.
fn taken(file: &Path) -> Measurements {
    let changed = |file: &Path| fs::metadata(file).and_then(|file| file.modified()).ok();
    let Ok(written) = fs::read_to_string(file) else { return Measurements::Never };
    let built = std::env::current_exe().ok().and_then(|program| changed(&program));
    match serde_json::from_str::<Study>(&written) {
        Ok(study) if built.is_some() && changed(file) >= built => Measurements::Now(Box::new(study)),
        _ => Measurements::Before,
    }
}
