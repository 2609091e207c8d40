//! The same scenario with other settings: every combination of the values of some keys.

use std::collections::BTreeSet;
use std::str::FromStr;

use thiserror::Error;
use toml::{Table, Value};

use super::{Scenario, ScenarioError, from_toml};
use crate::service::{Service, Settings};

/// A setting with the values to try: `service.ttl=none,1,2`. `none` removes the setting. A value that is not a number,
/// a list, `true` or `false` is a string. Separate settings that change together by `/`, and their values as well:
/// `service.ttl/service.renew_every=none/none,1/1`. A name without a dot that is no setting of the scenario is a
/// setting of the service, `ttl=1,2`, or one of its [aliases](AxisAlias).
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    paths: Vec<Vec<String>>,
    /// For each value of the axis, one value for each path.
    values: Vec<Vec<Option<Value>>>,
}

/// Another name for a setting of a service, or a name for several settings.
#[derive(Copy, Clone, Debug)]
pub struct AxisAlias {
    /// The name. It has no dot.
    pub name: &'static str,
    /// The meaning.
    pub meaning: AliasMeaning,
}

/// The meaning of an alias.
#[derive(Copy, Clone, Debug)]
pub enum AliasMeaning {
    /// One setting of the service.
    Setting(&'static str),
    /// Several settings: one of these words determines them, whatever the other axes set.
    Choice {
        /// The words.
        words: &'static [&'static str],
        /// Sets the settings of a word in the scenario's table, and removes the overridden settings from the list.
        apply: fn(&mut Table, &str, &mut Vec<String>),
    },
}

/// A text is not an axis: it is not written like `service.ttl=none,1,2`.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{text}` is not an axis; write it like `service.ttl=none,1,2`")]
pub struct AxisError {
    /// The text.
    pub text: String,
}

impl FromStr for Axis {
    type Err = AxisError;

    fn from_str(text: &str) -> Result<Self, AxisError> {
        let wrong = || AxisError { text: text.to_owned() };
        let (paths, values) = text.split_once('=').ok_or_else(wrong)?;
        let paths: Vec<Vec<String>> = paths.split('/').map(path).collect();
        let values: Vec<Vec<&str>> = split(values, ',').into_iter().map(|value| split(value, '/')).collect();
        let is_odd = |value: &Vec<&str>| value.len() != paths.len() || value.contains(&"");
        if paths.iter().flatten().any(String::is_empty) || values.iter().any(is_odd) {
            return Err(wrong());
        }
        Ok(Axis {
            paths,
            values: values.into_iter().map(|value_of| value_of.into_iter().map(value).collect()).collect(),
        })
    }
}

impl Axis {
    /// The number of values.
    #[allow(clippy::len_without_is_empty, reason = "an axis has a value at least")]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether one of its names stands for several settings.
    fn has_choice(&self, aliases: &[AxisAlias]) -> bool {
        self.paths.iter().any(|path| choice(path, aliases).is_some())
    }
}

/// Settings of a scenario that belong to no table.
const OWN: [&str; 6] = ["clients", "rounds", "writes", "resource", "work_items", "mutation"];

fn path(name: &str) -> Vec<String> {
    name.split('.').map(|part| part.trim().to_owned()).collect()
}

/// The path of the setting with this name in a scenario's table.
fn place(path: &[String], aliases: &[AxisAlias]) -> Vec<String> {
    let [only] = path else { return path.to_vec() };
    let alias = aliases.iter().find(|alias| alias.name == only).map(|alias| alias.meaning);
    match alias {
        Some(AliasMeaning::Setting(setting)) => vec!["service".to_owned(), setting.to_owned()],
        _ if OWN.contains(&only.as_str()) => path.to_vec(),
        _ => vec!["service".to_owned(), only.clone()],
    }
}

/// The alias of this name, if it stands for several settings.
fn choice<'a>(path: &[String], aliases: &'a [AxisAlias]) -> Option<&'a AxisAlias> {
    let is_choice = |alias: &&AxisAlias| path == [alias.name] && matches!(alias.meaning, AliasMeaning::Choice { .. });
    aliases.iter().find(is_choice)
}

/// Splits a text at the separators that are not inside brackets.
fn split(values: &str, separator: char) -> Vec<&str> {
    let mut depth = 0;
    let is_separator = |c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == separator && depth == 0
    };
    values.split(is_separator).map(str::trim).collect()
}

fn value(text: &str) -> Option<Value> {
    if text == "none" {
        return None;
    }
    let parsed = toml::from_str::<Table>(&format!("value = {text}")).ok().and_then(|mut table| table.remove("value"));
    Some(parsed.unwrap_or_else(|| Value::String(text.to_owned())))
}

