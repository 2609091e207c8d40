//! The fields of scenario files as their JSON Schema describes them: name, kind of value, default, meaning. `fencepost new` makes
//! comments of them, and `fencepost docs` the reference.

use serde_json::Value;

/// A field of a table.
#[derive(Clone, Debug, Default)]
pub struct Field {
    /// The name within its table.
    pub name: String,
    /// What it means, in a sentence.
    pub about: String,
    /// Which values it takes, in words: `a duration`, `a whole number from 0 to 255`.
    pub kind: String,
    /// The default as TOML; none: left out, the setting is off.
    pub default: Option<String>,
    /// The words that are values, each with its meaning.
    pub values: Vec<(String, String)>,
    /// The fields of the table, or of the tables in the array, that are the value.
    pub fields: Vec<Field>,
}

/// The depth to which tables within tables are followed: a schema may contain itself.
const DEPTH: usize = 6;

/// Bounds beyond this are the ends of the type, and are not worth a word.
const WIDE: i64 = 1_000_000_000_000;

/// The fields of a table, in the order of the schema. `root`: the document with the definitions.
pub fn fields(root: &Value, table: &Value) -> Vec<Field> {
    below(root, table, DEPTH)
}

/// The field of a table with this path, as `semaphore.limits`.
pub fn find<'a>(fields: &'a [Field], path: &str) -> Option<&'a Field> {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let field = fields.iter().find(|field| field.name == name)?;
    rest.map_or(Some(field), |rest| find(&field.fields, rest))
}

/// The schema that a reference leads to.
pub fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let inner = schema.get("$ref").and_then(Value::as_str).and_then(|path| root.pointer(&path[1..]));
    match (inner, schema.get("allOf").and_then(|all| all.get(0))) {
        (Some(target), _) | (None, Some(target)) => resolved(root, target),
        (None, None) => schema,
    }
}

fn below(root: &Value, table: &Value, depth: usize) -> Vec<Field> {
    let table = resolved(root, table);
    let properties = table.get("properties").and_then(Value::as_object);
    let mut fields: Vec<Field> =
        properties.into_iter().flatten().map(|(name, schema)| field(root, name, schema, depth)).collect();
    // A variant with a value is a table of one field, and says itself what it means.
    if let [only] = &mut fields[..]
        && only.about.is_empty()
    {
        only.about = text(table, "description").unwrap_or_default();
    }
    fields
}

fn field(root: &Value, name: &str, schema: &Value, depth: usize) -> Field {
    let inner = resolved(root, schema);
    let mut field = Field {
        name: name.to_owned(),
        about: text(schema, "description").or(text(inner, "description")).unwrap_or_default(),
        kind: kind(root, inner),
        default: schema.get("default").or(inner.get("default")).filter(|value| !value.is_object()).map(toml_of),
        ..Field::default()
    };
    collect(root, inner, &mut field, depth);
    field
}

