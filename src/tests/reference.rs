//! The reference of scenario files against the types that read them, field by field: each field, value and default that exists
//! stands there, and what stands there exists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use fencepost::Property;
use fencepost::catalogue::CATALOGUE;
use fencepost::registry::AnyService;
use serde_json::Value;

/// Read at run time: the page can be mended without a build.
static PAGE: LazyLock<String> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports/docs/scenarios.md");
    fs::read_to_string(path).expect("the page is there")
});

/// Words between backquotes that are no names of fields or values: what the page tells of older files, and code.
const OTHERS: [&str; 4] = ["outages", "endless_outages", "true", "false"];

/// The parts of the page below `## …`, by their headings.
fn sections() -> BTreeMap<&'static str, &'static str> {
    PAGE.split("\n## ").skip(1).filter_map(|part| part.split_once('\n')).collect()
}

/// The pieces of a text between backquotes, and its blocks of code.
fn quoted(text: &str) -> Vec<&str> {
    text.split("```")
        .enumerate()
        .flat_map(|(place, part)| match place % 2 {
            1 => vec![part],
            _ => part.split('`').skip(1).step_by(2).collect(),
        })
        .collect()
}

/// The names in a piece of code.
fn names(code: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    code.split(move |c: char| !is_part(c)).filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
}

fn names_in(text: &str) -> BTreeSet<&str> {
    quoted(text).into_iter().flat_map(names).collect()
}

/// A schema, followed through references.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let inner = schema.get("$ref").and_then(Value::as_str).and_then(|path| root.pointer(&path[1..]));
    match (inner, schema.get("allOf").and_then(|all| all.get(0))) {
        (Some(target), _) | (None, Some(target)) => resolved(root, target),
        (None, None) => schema,
    }
}

/// The fields of a table.
fn fields<'a>(root: &'a Value, schema: &'a Value) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let properties = resolved(root, schema).get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema))
}

/// Every name at and below a schema: fields, and values that are words.
fn vocabulary<'a>(root: &'a Value, schema: &'a Value, words: &mut BTreeSet<&'a str>) {
    let schema = resolved(root, schema);
    for (name, field) in fields(root, schema) {
        words.insert(name);
        vocabulary(root, field, words);
    }
    words.extend(schema.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str));
    words.extend(schema.get("const").and_then(Value::as_str));
    for keyword in ["anyOf", "oneOf"] {
        let choices = schema.get(keyword).and_then(Value::as_array);
        choices.into_iter().flatten().for_each(|choice| vocabulary(root, choice, words));
    }
    if let Some(items) = schema.get("items") {
        vocabulary(root, items, words);
    }
}

fn words<'a>(root: &'a Value, schema: &'a Value) -> BTreeSet<&'a str> {
    let mut words = BTreeSet::new();
    vocabulary(root, schema, &mut words);
    words
}

/// What is said of each field: rows of the tables by the names in their first cells, with the default that the second one names;
/// paragraphs that begin with the name of a table.
fn entries(section: &str) -> BTreeMap<String, (Option<String>, String)> {
    let mut entries = BTreeMap::new();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let named: Vec<&str> = quoted(cells[0]);
        let defaults: Vec<&str> = if named.len() == 1 { vec![cells[1]] } else { cells[1].split(", ").collect() };
        for (place, name) in named.iter().enumerate() {
            let default = (cells.len() > 2)
                .then(|| defaults.get(place).or(defaults.last()).copied().unwrap_or_default().replace('`', ""));
            entries.insert(table_name(name).to_owned(), (default, row.to_owned()));
        }
    }
    for paragraph in section.split("\n\n").filter(|paragraph| paragraph.starts_with("`[service.")) {
        let name = quoted(paragraph)[0];
        entries.insert(table_name(name).to_owned(), (None, paragraph.to_owned()));
    }
    entries
}

/// `[service.monitor]` is the field `monitor`.
fn table_name(name: &str) -> &str {
    name.strip_prefix("[service.").and_then(|rest| rest.strip_suffix(']')).unwrap_or(name)
}

/// A value as the page writes it: TOML, or a word without quotation marks.
fn written(text: &str) -> toml::Value {
    let table = format!("it = {text}").parse::<toml::Table>();
    table.map_or_else(|_| toml::Value::String(text.to_owned()), |mut table| table.remove("it").expect("it is there"))
}

/// Whether a scenario that leaves the setting out is the same as one that has it with this value. Some scenario of the service must
/// be right both ways.
fn is_default(service: &dyn AnyService, name: &str, value: &toml::Value) -> bool {
    for (file, text) in service.scenarios() {
        let mut table: toml::Table = text.parse().expect("TOML");
        let settings = table.entry("service").or_insert_with(|| toml::Table::new().into());
        let settings = settings.as_table_mut().expect("a table");
        if settings.contains_key("recipe") {
            continue;
        }
        settings.remove(name);
        let without = service.read(&toml::to_string(&table).expect("TOML"), file);
        table["service"].as_table_mut().expect("a table").insert(name.to_owned(), value.clone());
        let with = service.read(&toml::to_string(&table).expect("TOML"), file);
        // What belongs to one system is refused in another.
        if let (Ok(without), Ok(with)) = (without, with) {
            return *without == *with;
        }
    }
    panic!("no scenario takes {value} as its `{name}`")
}

/// Whether `none` is one of the values of a setting, and does not mean that it is left out.
fn is_none_a_value(root: &Value, schema: &Value) -> bool {
    words(root, schema).contains("none")
}

