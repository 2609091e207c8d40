//! Durations with units in scenario files. They become ticks before anything else reads the file, or an error at their place: nothing
//! is rounded. The tick is the file's `tick`, or else the longest one of which each duration is a whole number.

use std::ops::Range;

use toml::de::{DeString, DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::recipes::Recipes;
use super::text::span_of;
use super::{Scenario, SettingError};
use crate::service::Service;
use crate::time::Ticks;
use crate::units::Duration;

/// Why a duration cannot be ticks, and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct UnitError {
    pub(super) span: Range<usize>,
    pub(super) message: String,
}

/// What a file's durations are in ticks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Units {
    /// How long a tick is; none: the file has no units.
    pub(super) tick: Option<Duration>,
    /// The tick as a value of a file.
    written: String,
    /// For each duration with a unit, in the order of the file, its ticks as a line of TOML.
    counts: Vec<String>,
}

/// The tables and lists of a scenario in which durations stand.
const TABLES: [&str; 5] = ["service", "synchrony", "clocks", "promise", "tick"];

impl Units {
    /// Reads the units of a file.
    pub(super) fn of(document: &DeTable<'_>, recipes: &Recipes, recipe: Option<&str>) -> Result<Units, UnitError> {
        let mut durations = Vec::new();
        visit(document, &mut |value, span| {
            durations.push((read(value, span.clone())?, span));
            Ok(())
        })?;
        let given = match document.get("tick") {
            None => None,
            Some(tick) => Some(given(tick)?),
        };
        if given.is_none() && durations.is_empty() {
            return Ok(Units::default());
        }
        let tick = match given {
            Some(tick) => tick,
            None => {
                let own = document.get("service").and_then(|service| service.get_ref().as_table());
                let of_recipe = match (recipe, own, recipes.tick) {
                    (Some(text), Some(own), Some(tick)) => durations_of(recipes, text, own, tick),
                    _ => Vec::new(),
                };
                let all = durations.iter().map(|(duration, _)| *duration).chain(of_recipe);
                let common = all.fold(Duration::ZERO, Duration::common_with);
                if common == Duration::ZERO { Duration::of_seconds(1) } else { common }
            }
        };
        let mut counts = Vec::new();
        for (duration, span) in durations {
            let count =
                duration.in_ticks_of(tick).ok_or_else(|| UnitError { span, message: uneven(duration, tick) })?;
            counts.push(format!("value = {count}"));
        }
        Ok(Units { tick: Some(tick), written: format!("value = \"{tick}\""), counts })
    }

    /// Puts ticks where durations stood.
    pub(super) fn replace<'a>(&'a self, document: &mut DeTable<'a>) {
        let mut counts = self.counts.iter();
        for name in TABLES {
            let Some(value) = document.get_mut(name).filter(|_| name != "tick") else { continue };
            replace(value.get_mut(), &mut counts);
        }
        if self.tick.is_some() && !document.contains_key("tick") {
            let mut table = DeTable::parse(&self.written).expect("it is one value").into_inner();
            let value = table.remove("value").expect("it was just written");
            let key = Spanned::new(0..0, "tick".into());
            document.insert(key, Spanned::new(0..0, value.into_inner()));
        }
    }

    /// The settings of a recipe in ticks of this file, but for those that the file has itself; as TOML.
    pub(super) fn recipe(&self, recipes: &Recipes, text: &str, own: &DeTable<'_>) -> Result<String, String> {
        let Some(tick) = self.tick else { return Ok(text.to_owned()) };
        let Some(recipe_tick) = recipes.tick else {
            return Err("this recipe is written in ticks: leave `tick` and units out of the file".to_owned());
        };
        let (rest, rest_text) = remaining(text, own);
        let mut uneven_one = None;
        let whole = (recipes.change)(&rest_text, &mut |ticks| {
            let duration = real(*ticks, recipe_tick);
            match duration.in_ticks_of(tick) {
                Some(count) => *ticks = Ticks::new(count),
                None => {
                    uneven_one = Some(duration);
                    *ticks = Ticks::new(UNEVEN);
                }
            }
        });
        let kept = only(&rest, &whole);
        match (has_uneven(&kept), uneven_one) {
            (true, Some(duration)) => Err(format!("of the recipe's durations, {}", uneven(duration, tick))),
            _ => Ok(toml::to_string(&kept).expect("a table is TOML")),
        }
    }
}