/// The sentence of a schema, on one line.
fn text(schema: &Value, keyword: &str) -> Option<String> {
    schema.get(keyword).and_then(Value::as_str).map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The alternatives of a schema.
fn choices(schema: &Value) -> impl Iterator<Item = &Value> {
    let of = |keyword| schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
    of("oneOf").chain(of("anyOf"))
}

/// Adds the words and the tables that are values.
fn collect(root: &Value, schema: &Value, field: &mut Field, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let schema = resolved(root, schema);
    if let Some(word) = schema.get("const").and_then(Value::as_str) {
        field.values.push((word.to_owned(), text(schema, "description").unwrap_or_default()));
    }
    let words = schema.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    field.values.extend(words.map(|word| (word.to_owned(), String::new())));
    for inner in below(root, schema, depth) {
        if !field.fields.iter().any(|known| known.name == inner.name) {
            field.fields.push(inner);
        }
    }
    choices(schema).for_each(|choice| collect(root, choice, field, depth));
    if let Some(items) = schema.get("items") {
        collect(root, items, field, depth);
    }
}

/// Which values a schema takes, in words.
fn kind(root: &Value, schema: &Value) -> String {
    let schema = resolved(root, schema);
    let whole = |schema: &&Value| schema.get("type").and_then(Value::as_str) == Some("integer");
    let is_duration =
        |schema: &&Value| schema.get("pattern").and_then(Value::as_str).is_some_and(|text| text.contains("ns|us"));
    if schema.get("const").is_some() || schema.get("enum").is_some() {
        return "a word".to_owned();
    }
    let alternatives: Vec<&Value> = choices(schema).collect();
    if alternatives.iter().any(is_duration) && alternatives.iter().any(whole) {
        return "a duration".to_owned();
    }
    if !alternatives.is_empty() {
        let mut kinds: Vec<String> = alternatives.iter().map(|choice| kind(root, choice)).collect();
        kinds.dedup();
        return kinds.join(" or ");
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("integer") => number(schema),
        Some("boolean") => "true or false".to_owned(),
        Some("string") => "a text".to_owned(),
        Some("number") => "a number".to_owned(),
        Some("array") => schema.get("items").map_or_else(
            || "an array".to_owned(),
            |items| format!("an array: {}", kind(root, items).trim_start_matches("an ").trim_start_matches("a ")),
        ),
        Some("object") => "a table".to_owned(),
        _ => "any value".to_owned(),
    }
}

fn number(schema: &Value) -> String {
    let bound = |keyword| schema.get(keyword).and_then(Value::as_i64).filter(|bound| bound.abs() < WIDE);
    match (bound("minimum"), bound("maximum")) {
        (Some(low), Some(high)) => format!("a whole number from {low} to {high}"),
        (Some(low), None) => format!("a whole number from {low}"),
        _ => "a whole number".to_owned(),
    }
}

/// A value as a scenario file has it.
fn toml_of(value: &Value) -> String {
    toml::Value::try_from(value).map_or_else(|_| value.to_string(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use fencepost::catalogue::CATALOGUE;

    use super::*;

    fn settings(system: &str) -> Vec<Field> {
        let root = CATALOGUE.service(system).expect("a system").schema("/definitions");
        fields(&root, &root["properties"]["service"])
    }

    #[test]
    fn a_field_has_its_kind_default_values_and_meaning() {
        let consul = settings("consul-lock");
        let field = |path| find(&consul, path).unwrap_or_else(|| panic!("{path}"));
        assert_eq!((field("ttl").kind.as_str(), &field("ttl").default), ("a duration", &None));
        assert_eq!(field("ttl_multiplier").default.as_deref(), Some("2"));
        assert_eq!(field("ttl_multiplier").kind, "a whole number from 0 to 255");
        assert_eq!(field("belief").default.as_deref(), Some("\"until-told\""));
        let words: Vec<&str> = field("belief").values.iter().map(|(word, _)| word.as_str()).collect();
        assert!(words.contains(&"self-limiting") && field("belief").values.iter().all(|(_, about)| !about.is_empty()));
        assert_eq!(field("semaphore.limits").kind, "an array: whole number from 0 to 255");
        assert!(field("operator").values.iter().any(|(word, _)| word == "destroy-session"));
        assert!(find(&consul, "semaphore.nothing").is_none() && find(&consul, "nothing").is_none());
    }

    #[test]
    fn every_field_of_every_service_has_a_meaning() {
        fn check(fields: &[Field], path: &str) {
            for field in fields {
                // An administrator's operation is a table with one field, whose name says it.
                let is_told = !field.about.is_empty() || path.ends_with(".administration.does");
                assert!(is_told && !field.kind.is_empty(), "{path}.{}: {field:?}", field.name);
                check(&field.fields, &format!("{path}.{}", field.name));
            }
        }
        for service in CATALOGUE.services() {
            let root = service.schema("/definitions");
            check(&fields(&root, &root), service.systems()[0]);
        }
    }
}