#[test]
fn every_setting_of_a_service_stands_in_the_reference_with_its_values_and_its_default() {
    for service in CATALOGUE.services() {
        let root = service.schema("/definitions");
        let settings = resolved(&root, &root["properties"]["service"]);
        let system = format!("`{}`", service.systems()[0]);
        let heading =
            sections().into_keys().find(|heading| heading.starts_with("`[service]`") && heading.contains(&system));
        let heading = heading.unwrap_or_else(|| panic!("there is no part about the settings of {system}"));
        assert!(service.systems().iter().all(|system| heading.contains(&format!("`{system}`"))), "{heading}");
        let section = sections()[heading];
        let entries = entries(section);
        for (name, schema) in fields(&root, settings).filter(|(name, _)| *name != "recipe") {
            let (default, text) = entries.get(name).unwrap_or_else(|| panic!("{heading}: `{name}` is missing"));
            // A long list of values may stand in a paragraph of its own.
            let told = names_in(text);
            for word in words(&root, schema) {
                let is_told = told.contains(word) || text.contains("see below") && names_in(section).contains(word);
                assert!(is_told, "{heading}: `{name}`: `{word}` is missing");
            }
            match default.as_deref().filter(|_| !text.starts_with("| `[")) {
                Some("none") if !is_none_a_value(&root, schema) => {
                    assert_eq!(schema.get("default"), None, "{heading}: `{name}`");
                }
                Some(default) => {
                    let is_right = is_default(service, name, &written(default));
                    assert!(is_right, "{heading}: the default of `{name}` is not {default}");
                }
                None => {}
            }
        }
        for name in entries.keys() {
            assert!(settings["properties"].get(name).is_some(), "{heading}: there is no setting `{name}`");
        }
        for word in words(&root, &settings["properties"]["recipe"]) {
            assert!(names_in(section).contains(word), "{heading}: the recipe `{word}` is missing");
        }
    }
}

#[test]
fn every_field_that_all_services_share_stands_in_the_reference() {
    let shared: String = sections()
        .into_iter()
        .filter(|(heading, _)| !heading.starts_with("`[service]`"))
        .map(|(_, text)| text)
        .collect();
    let head = PAGE.split("\n## ").next().expect("a part");
    let text = format!("{head}\n\n{shared}");
    let told = names_in(&text);
    for service in CATALOGUE.services() {
        let root = service.schema("/definitions");
        for (name, schema) in fields(&root, &root).filter(|(name, _)| *name != "service") {
            assert!(told.contains(name), "`{name}` is missing");
            if name != "mutation" && name != "system" {
                for word in words(&root, schema) {
                    assert!(told.contains(word), "`{name}`: `{word}` is missing");
                }
            }
        }
    }
    for system in CATALOGUE.systems() {
        assert!(names_in(&PAGE).contains(system), "the system `{system}` is missing");
    }
}

#[test]
fn every_name_in_the_reference_exists() {
    let roots: Vec<(&[&str], Value)> =
        CATALOGUE.services().map(|service| (service.systems(), service.schema("/definitions"))).collect();
    let mut shared = BTreeSet::from(OTHERS);
    for (_, root) in &roots {
        let kernel = fields(root, root).filter(|(name, _)| *name != "service");
        kernel.for_each(|(name, schema)| {
            shared.insert(name);
            vocabulary(root, schema, &mut shared);
        });
        shared.insert("service");
    }
    for (heading, section) in sections() {
        let mut known = shared.clone();
        for (systems, root) in &roots {
            let is_about = systems.iter().any(|system| heading.contains(&format!("`{system}`")));
            if is_about || !heading.starts_with("`[service]`") {
                vocabulary(root, &root["properties"]["service"], &mut known);
            }
        }
        // Single words only: code has words of its own.
        let is_name = |code: &&str| names(code).next() == Some(code) && !code.ends_with('-');
        for name in quoted(section).into_iter().filter(is_name) {
            assert!(known.contains(name), "{heading}: there is no `{name}`");
        }
    }
}

#[test]
fn each_promise_of_the_reference_has_the_sentence_of_its_property() {
    let rows = sections()["Promises"].lines().filter(|line| line.starts_with("| `"));
    let rows: BTreeMap<&str, Vec<&str>> =
        rows.map(|row| (quoted(row)[0], row.trim_matches('|').split(" | ").map(str::trim).collect())).collect();
    assert_eq!(rows.len(), Property::ALL.len());
    for property in Property::ALL {
        let [_, level, sentence] = rows[property.name()][..] else { panic!("{property}: three cells") };
        assert_eq!(level, property.level().to_string(), "{property}");
        let sentence = sentence.split(';').next().unwrap_or_default();
        assert_eq!(sentence, property.about(), "{property}");
    }
}

/// Scenario files name a mutation without its service.
#[test]
fn each_mutation_has_a_name_of_its_own() {
    let mut names = BTreeSet::new();
    for mutation in CATALOGUE.mutations() {
        assert!(names.insert(mutation.name()), "two mutations are called `{}`", mutation.name());
    }
}

#[test]
fn rows_paragraphs_and_defaults_are_read() {
    let text = "| field | default | meaning |\n|---|---|---|\n| `a`, `b` | none, `x-y` | `x-y`, or `z` |\n| `[service.t]` | fields: `c` |\n\n`[service.u]`: `d`.\n";
    let read = entries(text);
    assert_eq!(read.keys().collect::<Vec<_>>(), ["a", "b", "t", "u"]);
    assert_eq!(read["b"].0.as_deref(), Some("x-y"));
    assert_eq!(names_in(&read["u"].1), BTreeSet::from(["service", "u", "d"]));
    assert_eq!(written("2"), toml::Value::Integer(2));
    assert_eq!(written("x-y"), toml::Value::String("x-y".to_owned()));
    let lease = CATALOGUE.service("lease").expect("it is there");
    assert!(is_default(lease, "retry_every", &written("1")) && !is_default(lease, "retry_every", &written("2")));
}
