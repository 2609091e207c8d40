//! The fields of scenario files: those that all systems share, and a page for each service, from the JSON Schema.

use fencepost::catalogue::CATALOGUE;
use fencepost::registry::AnyService;
use serde_json::Value;

use super::{Reference, cell, code, reference};
use crate::fields::{Field, fields, find};

/// The page of what all systems share, and those of the services.
pub fn pages() -> Vec<Reference> {
    let shared = CATALOGUE.services().next().map(shared);
    shared.into_iter().chain(CATALOGUE.services().map(of_service)).collect()
}

fn shared(service: &dyn AnyService) -> Reference {
    let root = service.schema("/definitions");
    let mut all = fields(&root, &root);
    // What each service says itself.
    all.retain(|field| !["service", "mutation"].contains(&field.name.as_str()));
    let mut text = "# Fields of every scenario\n\n\
        A scenario file is TOML: [Scenario files](scenarios.html) explains it. This page and those of the settings are written from the types that \
        read the files. Durations are whole ticks, as `2`, or texts with a unit, as `\"15s\"`.\n\n"
        .to_owned();
    // Each service has faults, goals and systems of its own: they stand on its page.
    for field in &mut all {
        match field.name.as_str() {
            "budget" => field.fields.retain(|fault| is_shared(&["budget", &fault.name])),
            "goals" | "system" => field.values.retain(|(word, _)| is_shared_value(&field.name, word)),
            _ => {}
        }
    }
    text += &table(&all);
    sections(&mut text, &all, "");
    reference("scenario", "Fields of every scenario", text)
}

/// Whether every service has the field.
fn is_shared(path: &[&str]) -> bool {
    CATALOGUE.services().all(|service| {
        let root = service.schema("/definitions");
        find(&fields(&root, &root), &path.join(".")).is_some()
    })
}

/// Whether the word is a value of the field for every service.
fn is_shared_value(name: &str, word: &str) -> bool {
    CATALOGUE.services().all(|service| {
        let root = service.schema("/definitions");
        find(&fields(&root, &root), name).is_some_and(|field| field.values.iter().any(|(known, _)| known == word))
    })
}

fn of_service(service: &'static dyn AnyService) -> Reference {
    let systems: Vec<String> = service.systems().iter().map(|system| code(system)).collect();
    let name = format!("Settings of {}", service.systems().join(", "));
    let root = service.schema("/definitions");
    let settings = fields(&root, &root["properties"]["service"]);
    let mut text =
        format!("# {name}\n\nThe table `[service]` of a scenario with `system` = {}.\n\n", systems.join(" or "));
    if let Some(recipe) = find(&settings, "recipe") {
        let names: Vec<String> = recipe.values.iter().map(|(name, _)| code(name)).collect();
        text += &format!("Clients as they are in the field, as `recipe`: {}.\n\n", names.join(", "));
    }
    text += "## Settings\n\n";
    text += &table(&settings);
    sections(&mut text, &settings, "service.");
    let own = |name: &str| own(&root, name);
    let faults: Vec<Field> = own("budget").map(|field| field.fields).unwrap_or_default();
    if !faults.is_empty() {
        text +=
            "## Faults of this service\n\nBudgets beside [those of every system](reference-scenario.html#budget).\n\n";
        text += &table(&faults);
        sections(&mut text, &faults, "budget.");
    }
    let goals = own("goals").map(|field| field.values).unwrap_or_default();
    if !goals.is_empty() {
        let goals: Vec<String> = goals.iter().map(|(goal, _)| code(goal)).collect();
        text += &format!(
            "## Goals of this service\n\n{}: [what they are](reference-promises.html#goals).\n\n",
            goals.join(", ")
        );
    }
    let scenarios: Vec<String> = service.scenarios().iter().map(|(name, _)| code(name)).collect();
    text += &format!(
        "## Scenarios\n\n`fencepost check NAME` checks one of these {}: {}.\n",
        scenarios.len(),
        scenarios.join(", ")
    );
    reference(service.systems()[0], &name, text)
}

/// The part of a field that not every service has.
fn own(root: &Value, name: &str) -> Option<Field> {
    let mut field = find(&fields(root, root), name)?.clone();
    field.fields.retain(|inner| !is_shared(&[name, &inner.name]));
    field.values.retain(|(word, _)| !is_shared_value(name, word));
    Some(field)
}

/// A table of fields.
fn table(fields: &[Field]) -> String {
    let mut text = "| field | value | default | meaning |\n|---|---|---|---|\n".to_owned();
    for field in fields {
        let default = field.default.as_deref().map(code).unwrap_or_default();
        let words: Vec<String> = field.values.iter().map(|(word, _)| code(word)).collect();
        let has_section = !field.fields.is_empty() || field.values.iter().any(|(_, about)| !about.is_empty());
        let kind = match (words.len(), has_section) {
            (0, false) => cell(&field.kind),
            (0, true) => format!("[{}](#{})", cell(&field.kind), anchor(field)),
            (_, true) => format!("[{}](#{})", kind_of_words(field), anchor(field)),
            (_, false) => words.join(", "),
        };
        text += &format!("| {} | {kind} | {default} | {} |\n", code(&field.name), cell(&field.about));
    }
    text + "\n"
}

fn kind_of_words(field: &Field) -> String {
    let array = if field.kind.starts_with("an array") { "an array of " } else { "" };
    match &field.values[..] {
        words if words.len() > 4 => format!("{array}{} words", words.len()),
        words => array.to_owned() + &words.iter().map(|(word, _)| code(word)).collect::<Vec<_>>().join(", "),
    }
}

/// The anchor of a field's section: its heading is the name alone.
fn anchor(field: &Field) -> &str {
    &field.name
}

/// A section for each field whose values or fields need more than a row.
fn sections(text: &mut String, fields: &[Field], table_name: &str) {
    for field in fields {
        let has_meanings = field.values.iter().any(|(_, about)| !about.is_empty());
        if field.fields.is_empty() && !has_meanings {
            continue;
        }
        *text += &format!("### `{}`\n\n", field.name);
        if !field.fields.is_empty() && field.kind == "a table" {
            *text += &format!("The table `[{table_name}{}]`. ", field.name);
        }
        *text += &format!("{}\n\n", field.about);
        if has_meanings {
            *text += "| value | meaning |\n|---|---|\n";
            for (word, about) in &field.values {
                *text += &format!("| {} | {} |\n", code(word), cell(about));
            }
            *text += "\n";
        }
        if !field.fields.is_empty() {
            *text += &self::table(&field.fields);
            sections(text, &field.fields, &format!("{table_name}{}.", field.name));
        }
    }
}
