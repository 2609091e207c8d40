//! The two files: a scenario whose comments come from the schema, and a test that checks it.

use super::draft::{Draft, Fields};
use crate::fields::{Field, find};

/// The width of a line of comments.
const WIDTH: usize = 100;

/// The scenario file.
pub fn scenario(draft: &Draft, fields: &Fields) -> String {
    let Draft { name, start, recipe, clients, rounds, writes, .. } = draft;
    let about = format!("{clients} clients contend for {}.", start.about);
    let mut text = format!(
        "# A scenario for fencepost. Check it: fencepost check {name}.toml. See one execution: fencepost simulate {name}.toml --seed 1\n\
         # Every field stands in the reference: fencepost docs --out DIR. An editor completes them: fencepost schema {}\n\
         # Durations are whole ticks, as 2, or have a unit, as \"15s\". What matters is their order: small numbers are enough.\n\n",
        start.system
    );
    text += &format!("name = \"{name}\"\nsystem = \"{}\"\nabout = \"{}\"\n", start.system, capital(&about));
    if let (Some(_), Some(tick)) = (recipe, start.recipe_tick) {
        text += &format!("\n# The durations of the recipe are in ticks of this length.\ntick = \"{tick}\"\n");
    }
    for (field, value) in [("clients", clients), ("rounds", rounds), ("writes", writes)] {
        entry(&mut text, &fields.scenario, field, value);
    }
    text += "\n[service]\n";
    if let Some(recipe) = recipe {
        let sentence = "A client as it is in the field. It stands for every setting that this table does not have.";
        text += &format!("# {sentence}\nrecipe = \"{recipe}\"\n");
    }
    settings(&mut text, draft, fields);
    text += "\n# Bounds on delays. Without a bound, a delay is unlimited; 0 means that it never happens.\n[synchrony]";
    for (field, value) in &draft.delays {
        entry(&mut text, &fields.synchrony, field, value);
    }
    budget(&mut text, draft, fields);
    text += "\n# What is promised. A promise that is known to break has expect = \"violated\".\n";
    for (property, bound) in &draft.promises {
        let bound = bound.as_ref().map(|bound| format!("bound = {bound}\n")).unwrap_or_default();
        text += &format!("[[promise]]\n# {}\nproperty = \"{property}\"\n{bound}\n", capital(property.about()));
    }
    text.trim_end().to_owned() + "\n"
}

/// The test of the scenario, in a crate that has `fencepost` among its dev-dependencies.
pub fn test(name: &str) -> String {
    format!(
        "//! Every execution of {name}.toml, against its promises.\n\n\
         use fencepost::{{catalogue, verify}};\n\n\
         #[test]\n\
         fn every_execution_keeps_the_promises() {{\n    \
             let file = include_str!(\"../{name}.toml\");\n    \
             let scenario = catalogue::read(file, \"{name}.toml\").unwrap_or_else(|error| panic!(\"{{error}}\"));\n    \
             verify(&*scenario);\n\
         }}\n"
    )
}

/// The settings: those that are chosen, table by table, and the names of the others.
fn settings(text: &mut String, draft: &Draft, fields: &Fields) {
    let is_own = |(path, _): &&(String, String)| !path.contains('.');
    for (path, value) in draft.settings.iter().filter(is_own) {
        entry(text, &fields.service, path, value);
    }
    let is_chosen =
        |field: &&Field| draft.settings.iter().any(|(path, _)| path.split('.').next() == Some(&*field.name));
    let others = fields.service.iter().filter(|field| field.name != "recipe" && !is_chosen(field));
    let others: Vec<&str> = others.map(|field| field.name.as_str()).collect();
    if !others.is_empty() {
        let sentence =
            if draft.recipe.is_some() { "Further settings, as the recipe has them" } else { "Further settings" };
        text.push('\n');
        comment(text, &format!("{sentence}: {}.", others.join(", ")));
    }
    let mut table = "";
    for (path, value) in draft.settings.iter().filter(|setting| !is_own(setting)) {
        let (head, name) = path.rsplit_once('.').expect("the path has a table");
        if head != table {
            *text += &format!("\n[service.{head}]");
            table = head;
        }
        let inner = find(&fields.service, head).map(|field| field.fields.as_slice()).unwrap_or_default();
        entry(text, inner, name, value);
    }
}

/// The budget: every fault of the system, those without a budget as comments.
fn budget(text: &mut String, draft: &Draft, fields: &Fields) {
    *text +=
        "\n# How often each fault may happen in one execution. A fault that is not here cannot happen.\n[budget]\n";
    for field in fields.budget.iter().filter(|field| field.name != "shared") {
        let number = draft.faults.iter().find(|(name, _)| *name == field.name).map(|(_, number)| number.as_str());
        let about = field.about.trim_start_matches("Of each execution: ").trim_end_matches('.');
        let line = format!("{} = {}", field.name, number.unwrap_or("0"));
        let line = if number.is_some() { line } else { format!("# {line}") };
        *text += &format!("{line:<24} # {about}\n");
    }
}

/// A field with its value, below what the schema says of it.
fn entry(text: &mut String, fields: &[Field], name: &str, value: &str) {
    text.push('\n');
    if let Some(field) = find(fields, name) {
        // A value with a unit is no number of ticks.
        let about = if value.starts_with('"') { field.about.replace(", in ticks", "") } else { field.about.clone() };
        comment(text, &about);
        for (word, about) in &field.values {
            comment(text, format!("  {word}: {about}").trim_end_matches([' ', ':']));
        }
    }
    *text += &format!("{name} = {value}\n");
}

/// A comment, broken into lines; those after the first are as far in as it.
fn comment(text: &mut String, sentence: &str) {
    let indent = &sentence[..sentence.len() - sentence.trim_start().len()];
    let mut line = format!("# {indent}");
    for word in sentence.split_whitespace() {
        if line.len() + word.len() > WIDTH {
            *text += &format!("{}\n", line.trim_end());
            line = format!("# {indent}");
        }
        line += &format!("{word} ");
    }
    *text += &format!("{}\n", line.trim_end());
}

/// The sentence with a capital letter.
fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
