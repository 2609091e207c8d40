//! The same scenario with other settings: every combination of the values of some keys.

use std::fmt;
use std::str::FromStr;

use toml::{Table, Value};

use super::Unreadable;
use crate::catalogue::AnyScenario;

/// A setting and the values that it takes: `service.ttl=none,1,2`. `none` leaves the setting out; what is not a number, a
/// list or `true` and `false` is a text. Settings that change together are separated by `/`, and so are their values:
/// `service.ttl/service.renew_every=none/none,1/1`.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    paths: Vec<Vec<String>>,
    /// For each value of the axis, one for each path.
    values: Vec<Vec<Option<Value>>>,
}

/// Why a text is no axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoAxis(String);

impl fmt::Display for NoAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoAxis {}

impl FromStr for Axis {
    type Err = NoAxis;

    fn from_str(text: &str) -> Result<Self, NoAxis> {
        let wrong = || NoAxis(format!("`{text}` is not like `service.ttl=none,1,2`"));
        let (paths, values) = text.split_once('=').ok_or_else(wrong)?;
        let path = |path: &str| path.split('.').map(|part| part.trim().to_owned()).collect::<Vec<_>>();
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
pub struct Varied {
    /// One for each setting that varies.
    pub settings: Vec<String>,
    /// The scenario; or why these settings are impossible.
    pub scenario: Result<AnyScenario, Unreadable>,
}

/// Every combination of the values of the axes, the last axis changing first.
pub fn vary(scenario: &AnyScenario, axes: &[Axis]) -> Vec<Varied> {
    let base: Table = toml::from_str(&scenario.to_toml()).expect("it was written a moment ago");
    let mut tables = vec![(Vec::new(), base)];
    for axis in axes {
        let with = |(settings, table): &(Vec<String>, Table), values: &Vec<Option<Value>>| {
            let (mut settings, mut table) = (settings.clone(), table.clone());
            for (path, value) in axis.paths.iter().zip(values) {
                let name = path.last().expect("a path has a last part");
                settings.push(match value {
                    Some(value) => format!("{name} = {value}"),
                    None => format!("no {name}"),
                });
                put(&mut table, path, value.clone());
            }
            (settings, table)
        };
        tables = tables
            .iter()
            .flat_map(|table| axis.values.iter().map(|value| with(table, value)).collect::<Vec<_>>())
            .collect();
    }
    let read = |(settings, table): (Vec<String>, Table)| {
        let text = toml::to_string(&table).expect("a table can be written");
        Varied { scenario: AnyScenario::from_toml(&text, &settings.join(", ")), settings }
    };
    tables.into_iter().map(read).collect()
}

fn put(table: &mut Table, path: &[String], value: Option<Value>) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;

    #[test]
    fn every_combination_comes_once_and_impossible_ones_say_why() {
        let all = catalogue::all();
        let base = all.iter().find(|scenario| scenario.name() == "dial-bounded").expect("it is in the catalogue");
        let axes = [
            "service.ttl/service.renew_every=none/none,1/1",
            "service.health.checks=[],[\"serf-health\"]",
            "service.belief=until-told,nonsense",
        ];
        let axes: Vec<Axis> = axes.iter().map(|axis| axis.parse().unwrap()).collect();
        let varied = vary(base, &axes);
        assert_eq!(varied.len(), 8);
        assert_eq!(
            varied[2].settings,
            ["no ttl", "no renew_every", "checks = [\"serf-health\"]", "belief = \"until-told\""]
        );
        let error = varied[5].scenario.as_ref().unwrap_err().to_string();
        assert!(error.contains("nonsense"), "{error}");
        assert!(varied[4].scenario.is_ok());
        for odd in ["ttl", "ttl=", "a/b=1", "a.=1"] {
            assert!(odd.parse::<Axis>().is_err(), "{odd}");
        }
    }
}
