//! What a scenario may say beyond what the catalogue says: the parser is asked, by errors, for the fields of each table and
//! for the words of each choice. So a new setting is drawn before a scenario uses it.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::edit::put;
use super::{LEFT_OUT, Path, read};
use crate::catalogue::Catalogue;

/// What no field and no choice is called.
const UNKNOWN: &str = "?";

/// Adds the fields and the words that no scenario uses.
pub(super) fn complete(catalogue: Catalogue, tables: &[Table], values: &mut BTreeMap<Path, Vec<Value>>) {
    let Some(base) = tables.first() else { return };
    let paths = values.iter().filter(|(_, seen)| seen.iter().any(Value::is_table)).map(|(path, _)| path.clone());
    for path in [Vec::new()].into_iter().chain(paths).collect::<Vec<Path>>() {
        let base = with(base, values, &path);
        for field in expected(catalogue, &base, &child(&path, UNKNOWN), Value::Integer(1)) {
            let path = child(&path, &field);
            if path.len() > 1 || !LEFT_OUT.contains(&field.as_str()) {
                values.entry(path).or_default();
            }
        }
    }
    for (path, seen) in values.iter_mut() {
        let more = words(catalogue, base, path, seen);
        seen.extend(more);
    }
    values.retain(|_, seen| !seen.is_empty());
}

/// The first scenario, with a table that is at home at the path.
fn with(base: &Table, values: &BTreeMap<Path, Vec<Value>>, path: &Path) -> Table {
    let mut table = base.clone();
    if let Some(inner) = values.get(path).and_then(|seen| seen.iter().find(|value| value.is_table())) {
        put(&mut table, path, inner.clone());
    }
    table
}

fn child(path: &Path, key: &str) -> Path {
    path.iter().cloned().chain([key.to_owned()]).collect()
}

/// The values that a path can have and that no scenario has: numbers and booleans where it has none yet, and all words.
fn words(catalogue: Catalogue, base: &Table, path: &Path, seen: &[Value]) -> Vec<Value> {
    let unknown = || Value::String(UNKNOWN.to_owned());
    let texts = expected(catalogue, base, path, unknown()).into_iter().map(Value::String);
    let lists = expected(catalogue, base, path, Value::Array(vec![unknown()])).into_iter();
    let lists = lists.map(|word| Value::Array(vec![Value::String(word)]));
    let others = [Value::Integer(1), Value::Integer(2), Value::Boolean(true), Value::Boolean(false)];
    let others = others.into_iter().filter(|value| seen.is_empty() && fits(catalogue, base, path, value));
    texts.chain(lists).chain(others).filter(|value| !seen.contains(value)).collect()
}

/// The names that the parser would have understood at the path in place of the unknown one.
fn expected(catalogue: Catalogue, base: &Table, path: &Path, value: Value) -> Vec<String> {
    let mut table = base.clone();
    put(&mut table, path, value);
    let Err(message) = read(catalogue, &table) else { return Vec::new() };
    let Some((_, expected)) = message.split_once(", expected ").filter(|_| message.starts_with("unknown ")) else {
        return Vec::new();
    };
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether the parser takes a value of this type at the path; the validation may still refuse it.
fn fits(catalogue: Catalogue, base: &Table, path: &Path, value: &Value) -> bool {
    let mut table = base.clone();
    put(&mut table, path, value.clone());
    read(catalogue, &table)
        .err()
        .is_none_or(|message| !["invalid", "unknown", "missing"].iter().any(|word| message.starts_with(word)))
}
