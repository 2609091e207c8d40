//! Scenario files as a JSON Schema, from the types that read them: names, values, defaults and the sentences of the
//! documentation. Editors complete and check files by it, and the reference of scenario files is held against it.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::{Scenario, budget_text, known};
use crate::action_kind::ActionKind;
use crate::goal::Goal;
use crate::properties::Property;
use crate::service::Service;
use crate::service_fault::{Nature, ServiceFault};
use crate::time::{TICKS_MAX, Ticks};

/// What the budgets that every service has are about.
const COMMON: [(&str, &str); 10] = [
    ("losses", "Messages that are lost."),
    ("duplicates", "Messages that are delivered once more."),
    ("crashes", "Crashes of clients."),
    ("restarts", "Restarts of crashed clients."),
    ("pauses", "Pauses of processes, where lateness is bounded."),
    ("cuts", "Links that are cut."),
    ("slips", "Steps by which a clock moves against true time."),
    ("operator", "Actions of an operator, by their cost."),
    ("retries", "Requests that a client gives up and sends anew; for each client."),
    ("resource_restarts", "Restarts of the resource, which forgets then what it compares with."),
];

impl<P: Service> Scenario<P>
where
    P::Settings: JsonSchema,
{
    /// The JSON Schema (draft 7) of the scenario files of a service. References point below `definitions`, a path in the
    /// document, as `/definitions`.
    ///
    /// # Panics
    /// If an optional setting is not none by default: TOML has no null, so that no file could say that it is none.
    ///
    /// ```
    /// # use fencepost::lease::Lease;
    /// # use fencepost::Scenario;
    /// let schema = Scenario::<Lease>::schema("/definitions");
    /// assert_eq!(schema["properties"]["system"]["enum"][0], "lease");
    /// assert_eq!(schema["definitions"]["Settings"]["properties"]["lease"]["default"], 2);
    /// ```
    pub fn schema(definitions: &str) -> Value {
        let settings =
            SchemaSettings::draft07().with(|settings| settings.definitions_path = definitions.to_owned().into());
        let mut schema = settings.into_generator().into_root_schema_for::<Self>().to_value();
        keep_types_of_toml(&mut schema);
        schema["title"] = json!(format!("A scenario of {}", P::SYSTEMS.join(", ")));
        if !P::RECIPES.is_empty() {
            add_recipe::<P>(&mut schema, definitions);
        }
        schema
    }
}

/// `service.recipe` names settings that the table itself need not repeat.
fn add_recipe<P: Service>(schema: &mut Value, definitions: &str) {
    let names: Vec<&str> = P::RECIPES.iter().map(|(name, _)| *name).collect();
    let definitions = schema.pointer_mut(definitions).and_then(Value::as_object_mut).expect("settings are defined");
    for (_, definition) in definitions.iter_mut().filter(|(name, _)| *name != "Promise") {
        definition.as_object_mut().expect("a definition is an object").remove("required");
    }
    let about = "A client as it is in the field: settings that stand for what this table does not say.";
    definitions["Settings"]["properties"]["recipe"] = json!({ "description": about, "type": "string", "enum": names });
}

/// Removes what TOML has no form for, such as null, and the keywords that concern programs instead of files.
fn keep_types_of_toml(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    let is_null = |value: &Value| *value == json!("null") || *value == json!({ "type": "null" });
    let may_be_null = ["type", "anyOf"].iter().filter_map(|name| object.get(*name)?.as_array()).flatten().any(is_null);
    let default = object.get("default").filter(|default| !default.is_null());
    assert!(!may_be_null || default.is_none(), "an optional setting is {default:?} by default: no file could say none");
    for keyword in ["format", "writeOnly"] {
        object.remove(keyword);
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| !is_null(name));
        if let [only] = &types[..] {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
        choices.retain(|choice| !is_null(choice));
        if choices.len() == 1 {
            let only = object.remove("anyOf").expect("it is there");
            object.insert("allOf".to_owned(), only);
        }
    }
    for (keyword, value) in object.iter_mut() {
        match (keyword.as_str(), value) {
            ("default" | "enum" | "const", _) => {}
            ("properties" | "definitions", Value::Object(named)) => named.values_mut().for_each(keep_types_of_toml),
            (_, Value::Array(list)) => list.iter_mut().for_each(keep_types_of_toml),
            (_, value) => keep_types_of_toml(value),
        }
    }
}

