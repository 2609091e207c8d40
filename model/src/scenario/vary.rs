//! The same scenario with other settings: every combination of the values of some keys.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use toml::{Table, Value};

use super::Unreadable;
use crate::catalogue::AnyScenario;

/// A setting and the values that it takes: `service.ttl=none,1,2`. `none` leaves the setting out; what is not a number, a
/// list or `true` and `false` is a text. Settings that change together are separated by `/`, and so are their values:
/// `service.ttl/service.renew_every=none/none,1/1`. A name without a dot that is none of the scenario's own is one of the
/// service's: `ttl=1,2`; `renewal` stands for `service.renew_every`. `detector=none,gossip,ttl,both` says what ends the session
/// of a client that is silent: it takes the TTL away, or the check by gossip, whatever the other axes say.
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
        let paths: Vec<Vec<String>> = paths.split('/').map(path).collect();
        let values: Vec<Vec<&str>> = split(values, ',').into_iter().map(|value| split(value, '/')).collect();
        let is_odd = |value: &Vec<&str>| value.len() != paths.len() || value.contains(&"");
        if paths.iter().flatten().any(String::is_empty) || values.iter().any(is_odd) {
            return Err(wrong());
        }
        let words = ["none", "gossip", "ttl", "both"];
        if paths.iter().any(|path| path[..] == [DETECTOR])
            && (paths.len() > 1 || values.iter().any(|value| !words.contains(&value[0])))
        {
            return Err(NoAxis(format!("`{text}`: detectors are {}, on an axis of their own", words.join(", "))));
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

    fn is_about_detectors(&self) -> bool {
        self.paths[0][..] == [DETECTOR]
    }
}

/// Settings of a scenario that belong to no table.
const OWN: [&str; 5] = ["clients", "rounds", "writes", "resource", "mutation"];

/// The setting that stands for several.
const DETECTOR: &str = "detector";

fn path(name: &str) -> Vec<String> {
    let parts: Vec<&str> = name.split('.').map(str::trim).collect();
    let parts = match parts[..] {
        [only] if OWN.contains(&only) || only == DETECTOR || only.is_empty() => vec![only],
        ["renewal"] => vec!["service", "renew_every"],
        [only] => vec!["service", only],
        _ => parts,
    };
    parts.into_iter().map(str::to_owned).collect()
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

/// Every combination of the values of the axes, the last axis changing first; of combinations that come to the same the
/// first one.
pub fn vary(scenario: &AnyScenario, axes: &[Axis]) -> Vec<Varied> {
    let base: Table = toml::from_str(&scenario.to_toml()).expect("it was written a moment ago");
    let mut tables = vec![(Vec::new(), base)];
    let (detectors, others): (Vec<&Axis>, Vec<&Axis>) = axes.iter().partition(|axis| axis.is_about_detectors());
    for axis in others.into_iter().chain(detectors) {
        let with = |(settings, table): &(Vec<String>, Table), values: &Vec<Option<Value>>| {
            let (mut settings, mut table) = (settings.clone(), table.clone());
            for (path, value) in axis.paths.iter().zip(values) {
                let name = path.last().expect("a path has a last part");
                if name == DETECTOR {
                    let word = value.as_ref().and_then(Value::as_str).unwrap_or("none");
                    detect(&mut table, word, &mut settings);
                    continue;
                }
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
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut varied = Vec::new();
    for (settings, table) in tables {
        let text = toml::to_string(&table).expect("a table can be written");
        if !seen.contains(&text) {
            let scenario = AnyScenario::from_toml(&text, &settings.join(", "));
            varied.push(Varied { scenario, settings });
            seen.insert(text);
        }
    }
    varied
}

/// Takes away what a detector does not have, and what rests on it: without a TTL there is no lease to count.
fn detect(table: &mut Table, word: &str, settings: &mut Vec<String>) {
    let key = |keys: [&str; 2]| keys.map(str::to_owned);
    let checks = ["service", "health", "checks"].map(str::to_owned);
    if matches!(word, "none" | "gossip") {
        let needs_ttl = ["ttl =", "no ttl", "renew_every", "self-limiting", "suspending"];
        for name in settings.iter_mut().filter(|name| name.starts_with("belief")) {
            *name = name.replace("self-limiting", "until-told").replace("suspending", "until-told");
        }
        settings.retain(|name| !needs_ttl.iter().any(|word| name.contains(word)));
        for keys in [["service", "ttl"], ["service", "renew_every"]] {
            put(table, &key(keys), None);
        }
        let belief = table.get("service").and_then(|service| service.get("belief")).and_then(Value::as_str);
        if matches!(belief, Some("self-limiting" | "suspending")) {
            put(table, &key(["service", "belief"]), Some(Value::String("until-told".to_owned())));
        }
    }
    let has_gossip = matches!(word, "gossip" | "both");
    let gossip = has_gossip.then(|| Value::Array(vec![Value::String("serf-health".to_owned())]));
    put(table, &checks, gossip);
    settings.push(format!("{DETECTOR} = {word}"));
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
    fn detectors_take_away_what_they_do_not_have_and_what_comes_to_the_same_comes_once() {
        let all = catalogue::all();
        let base = all.iter().find(|scenario| scenario.name() == "dial-bounded").expect("it is in the catalogue");
        let axes = ["detector=none,gossip,ttl,both", "ttl/renewal=1/1,2/1"].map(|axis| axis.parse().unwrap());
        let varied = vary(base, &axes);
        let settings: Vec<String> = varied.iter().map(|varied| varied.settings.join(", ")).collect();
        assert_eq!(
            settings,
            [
                "detector = none",
                "detector = gossip",
                "ttl = 1, renew_every = 1, detector = ttl",
                "ttl = 1, renew_every = 1, detector = both",
                "ttl = 2, renew_every = 1, detector = ttl",
                "ttl = 2, renew_every = 1, detector = both",
            ]
        );
        let text = varied[1].scenario.as_ref().unwrap().to_toml();
        assert!(!text.contains("ttl =") && text.contains("serf-health") && !text.contains("self-limiting"), "{text}");
    }

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
        for odd in ["ttl", "ttl=", "a/b=1", "a.=1", "detector=sometimes", "detector/ttl=none/1"] {
            assert!(odd.parse::<Axis>().is_err(), "{odd}");
        }
    }
}
