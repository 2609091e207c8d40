//! The lines of `--json`, from their JSON Schema: the fields of each kind of line.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Reference, cell, code, reference};
use crate::fields::resolved;
use crate::json;

/// The page of the JSON lines.
pub fn page() -> Reference {
    let mut text = "# JSON lines\n\n\
        With `--json`, each result is one object on a line of its own on stdout. Later versions may add fields. \
        `fencepost schema --json-lines` writes the JSON Schema of all lines, `--json-lines=check` that of one command.\n\n"
        .to_owned();
    for command in json::commands() {
        let schema = json::schema(Some(command));
        text += &format!("## `{command}`\n\n");
        let kinds = schema["definitions"][command]["anyOf"].as_array().map(Vec::as_slice).unwrap_or_default();
        for kind in kinds {
            line(&mut text, &schema, kind);
        }
    }
    let all = json::schema(None);
    text += "## Parts of lines\n\n";
    let definitions = || all["definitions"].as_object().into_iter().flatten();
    let is_command = |name: &str| json::commands().any(|command| command == name);
    let lines: BTreeSet<&str> = definitions()
        .filter(|(name, _)| is_command(name))
        .flat_map(|(_, command)| command["anyOf"].as_array().into_iter().flatten())
        .filter_map(|line| line["$ref"].as_str()?.rsplit('/').next())
        .collect();
    for (name, part) in definitions().filter(|(name, _)| !is_command(name) && !lines.contains(name.as_str())) {
        text += &format!("### {} (part)\n\n{}\n\n", part_name(name), description(part));
        match part.get("properties") {
            Some(_) => text += &table(&all, part),
            None => text += &format!("{}.\n\n", cell(&kind(&all, part))),
        }
    }
    reference("json", "JSON lines", text)
}

fn line(text: &mut String, root: &Value, schema: &Value) {
    let object = resolved(root, schema);
    *text += &format!("{}\n\n{}", description(object), table(root, object));
}

fn description(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name of a part of lines: that of its type, without what all of them end with.
fn part_name(name: &str) -> &str {
    name.strip_suffix("Json").unwrap_or(name)
}

/// The fields of an object. A choice between objects has those of each.
fn table(root: &Value, object: &Value) -> String {
    let mut text = "| field | value | meaning |\n|---|---|---|\n".to_owned();
    for (name, field) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let about = description(field);
        text += &format!("| {} | {} | {} |\n", code(name), kind(root, field), cell(&about));
    }
    text + "\n"
}

/// What a value is, in words; a part of its own is a link.
fn kind(root: &Value, schema: &Value) -> String {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()) {
        return if name.ends_with("Json") {
            kind(root, resolved(root, schema))
        } else {
            format!("[{name}](#{}-part)", name.to_lowercase())
        };
    }
    if let Some(inner) = schema.get("allOf").and_then(|all| all.get(0)) {
        return kind(root, inner);
    }
    let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let words: Vec<String> = list("enum").iter().filter_map(Value::as_str).map(code).collect();
    if !words.is_empty() {
        return words.join(", ");
    }
    if let Some(word) = schema.get("const") {
        return code(word.as_str().unwrap_or(&word.to_string()));
    }
    let choices: Vec<String> = ["oneOf", "anyOf"].into_iter().flat_map(list).map(|choice| kind(root, choice)).collect();
    if !choices.is_empty() {
        return choices.join(" or ");
    }
    let names: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => vec!["any"],
    };
    let named = names.into_iter().map(|name| match name {
        "array" => {
            schema.get("items").map_or_else(|| "array".to_owned(), |items| format!("array of {}", kind(root, items)))
        }
        other => other.to_owned(),
    });
    named.collect::<Vec<_>>().join(" or ")
}
