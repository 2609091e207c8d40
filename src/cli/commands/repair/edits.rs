//! The edits of a scenario: which settings may change, and to which values.

use std::collections::BTreeSet;
use std::fmt;

use fencepost::catalogue::CATALOGUE;
use fencepost::model::units::Duration;
use fencepost::registry::random::Material;
use fencepost::{AnyScenario, catalogue};
use serde_json::Value as Json;
use toml::{Table, Value};

use super::mistakes::brings_mistake;

/// At most this number of integers is tried for a setting: those that are nearest to its value.
const NUMBERS_MAX: usize = 6;

/// The knob of the kernel: what the resource accepts.
const RESOURCE: &str = "resource";

/// A setting with another value.
#[derive(Clone, PartialEq, Debug)]
pub struct Edit {
    /// The dotted path.
    pub knob: String,
    pub before: Option<Value>,
    /// None: the setting is left out, and has its default.
    pub after: Option<Value>,
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (was {})", self.assignment(), shown(self.before.as_ref()))
    }
}

impl Edit {
    /// The same with units, if it is one of these durations and a tick has a length.
    pub fn in_units(&self, durations: &BTreeSet<String>, tick: Option<Duration>) -> Edit {
        let Some(tick) = tick.filter(|_| durations.contains(&self.knob)) else { return self.clone() };
        let value = |value: &Option<Value>| {
            let length = value.as_ref().and_then(Value::as_integer).and_then(|count| tick.times(count));
            length.map_or_else(|| value.clone(), |length| Some(Value::String(length.to_string())))
        };
        Edit { knob: self.knob.clone(), before: value(&self.before), after: value(&self.after) }
    }

    /// The setting and its new value.
    pub fn assignment(&self) -> String {
        format!("{} = {}", self.knob, shown(self.after.as_ref()))
    }
}

fn shown(value: Option<&Value>) -> String {
    value.map_or("none".to_owned(), ToString::to_string)
}

/// The settings of a scenario's service, and what its resource accepts, as dotted paths.
pub fn knobs(system: &str) -> Vec<String> {
    let service = CATALOGUE.services().find(|service| service.systems().contains(&system));
    let root = service.map(|service| service.schema("/definitions")).unwrap_or_default();
    let settings = resolved(&root, &root["properties"]["service"]);
    let fields = settings["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let settings = fields.filter(|name| *name != "recipe").map(|name| format!("service.{name}"));
    [RESOURCE.to_owned()].into_iter().chain(settings).collect()
}

/// A schema, followed through references.
fn resolved<'a>(root: &'a Json, schema: &'a Json) -> &'a Json {
    let target = schema.get("$ref").and_then(Json::as_str).and_then(|path| root.pointer(&path[1..]));
    match target.or(schema.get("allOf").and_then(|all| all.get(0))) {
        Some(target) => resolved(root, target),
        None => schema,
    }
}

/// Every edit of one of the knobs that makes a difference and brings in no mistake of a client, in the order of the knobs. Some are valid
/// only together with others.
pub fn edits(scenario: &dyn AnyScenario, knobs: &[String], material: &Material) -> Vec<Edit> {
    let table = table(scenario);
    let system = scenario.description().system;
    let mut found = Vec::new();
    for knob in knobs {
        let before = lookup(&table, knob).cloned();
        // A default has two names: its value, and none.
        let mut seen: Vec<Box<dyn AnyScenario>> = vec![scenario.copy()];
        for after in values(system, knob, before.as_ref(), material) {
            let edit = Edit { knob: knob.clone(), before: before.clone(), after };
            if brings_mistake(system, &edit) {
                continue;
            }
            match with(scenario, &[&edit]) {
                Ok(other) if seen.iter().any(|seen| other.is_same(&**seen)) => {}
                Ok(other) => {
                    seen.push(other);
                    found.push(edit);
                }
                Err(_) => found.push(edit),
            }
        }
    }
    found
}

/// The values to try: those of the catalogue, every word that the reader knows, and numbers around the present one.
fn values(system: &str, knob: &str, before: Option<&Value>, material: &Material) -> Vec<Option<Value>> {
    let known = material.values(system, knob);
    let (numbers, others): (Vec<&Value>, Vec<&Value>) = known.iter().partition(|value| value.is_integer());
    let present = before.and_then(Value::as_integer);
    let near = present.map_or(vec![], |value| vec![value - 1, value + 1, value.saturating_mul(2)]);
    let numbers: BTreeSet<i64> = numbers.into_iter().filter_map(Value::as_integer).chain(near).collect();
    let mut numbers: Vec<i64> = numbers.into_iter().filter(|number| *number >= 0 && Some(*number) != present).collect();
    numbers.sort_by_key(|number| (number.abs_diff(present.unwrap_or_default()), *number));
    numbers.truncate(NUMBERS_MAX);
    let numbers = numbers.into_iter().map(|number| Some(Value::Integer(number)));
    let others = others.into_iter().filter(|value| Some(*value) != before).cloned().map(Some);
    numbers.chain(others).chain(before.map(|_| None)).collect()
}

/// The scenario with these edits.
///
/// # Errors
/// The reason why it is no valid scenario.
pub fn with(scenario: &dyn AnyScenario, edits: &[&Edit]) -> Result<Box<dyn AnyScenario>, String> {
    let mut table = table(scenario);
    for edit in edits {
        let (folder, key) =
            edit.knob.split_once('.').map_or((None, edit.knob.as_str()), |(folder, key)| (Some(folder), key));
        let place = match folder {
            Some(folder) => {
                let inner = table.entry(folder).or_insert_with(|| Value::Table(Table::new()));
                inner.as_table_mut().ok_or("it is no table")?
            }
            None => &mut table,
        };
        match &edit.after {
            Some(value) => drop(place.insert(key.to_owned(), value.clone())),
            None => drop(place.remove(key)),
        }
    }
    let text = toml::to_string(&table).map_err(|error| error.to_string())?;
    catalogue::read(&text, scenario.name()).map_err(|error| error.message)
}

fn table(scenario: &dyn AnyScenario) -> Table {
    scenario.to_toml().parse().expect("a scenario is written as TOML")
}

fn lookup<'a>(table: &'a Table, knob: &str) -> Option<&'a Value> {
    match knob.split_once('.') {
        Some((folder, key)) => table.get(folder)?.get(key),
        None => table.get(knob),
    }
}
