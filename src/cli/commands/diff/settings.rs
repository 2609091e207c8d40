//! The fields in which two scenarios differ, by their paths in the scenario file.

use std::collections::BTreeMap;

use fencepost::AnyScenario;
use toml::{Table, Value};

/// A field that has another value in the other scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// The path in the scenario file, for example `service.ttl` or `promise.mutual-exclusion.expect`.
    pub path: String,
    /// The values in A and in B; none where the scenario does not have the field.
    pub values: [Option<Value>; 2],
    /// Whether the field is a text for people: it changes no execution and no verdict.
    pub is_text: bool,
}

/// The fields that are texts for people.
const TEXTS: [&str; 9] = ["name", "hazard", "also", "title", "variant", "about", "story", "sources", "suite"];

/// The fields that differ, in the order of their paths; those that are texts come last.
pub fn differences(pair: &[Box<dyn AnyScenario>; 2]) -> Vec<Difference> {
    let [a, b] = pair.each_ref().map(|scenario| {
        scenario.in_units(&scenario.to_toml()).parse::<Table>().expect("a scenario is written as TOML")
    });
    of_tables(&a, &b)
}

fn of_tables(a: &Table, b: &Table) -> Vec<Difference> {
    let mut fields: BTreeMap<String, [Option<Value>; 2]> = BTreeMap::new();
    for (side, table) in [a, b].into_iter().enumerate() {
        flatten("", &Value::Table(table.clone()), &mut |path, value| {
            fields.entry(path.to_owned()).or_default()[side] = Some(value.clone());
        });
    }
    let differing = fields.into_iter().filter(|(_, [a, b])| a != b);
    let mut found: Vec<Difference> =
        differing.map(|(path, values)| Difference { is_text: TEXTS.contains(&path.as_str()), path, values }).collect();
    found.sort_by_key(|difference| difference.is_text);
    found
}

/// Visits every field that is no table.
fn flatten(path: &str, value: &Value, visit: &mut impl FnMut(&str, &Value)) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        // A table without fields says what a missing table says.
        Value::Table(table) => {
            table.iter().for_each(|(key, inner)| flatten(&below(key), inner, visit));
        }
        Value::Array(list) if !list.is_empty() && list.iter().all(Value::is_table) => {
            for (key, mut inner) in keyed(list) {
                // The property is the last part of the path already.
                if inner.get("property").and_then(Value::as_str) == Some(&key) && inner.len() > 1 {
                    inner.remove("property");
                }
                flatten(&below(&key), &Value::Table(inner), visit);
            }
        }
        _ => visit(path, value),
    }
}

/// The tables of a list, each with its name: the promised property, or its number where it has none or shares it.
fn keyed(list: &[Value]) -> impl Iterator<Item = (String, Table)> {
    let property = |table: &Table| table.get("property").and_then(Value::as_str).map(str::to_owned);
    let tables: Vec<Table> = list.iter().filter_map(Value::as_table).cloned().collect();
    let names: Vec<Option<String>> = tables.iter().map(property).collect();
    tables.into_iter().enumerate().map(move |(place, table)| {
        let name = names[place].clone().filter(|_| names.iter().filter(|name| **name == names[place]).count() == 1);
        (name.unwrap_or_else(|| (place + 1).to_string()), table)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn differ(a: &str, b: &str, expected: &[(&str, Option<&str>, Option<&str>)]) {
        let found = of_tables(&a.parse().expect("TOML"), &b.parse().expect("TOML"));
        let word = |value: &Option<Value>| value.as_ref().map(ToString::to_string);
        let found: Vec<_> =
            found.iter().map(|found| (found.path.as_str(), word(&found.values[0]), word(&found.values[1]))).collect();
        let expected: Vec<_> =
            expected.iter().map(|(path, a, b)| (*path, a.map(str::to_owned), b.map(str::to_owned))).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn only_fields_with_other_values_are_listed_by_their_paths() {
        differ("[service]\nttl = 1\nretry = 2", "[service]\nttl = 1\nretry = 2", &[]);
        differ(
            "clients = 2\n[synchrony]\n[service]\nttl = 1\n[service.health]\nchecks = []",
            "clients = 2\n[service]\nttl = 2\nrenew_every = 1\n[service.health]\nchecks = [\"serf-health\"]",
            &[
                ("service.health.checks", Some("[]"), Some("[\"serf-health\"]")),
                ("service.renew_every", None, Some("1")),
                ("service.ttl", Some("1"), Some("2")),
            ],
        );
    }

    #[test]
    fn texts_come_last() {
        differ(
            "about = \"A.\"\nclients = 2",
            "about = \"B.\"\nclients = 3",
            &[("clients", Some("2"), Some("3")), ("about", Some("\"A.\""), Some("\"B.\""))],
        );
    }

    #[test]
    fn promises_are_matched_by_their_property_and_not_by_their_place() {
        let promise = |property: &str, rest: &str| format!("[[promise]]\nproperty = \"{property}\"\n{rest}\n");
        differ(
            &format!("{}{}", promise("progress", "expect = \"proven\""), promise("token-order", "expect = \"proven\"")),
            &promise("token-order", "expect = \"violated\""),
            &[
                ("promise.progress.expect", Some("\"proven\""), None),
                ("promise.token-order.expect", Some("\"proven\""), Some("\"violated\"")),
            ],
        );
        let twice = promise("progress", "bound = 1") + &promise("progress", "bound = 2");
        differ(&twice, &twice.replace("bound = 2", "bound = 3"), &[("promise.2.bound", Some("2"), Some("3"))]);
    }
}
