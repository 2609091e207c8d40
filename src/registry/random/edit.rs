//! One random edit of a tree of values.

use toml::{Table, Value};

use super::{Draw, FIXED, Path, pick};

/// Changes one value: one that is there by a little, or any that is known to one that was seen at its path.
pub(super) fn edit(table: &mut Table, values: &[(Path, Vec<Value>)], draw: Draw<'_>) {
    if draw(2) == 0 {
        let (path, seen) = pick(values, draw);
        return put(table, path, pick(seen, draw).clone());
    }
    let mut paths = Vec::new();
    leaves(table, &mut Vec::new(), &mut paths);
    let path = pick(&paths, draw).clone();
    let Some((key, inner)) = parent(table, &path) else { return };
    if draw(8) == 0 {
        inner.remove(key);
        return;
    }
    let seen = values.iter().find(|(other, _)| *other == path).map_or(&[][..], |(_, seen)| seen.as_slice());
    if let Some(value) = inner.get_mut(key) {
        change(value, seen, draw);
    }
}

/// The paths of everything that is no table.
fn leaves(table: &Table, path: &mut Path, paths: &mut Vec<Path>) {
    for (key, value) in table {
        if path.is_empty() && FIXED.contains(&key.as_str()) {
            continue;
        }
        path.push(key.clone());
        match value {
            Value::Table(inner) => leaves(inner, path, paths),
            _ => paths.push(path.clone()),
        }
        path.pop();
    }
}

fn change(value: &mut Value, seen: &[Value], draw: Draw<'_>) {
    match value {
        Value::Integer(number) => *number = near(*number, draw),
        Value::Boolean(is) => *is = !*is,
        Value::Array(list) => change_one(list, seen, draw),
        _ if seen.is_empty() => {}
        other => *other = pick(seen, draw).clone(),
    }
}

/// One more, one less, or a small number.
fn near(number: i64, draw: Draw<'_>) -> i64 {
    match draw(3) {
        0 => number.saturating_add(1),
        1 => number.saturating_sub(1),
        _ => i64::try_from(draw(6)).expect("it is small"),
    }
}

/// A list loses an element, gets one that some list at its path has, or has one changed.
fn change_one(list: &mut Vec<Value>, seen: &[Value], draw: Draw<'_>) {
    let others: Vec<&Value> = seen.iter().filter_map(Value::as_array).flatten().collect();
    match draw(3) {
        0 if !list.is_empty() => {
            let place = place(list, draw);
            list.remove(place);
        }
        1 if !others.is_empty() => {
            let place = usize::try_from(draw(u64::try_from(list.len()).expect("a length fits") + 1)).expect("it fits");
            list.insert(place, (*pick(&others, draw)).clone());
        }
        _ if !list.is_empty() => {
            let place = place(list, draw);
            let own: Vec<Value> = others.into_iter().cloned().collect();
            change(&mut list[place], &own, draw);
        }
        _ => {}
    }
}

fn place(list: &[Value], draw: Draw<'_>) -> usize {
    usize::try_from(draw(u64::try_from(list.len()).expect("a length fits"))).expect("it is below a length")
}

/// The last key of a path, and the table that has it.
fn parent<'a, 'b>(table: &'a mut Table, path: &'b [String]) -> Option<(&'b str, &'a mut Table)> {
    let (last, parents) = path.split_last()?;
    let mut table = table;
    for parent in parents {
        table = table.get_mut(parent)?.as_table_mut()?;
    }
    Some((last.as_str(), table))
}

/// Puts a value at a path, with the tables on the way.
pub(super) fn put(table: &mut Table, path: &[String], value: Value) {
    let Some((last, parents)) = path.split_last() else { return };
    let mut table = table;
    for parent in parents {
        let inner = table.entry(parent).or_insert_with(|| Value::Table(Table::new()));
        // A value that may be a word or a table: the word gives way.
        if !inner.is_table() {
            *inner = Value::Table(Table::new());
        }
        table = inner.as_table_mut().expect("just made sure");
    }
    table.insert(last.clone(), value);
}
