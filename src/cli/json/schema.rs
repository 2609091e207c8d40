//! The JSON Schema of the lines that commands print with `--json`, from the types of the lines.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::kernel::{Point, Search};
use super::{
    AnswerCountJson, CheckJson, ClientFindingJson, DetectionJson, DifferenceJson, EnvelopeJson, ExactPromiseJson,
    HuntJson, LeaderRuleJson, LogVerdictJson, LossJson, MeasureJson, MutantJson, NoRepairJson, NothingFoundJson,
    PromiseChangeJson, PromiseJson, ReadyJson, RealignmentJson, ReenactmentJson, RegressionJson, RepairSetJson,
    RunJson, ScenarioJson, SchedulerJson, ShrinkJson, StandInVerdictJson, SweepJson, TortureSummaryJson,
    TortureTrialJson, TortureViolationJson, UnexercisedRulesJson, WrittenJson,
};

/// The schemas of the lines of a command.
type Lines = fn(&mut SchemaGenerator) -> Vec<Schema>;

macro_rules! lines {
    ($($line:ty),*) => {
        |generator| vec![$(generator.subschema_for::<$line>()),*]
    };
}

/// The commands that print lines, each with the types of its lines. Without a command, `fencepost` prints those of `check`.
const COMMANDS: [(&str, Lines); 24] = [
    ("new", lines![WrittenJson<'static>]),
    ("list", lines![ScenarioJson<'static>]),
    ("check", lines![CheckJson<'static>]),
    ("diff", lines![DifferenceJson<'static>, PromiseChangeJson<'static>, LossJson<'static>, MeasureJson<'static>]),
    ("simulate", lines![RunJson<'static>]),
    ("hunt", lines![HuntJson<'static>, NothingFoundJson<'static>]),
    ("schedulers", lines![SchedulerJson<'static>]),
    ("sweep", lines![SweepJson<'static>]),
    ("tradeoff", lines![Point, Search, RunJson<'static>]),
    ("doctor", lines![PromiseJson, ExactPromiseJson]),
    ("repair", lines![RepairSetJson<'static>, NoRepairJson<'static>]),
    ("detector", lines![DetectionJson]),
    ("merge", lines![SweepJson<'static>]),
    ("replay", lines![RunJson<'static>, RealignmentJson<'static>]),
    ("shrink", lines![ShrinkJson<'static>]),
    ("regress", lines![RegressionJson<'static>]),
    ("docs", lines![WrittenJson<'static>]),
    ("man", lines![WrittenJson<'static>]),
    ("envelope", lines![EnvelopeJson<'static>]),
    (
        "conform",
        lines![
            AnswerCountJson<'static>,
            UnexercisedRulesJson<'static>,
            LeaderRuleJson<'static>,
            LogVerdictJson<'static>,
            ClientFindingJson<'static>
        ],
    ),
    ("reenact", lines![ReenactmentJson<'static>]),
    ("serve", lines![ReadyJson, StandInVerdictJson]),
    ("torture", lines![TortureTrialJson, TortureViolationJson<'static>, TortureSummaryJson<'static>]),
    ("mutants", lines![MutantJson]),
];

/// The names of the commands that print lines.
pub fn commands() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(|(name, _)| *name)
}

/// The JSON Schema (draft 7) of the lines of one command, or of all. A command's lines are a definition of its name.
pub fn schema(command: Option<&str>) -> Value {
    let settings = SchemaSettings::draft07().for_serialize();
    let mut generator = settings.into_generator();
    let meant = COMMANDS.iter().filter(|(name, _)| command.is_none_or(|command| command == *name));
    let mut definitions = Map::new();
    let mut choices = Vec::new();
    for (name, lines) in meant {
        let lines = lines(&mut generator);
        choices.push(json!({ "$ref": format!("#/definitions/{name}") }));
        let title = format!("A line of `fencepost {name} --json`");
        definitions.insert((*name).to_owned(), json!({ "title": title, "anyOf": lines }));
    }
    definitions.extend(generator.take_definitions(true));
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A line that fencepost prints with --json; later versions may add fields",
        "anyOf": choices,
        "definitions": definitions,
    })
}
