//! Scenario files: reading them, and errors with the position.

use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::budget_text::{Kinds, kinds, renamed};
use super::file::read;
use super::nearest::with_nearest;
use super::recipes::Recipes;
use super::toml_reader::ReadError;
use super::with_units::{Units, all_have_units};
use super::{Scenario, SettingError};
use crate::service::Service;

/// An error in a scenario file: the position, the mistake, and the correction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScenarioError {
    /// The name of the file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The mistake, and what to write instead.
    pub message: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

impl std::error::Error for ScenarioError {}

/// Lists scenario files, as names and texts: the folder, then the names in order.
#[macro_export]
macro_rules! scenarios {
    ($folder:literal; $($name:literal,)*) => {
        /// Names and texts of the scenario files, in order.
        pub const SCENARIOS: &[(&str, &str)] = &[$(($name, include_str!(concat!($folder, $name, ".toml"))),)*];
    };
}

#[derive(Deserialize)]
struct Head {
    system: String,
}

/// The `system` that a scenario text names.
///
/// # Errors
/// The text is not TOML, or names no system.
pub fn system_of(text: &str, file: &str) -> Result<String, ScenarioError> {
    let head: Head = toml::from_str(text).map_err(|error: toml::de::Error| unreadable(text, file, &error.into()))?;
    Ok(head.system)
}

/// Reads and validates a scenario. `file` is only used in messages.
///
/// # Errors
/// Any mistake in the file, with line and column.
pub fn from_toml<P: Service>(text: &str, file: &str) -> Result<Scenario<P>, ScenarioError> {
    let mut read_one = None;
    with_document(text, file, &Recipes::of::<P>(), &mut |document| {
        read_one = Some(read::<P>(document)?);
        Ok(())
    })?;
    let mut scenario = read_one.expect("a document without a mistake has been read");
    if let Some(tick) = scenario.tick {
        all_have_units(text, tick, || scenario.duration_paths()).map_err(|mistake| misplaced(text, file, &mistake))?;
    }
    if let Some(rate) = scenario.clocks.rate {
        scenario = scenario.with_clock_rate(rate).map_err(|mistake| misplaced(text, file, &mistake))?;
    }
    scenario.settle();
    scenario.validate().map_err(|mistake| misplaced(text, file, &mistake))?;
    Ok(scenario)
}

/// Reads a document whose durations have no units any more, and which says itself what its recipe says.
type ReadDocument<'a> = dyn FnMut(Spanned<DeTable<'_>>) -> Result<(), ReadError> + 'a;

fn with_document(text: &str, file: &str, recipes: &Recipes, read: &mut ReadDocument<'_>) -> Result<(), ScenarioError> {
    let refused = |error: ReadError| unreadable(text, file, &error);
    // What the document borrows is written before it.
    let (units, recipe);
    let mut document = DeTable::parse(text).map_err(|error| refused(error.into()))?;
    let named = recipe_named(recipes, document.get_mut()).map_err(|mistake| misplaced(text, file, &mistake))?;
    units = Units::of(document.get_ref(), recipes, named)
        .map_err(|error| at(text, file, error.span.start, error.message))?;
    if let (Some(named), Some(DeValue::Table(service))) =
        (named, document.get_mut().get_mut("service").map(Spanned::get_mut))
    {
        recipe = units
            .recipe(recipes, named, service)
            .map_err(|message| misplaced(text, file, &SettingError { path: "service.recipe".to_owned(), message }))?;
        units.replace(document.get_mut());
        add_recipe(document.get_mut(), &recipe);
    } else {
        units.replace(document.get_mut());
    }
    read(document).map_err(refused)
}

/// Takes the name of a recipe out of the document, if it has one, and looks for its settings.
fn recipe_named(recipes: &Recipes, document: &mut DeTable<'_>) -> Result<Option<&'static str>, SettingError> {
    let Some(DeValue::Table(service)) = document.get_mut("service").map(Spanned::get_mut) else { return Ok(None) };
    let Some(named) = service.remove("recipe") else { return Ok(None) };
    let name = named.get_ref().as_str().unwrap_or_default();
    let Some((_, text)) = recipes.texts.iter().find(|(other, _)| *other == name) else {
        let known: Vec<&str> = recipes.texts.iter().map(|(name, _)| *name).collect();
        let message = match known[..] {
            [] => "this system has no recipes".to_owned(),
            _ => format!("there is no recipe `{name}`; valid recipes: `{}`", known.join("`, `")),
        };
        return Err(SettingError { path: "service.recipe".to_owned(), message });
    };
    Ok(Some(text))
}

/// Puts the settings of a recipe below those that the scenario has itself.
fn add_recipe<'a>(document: &mut DeTable<'a>, recipe: &'a str) {
    let Some(DeValue::Table(service)) = document.get_mut("service").map(Spanned::get_mut) else { return };
    lay_below(service, DeTable::parse(recipe).expect("recipes are tested").into_inner());
}