/// Stands for a duration that is not a whole number of ticks, until a setting is read from it.
const UNEVEN: i64 = -1;

fn uneven(duration: Duration, tick: Duration) -> String {
    let below = duration.nanoseconds() / tick.nanoseconds() * tick.nanoseconds();
    let (below, above) = (Duration::of_nanoseconds(below), Duration::of_nanoseconds(below + tick.nanoseconds()));
    let finer = duration.common_with(tick);
    format!("{duration} is no whole number of ticks of {tick}: write {below} or {above}, or `tick = \"{finer}\"`")
}

fn read(text: &str, span: Range<usize>) -> Result<Duration, UnitError> {
    text.parse().map_err(|error: crate::units::DurationError| UnitError { span, message: error.to_string() })
}

fn given(tick: &Spanned<DeValue<'_>>) -> Result<Duration, UnitError> {
    let wrong = |message: &str| UnitError { span: tick.span(), message: message.to_owned() };
    let text = tick.get_ref().as_str().ok_or_else(|| wrong("a tick is a duration with a unit: write \"1s\""))?;
    let tick = read(text, tick.span())?;
    if tick == Duration::ZERO { Err(wrong("a tick of 0 would stop time: write \"1s\"")) } else { Ok(tick) }
}

/// Takes a text and its place in the file.
type See<'a> = dyn FnMut(&str, Range<usize>) -> Result<(), UnitError> + 'a;

/// Shows every text that begins like a number, where durations stand.
fn visit(document: &DeTable<'_>, see: &mut See<'_>) -> Result<(), UnitError> {
    for name in TABLES {
        if let Some(value) = document.get(name).filter(|_| name != "tick") {
            visit_value(value.get_ref(), value.span(), see)?;
        }
    }
    Ok(())
}

fn visit_value(value: &DeValue<'_>, span: Range<usize>, see: &mut See<'_>) -> Result<(), UnitError> {
    match value {
        DeValue::String(text) if is_duration(text) => see(text, span),
        DeValue::Array(array) => array.iter().try_for_each(|inner| visit_value(inner.get_ref(), inner.span(), see)),
        DeValue::Table(table) => {
            let mut values = table.iter().filter(|(key, _)| !is_rate(key));
            values.try_for_each(|(_, inner)| visit_value(inner.get_ref(), inner.span(), see))
        }
        _ => Ok(()),
    }
}

fn replace<'a>(value: &mut DeValue<'a>, counts: &mut std::slice::Iter<'a, String>) {
    match value {
        DeValue::String(text) if is_duration(text) => {
            let line = counts.next().expect("each was counted");
            let mut table = DeTable::parse(line).expect("it is one number").into_inner();
            *value = table.remove("value").expect("it was just written").into_inner();
        }
        DeValue::Array(array) => array.iter_mut().for_each(|inner| replace(inner.get_mut(), counts)),
        DeValue::Table(table) => {
            let values = table.iter_mut().filter(|(key, _)| !is_rate(key));
            values.for_each(|(_, inner)| replace(inner.get_mut(), counts));
        }
        _ => {}
    }
}

/// No word of a setting begins like this.
fn is_duration(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || c == '.')
}

/// A rate is no duration, though it begins like one.
fn is_rate(key: &Spanned<DeString<'_>>) -> bool {
    key.get_ref() == "rate"
}

impl<P: Service> Scenario<P> {
    /// The dotted paths, in the scenario's file, of all durations that are not 0: they are twice as large on a clock that is twice as fine.
    pub fn duration_paths(&self) -> Vec<String> {
        let [once, twice] = [1, 2].map(|factor| self.refined(factor).to_table());
        durations_in(&once, &twice)
    }
}

fn durations_in(once: &Table, twice: &Table) -> Vec<String> {
    let mut paths = Vec::new();
    for name in TABLES.iter().filter(|name| **name != "tick") {
        if let Some(inner) = twice.get(*name) {
            differing(name, once.get(*name), inner, &mut paths);
        }
    }
    paths
}