/// A scenario with the settings that differ from the base scenario, for example `ttl = 1`.
#[derive(Clone, PartialEq, Debug)]
pub struct Varied<T> {
    /// One entry for each varied setting.
    pub settings: Vec<String>,
    /// The scenario, or the reason why these settings are impossible.
    pub scenario: Result<T, ScenarioError>,
}

/// One combination of values under construction.
#[derive(Clone)]
struct Combination {
    settings: Vec<String>,
    table: Table,
    /// Words of aliases for several settings: they are applied last.
    choices: Vec<(AxisAlias, String)>,
}

/// Every combination of the values of the axes. The last axis changes first; before it, axes whose words stand for
/// several settings. Of several combinations with the same result, only the first is kept.
pub fn vary<S: Service>(scenario: &Scenario<S>, axes: &[Axis]) -> Vec<Varied<Scenario<S>>> {
    let texts = texts(scenario.to_table(), axes, <S::Settings as Settings<S>>::ALIASES);
    let read = |Varied { settings, scenario: text }: Varied<String>| Varied {
        scenario: text.and_then(|text| from_toml(&text, &settings.join(", "))),
        settings,
    };
    texts.into_iter().map(read).collect()
}

/// The same as the texts of scenario files.
fn texts(table: Table, axes: &[Axis], aliases: &[AxisAlias]) -> Vec<Varied<String>> {
    let (choices, others): (Vec<&Axis>, Vec<&Axis>) = axes.iter().partition(|axis| axis.has_choice(aliases));
    let mut combinations = vec![Combination { settings: Vec::new(), table, choices: Vec::new() }];
    for axis in others.into_iter().chain(choices) {
        let with = |before: &Combination| {
            axis.values.iter().map(|values| before.with(axis, values, aliases)).collect::<Vec<_>>()
        };
        combinations = combinations.iter().flat_map(with).collect();
    }
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut varied = Vec::new();
    for mut combination in combinations {
        let wrong = combination.choose();
        let Combination { settings, table, .. } = combination;
        let text = toml::to_string(&table).expect("a table can be written");
        if seen.insert(format!("{text}{}", wrong.as_deref().unwrap_or_default())) {
            let scenario = match wrong {
                None => Ok(text),
                Some(message) => Err(ScenarioError { file: settings.join(", "), line: 1, column: 1, message }),
            };
            varied.push(Varied { settings, scenario });
        }
    }
    varied
}

impl Combination {
    /// The same combination with values of another axis.
    fn with(&self, axis: &Axis, values: &[Option<Value>], aliases: &[AxisAlias]) -> Self {
        let mut with = self.clone();
        for (path, value) in axis.paths.iter().zip(values) {
            if let Some(alias) = choice(path, aliases) {
                let word = value.as_ref().and_then(Value::as_str).unwrap_or("none");
                with.choices.push((*alias, word.to_owned()));
                continue;
            }
            let path = place(path, aliases);
            let name = path.last().expect("a path has a last part");
            with.settings.push(match value {
                Some(value) => format!("{name} = {value}"),
                None => format!("no {name}"),
            });
            put(&mut with.table, &path, value.clone());
        }
        with
    }

    /// Applies the words that stand for several settings; returns a message if one of them is unknown.
    fn choose(&mut self) -> Option<String> {
        for (alias, word) in std::mem::take(&mut self.choices) {
            let AliasMeaning::Choice { words, apply } = alias.meaning else { continue };
            if words.contains(&word.as_str()) {
                apply(&mut self.table, &word, &mut self.settings);
            }
            self.settings.push(format!("{} = {word}", alias.name));
            if !words.contains(&word.as_str()) {
                return Some(format!("`{} = {word}`: valid words: {}", alias.name, words.join(", ")));
            }
        }
        None
    }
}

/// Sets the value at a path of a table, or removes it; missing tables on the path are created.
pub fn put(table: &mut Table, path: &[String], value: Option<Value>) {
    let (last, parents) = path.split_last().expect("a path has a last part");
    let mut table = table;
    for parent in parents {
        let inner = table.entry(parent).or_insert_with(|| Value::Table(Table::new()));
        if !inner.is_table() {
            *inner = Value::Table(Table::new());
        }
        table = inner.as_table_mut().expect("just made sure");
    }
    match value {
        Some(value) => {
            table.insert(last.clone(), value);
        }
        None => {
            table.remove(last);
        }
    }
}
