//! The same scenario with other settings: every combination of the values of some keys.

use std::collections::BTreeSet;
use std::str::FromStr;

use thiserror::Error;
use toml::{Table, Value};

use super::{Scenario, ScenarioError, from_toml};
use crate::service::{Service, Settings};

/// A setting and the values that it takes: `service.ttl=none,1,2`. `none` leaves the setting out; what is not a number, a
/// list or `true` and `false` is a text. Settings that change together are separated by `/`, and so are their values:
/// `service.ttl/service.renew_every=none/none,1/1`. A name without a dot that is none of the scenario's own is one of the
/// service's: `ttl=1,2`; or one of its [aliases](AxisAlias).
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    paths: Vec<Vec<String>>,
    /// For each value of the axis, one for each path.
    values: Vec<Vec<Option<Value>>>,
}

/// Another name for a setting of a service, or a name that stands for several.
#[derive(Copy, Clone, Debug)]
pub struct AxisAlias {
    /// The name, which has no dot.
    pub name: &'static str,
    /// What it means.
    pub meaning: AliasMeaning,
}

/// What an alias means.
#[derive(Copy, Clone, Debug)]
pub enum AliasMeaning {
    /// One setting of the service.
    Setting(&'static str),
    /// Several settings: they follow from one of these words, whatever the other axes say.
    Choice {
        /// The words.
        words: &'static [&'static str],
        /// Puts what follows from a word into the scenario's table, and takes what it overrides out of the list of settings.
        apply: fn(&mut Table, &str, &mut Vec<String>),
    },
}

/// A text is no axis: it is not like `service.ttl=none,1,2`.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{text}` is not like `service.ttl=none,1,2`")]
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
    /// How many values it has.
    #[allow(clippy::len_without_is_empty, reason = "an axis has a value at least")]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// One of its names stands for several settings.
    fn has_choice(&self, aliases: &[AxisAlias]) -> bool {
        self.paths.iter().any(|path| choice(path, aliases).is_some())
    }
}

/// Settings of a scenario that belong to no table.
const OWN: [&str; 5] = ["clients", "rounds", "writes", "resource", "mutation"];

fn path(name: &str) -> Vec<String> {
    name.split('.').map(|part| part.trim().to_owned()).collect()
}

/// Where the setting with this name stands in a scenario's table.
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

/// At the separators that are not inside brackets.
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

/// A scenario with the settings that make it differ from others, as `ttl = 1`.
#[derive(Clone, PartialEq, Debug)]
pub struct Varied<T> {
    /// One for each setting that varies.
    pub settings: Vec<String>,
    /// The scenario; or why these settings are impossible.
    pub scenario: Result<T, ScenarioError>,
}

/// One combination of values, as it is put together.
#[derive(Clone)]
struct Combination {
    settings: Vec<String>,
    table: Table,
    /// Words of aliases that stand for several settings: they are applied last.
    choices: Vec<(AxisAlias, String)>,
}

/// Every combination of the values of the axes, the last axis changing first, and before it those whose words stand for
/// several settings; of combinations that come to the same the first one.
pub fn vary<S: Service>(scenario: &Scenario<S>, axes: &[Axis]) -> Vec<Varied<Scenario<S>>> {
    let aliases = <S::Settings as Settings<S>>::ALIASES;
    let table = Table::try_from(scenario).expect("a scenario is plain data");
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
            let name = settings.join(", ");
            let scenario = match wrong {
                None => from_toml(&text, &name),
                Some(message) => Err(ScenarioError { file: name, line: 1, column: 1, message }),
            };
            varied.push(Varied { scenario, settings });
        }
    }
    varied
}

impl Combination {
    /// The same with values of another axis.
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

    /// Applies the words that stand for several settings; a message if one of them is unknown.
    fn choose(&mut self) -> Option<String> {
        for (alias, word) in std::mem::take(&mut self.choices) {
            let AliasMeaning::Choice { words, apply } = alias.meaning else { continue };
            if words.contains(&word.as_str()) {
                apply(&mut self.table, &word, &mut self.settings);
            }
            self.settings.push(format!("{} = {word}", alias.name));
            if !words.contains(&word.as_str()) {
                return Some(format!("`{} = {word}`: the words are {}", alias.name, words.join(", ")));
            }
        }
        None
    }
}

/// Sets the value at a path of a table, or takes it away; tables on the way are made.
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