/// Adds the paths of numbers that another table has not, or has with another value.
fn differing(path: &str, once: Option<&Value>, twice: &Value, paths: &mut Vec<String>) {
    match twice {
        Value::Table(table) => table.iter().for_each(|(name, inner)| {
            differing(&format!("{path}.{name}"), once.and_then(|once| once.get(name)), inner, paths);
        }),
        Value::Array(list) => list.iter().enumerate().for_each(|(place, inner)| {
            differing(&format!("{path}.{place}"), once.and_then(|once| once.get(place)), inner, paths);
        }),
        Value::Integer(_) if once != Some(twice) => paths.push(path.to_owned()),
        _ => {}
    }
}

/// Refuses a plain number for a duration in a file with units whose tick is not its own: what it means would change with every other
/// duration.
pub(super) fn all_have_units(
    text: &str,
    tick: Duration,
    durations: impl FnOnce() -> Vec<String>,
) -> Result<(), SettingError> {
    let file: Table = text.parse().expect("the file has been read");
    if file.contains_key("tick") {
        return Ok(());
    }
    for path in durations() {
        if let Some(Value::Integer(number)) = value_at(&file, &path) {
            let message = format!(
                "{number} has no unit, and other durations of this file have one: write \"{number}s\", or `tick = \"{tick}\"` beside `clients`, for plain numbers are ticks"
            );
            return Err(SettingError { path, message });
        }
    }
    Ok(())
}

fn value_at<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    let mut steps = path.split('.');
    let mut value = table.get(steps.next()?)?;
    for step in steps {
        value = match value {
            Value::Table(table) => table.get(step)?,
            Value::Array(list) => list.get(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

/// The text of a scenario file with units in place of ticks, at these paths.
pub fn text_in_units(text: &str, durations: &[String], tick: Duration) -> String {
    let mut text = text.to_owned();
    for path in durations {
        let Some(span) = span_of(&text, path) else { continue };
        if let Some(length) = text[span.clone()].parse().ok().and_then(|count| tick.times(count)) {
            text.replace_range(span, &format!("\"{length}\""));
        }
    }
    text
}

fn real(ticks: Ticks, tick: Duration) -> Duration {
    Duration::of_nanoseconds(ticks.count() * tick.nanoseconds())
}

/// A recipe without what the file has itself, as a table and as text.
fn remaining(text: &str, own: &DeTable<'_>) -> (Table, String) {
    let mut table: Table = text.parse().expect("recipes are tested");
    leave_out(&mut table, own);
    let text = toml::to_string(&table).expect("a table is TOML");
    (table, text)
}

fn leave_out(table: &mut Table, own: &DeTable<'_>) {
    for (key, value) in own {
        match (table.get_mut(key.get_ref().as_ref()), value.get_ref()) {
            (Some(Value::Table(inner)), DeValue::Table(own)) => leave_out(inner, own),
            (Some(_), _) => {
                table.remove(key.get_ref().as_ref());
            }
            (None, _) => {}
        }
    }
}

/// The durations that a recipe has beside the file's own.
fn durations_of(recipes: &Recipes, text: &str, own: &DeTable<'_>, tick: Duration) -> Vec<Duration> {
    let mut durations = Vec::new();
    (recipes.change)(&remaining(text, own).1, &mut |ticks| durations.push(real(*ticks, tick)));
    durations
}

/// What of the second table stands in the first one, too.
fn only(wanted: &Table, whole: &Table) -> Table {
    let kept = wanted.iter().filter_map(|(key, value)| {
        let found = match (value, whole.get(key)?) {
            (Value::Table(inner), Value::Table(whole)) => Value::Table(only(inner, whole)),
            (_, found) => found.clone(),
        };
        Some((key.clone(), found))
    });
    kept.collect()
}

fn has_uneven(table: &Table) -> bool {
    table.values().any(|value| match value {
        Value::Table(inner) => has_uneven(inner),
        Value::Integer(count) => *count == UNEVEN,
        _ => false,
    })
}