/// Adds missing entries, in nested tables as well.
fn lay_below<'a>(table: &mut DeTable<'a>, below: DeTable<'a>) {
    for (key, value) in below {
        match (table.get_mut(key.get_ref().as_ref()).map(|own| own.get_mut()), value.into_inner()) {
            (Some(DeValue::Table(own)), DeValue::Table(inner)) => lay_below(own, inner),
            (Some(_), _) => {}
            (None, inner) => {
                table.insert(key, Spanned::new(0..0, inner));
            }
        }
    }
}

impl ScenarioError {
    /// An error at the `system` line of a scenario text.
    pub fn system(text: &str, file: &str, message: String) -> Self {
        ScenarioError::at(text, file, "system", message)
    }

    /// An error at the setting with this dotted path.
    pub fn at(text: &str, file: &str, path: &str, message: String) -> Self {
        misplaced(text, file, &SettingError { path: path.to_owned(), message })
    }
}

/// Old names in a scenario text that are still read, with their new names.
pub fn outdated<P: Service>(text: &str, file: &str) -> Vec<ScenarioError> {
    outdated_budgets(kinds::<P>(), text, file)
}

fn outdated_budgets(kinds: Kinds, text: &str, file: &str) -> Vec<ScenarioError> {
    let Ok(document) = DeTable::parse(text) else { return Vec::new() };
    let Some(DeValue::Table(budget)) = document.get_ref().get("budget").map(Spanned::get_ref) else {
        return Vec::new();
    };
    let is_old = |key: &str| Some((format!("budget.{key}"), renamed(kinds, key)?));
    let old = budget.keys().filter_map(|key| is_old(key.get_ref()));
    old.map(|(path, names)| ScenarioError::at(text, file, &path, replacement(&names))).collect()
}

/// The same for the first line of a trace.
pub fn outdated_in_trace<P: Service>(header: &serde_json::Value) -> Vec<String> {
    outdated_budgets_in_trace(kinds::<P>(), header)
}

fn outdated_budgets_in_trace(kinds: Kinds, header: &serde_json::Value) -> Vec<String> {
    let Some(budget) = header["scenario"]["budget"].as_object() else { return Vec::new() };
    let is_used = |value: &serde_json::Value| *value != 0 && *value != false;
    let used = budget.iter().filter(|(_, value)| is_used(value));
    let renamed = used.filter_map(|(key, _)| Some((key, renamed(kinds, key)?)));
    renamed.map(|(key, names)| format!("scenario.budget.{key}: {}", replacement(&names))).collect()
}

fn replacement(names: &[&str]) -> String {
    match names {
        [name] => format!("this budget is now called `{name}`"),
        _ => format!(
            "this budget is now one for each fault, `{}`; it is read as a shared cap: [[budget.shared]]",
            names.join("`, `")
        ),
    }
}

fn unreadable(text: &str, file: &str, error: &ReadError) -> ScenarioError {
    at(text, file, error.span.as_ref().map_or(0, |span| span.start), with_nearest(&error.message))
}

fn misplaced(text: &str, file: &str, mistake: &SettingError) -> ScenarioError {
    let offset = span_of(text, &mistake.path).map_or(0, |span| span.start);
    at(text, file, offset, format!("{}: {}", mistake.path, mistake.message))
}

fn at(text: &str, file: &str, offset: usize, message: String) -> ScenarioError {
    let before = &text[..offset.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    ScenarioError {
        file: file.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message: message.trim_end().replace('\n', " "),
    }
}

/// The place of the value at a dotted path (`budget.pauses`, `promise.1.bound`), or of the nearest table around it.
pub(super) fn span_of(text: &str, path: &str) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let mut found = None;
    let mut steps = path.split('.');
    let mut value = document.get_ref().get(steps.next()?)?;
    found.replace(value.span());
    for step in steps {
        let inner = match value.get_ref() {
            DeValue::Table(table) => table.get(step),
            DeValue::Array(array) => step.parse().ok().and_then(|place: usize| array.get(place)),
            _ => None,
        };
        let Some(inner) = inner else { break };
        value = inner;
        found.replace(value.span());
    }
    found
}