impl JsonSchema for Ticks {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Ticks")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "integer", "minimum": 0, "maximum": TICKS_MAX },
            { "type": "string", "pattern": "^([0-9]+(\\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+$" },
        ] })
    }
}

/// Differences of clocks, which may be negative.
pub(super) fn differences(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "integer", "minimum": -TICKS_MAX, "maximum": TICKS_MAX } })
}

pub(super) fn system<P: Service>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": P::SYSTEMS })
}

pub(super) fn property(_: &mut SchemaGenerator) -> Schema {
    let one = |property: &Property| json!({ "const": property.name(), "description": property.about() });
    json_schema!({ "type": "string", "oneOf": Property::ALL.iter().map(one).collect::<Vec<_>>() })
}

pub(super) fn fair_kinds(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "string", "enum": ActionKind::FAIR.map(ActionKind::name) } })
}

pub(super) fn goals<P: Service>(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> = Goal::KERNEL.iter().chain(P::GOALS).map(|goal| goal.name()).collect();
    json_schema!({ "type": "array", "items": { "type": "string", "enum": names } })
}

pub(super) fn mutation<P: Service>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": known::<P>().map(|mutation| mutation.name()).collect::<Vec<_>>() })
}

pub(super) fn rounds(_: &mut SchemaGenerator) -> Schema {
    let number = json!({ "type": "integer", "minimum": 1, "maximum": 254 });
    json_schema!({ "anyOf": [number, { "const": "unlimited", "description": "Without end." }] })
}

pub(super) fn budget<P: Service>(_: &mut SchemaGenerator) -> Schema {
    let kinds = <P::Fault as ServiceFault>::KINDS;
    let count =
        |about: &str| json!({ "description": about, "type": "integer", "minimum": 0, "maximum": 254, "default": 0 });
    let mut properties = Map::new();
    for (name, _) in budget_text::COMMON {
        let (_, about) = COMMON.iter().find(|(other, _)| *other == name).expect("each of them is described");
        let mut schema = count(about);
        schema["maximum"] = json!(u8::MAX);
        properties.insert(name.to_owned(), schema);
    }
    for kind in kinds {
        let about = format!("Of each execution: {}.", kind.one);
        let mut schema = count(&about);
        if kind.nature == Nature::Recurrent {
            let any_number = json!({ "const": "unlimited", "description": "Any number of times." });
            schema = json!({ "description": about, "default": 0, "anyOf": [count(&about), any_number] });
        }
        properties.insert(kind.budget.to_owned(), schema);
    }
    if kinds.len() > 1 {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.budget).collect();
        let shared = json!({
            "description": "Faults of several kinds, counted together.",
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["of", "at_most"],
                "properties": {
                    "of": {
                        "description": "The budgets of the faults that are counted together.",
                        "type": "array",
                        "minItems": 2,
                        "items": { "type": "string", "enum": names },
                    },
                    "at_most": count("How many of them may occur."),
                },
            },
        });
        properties.insert("shared".to_owned(), shared);
    }
    json_schema!({ "type": "object", "additionalProperties": false, "properties": properties })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "no file could say none")]
    fn an_optional_setting_is_none_by_default() {
        keep_types_of_toml(&mut json!({ "type": ["integer", "null"], "default": null }));
        keep_types_of_toml(&mut json!({ "type": ["integer", "null"], "default": 2 }));
    }
}
