//! The JSON Schema of scenario files: it accepts what the reader accepts, and refuses names and values that do not exist.

use fencepost::catalogue::{self, CATALOGUE};
use fencepost::registry::random::Material;
use serde_json::{Value, json};

/// The schema of a system, and the schema that all share.
fn schemas(system: &str) -> [Value; 2] {
    [CATALOGUE.service(system).expect("a system").schema("/definitions"), CATALOGUE.schema()]
}

/// A scenario file as a value.
fn value(text: &str) -> Value {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

#[test]
fn every_scenario_of_the_catalogue_is_valid() {
    let all = CATALOGUE.schema();
    for service in CATALOGUE.services() {
        let own = service.schema("/definitions");
        for (name, text) in service.scenarios() {
            let value = value(text);
            assert_eq!(mistakes(&own, &value), Vec::<String>::new(), "{name}");
            assert_eq!(mistakes(&all, &value), Vec::<String>::new(), "{name}");
        }
    }
}

#[test]
fn random_scenarios_are_valid() {
    let material = Material::of(CATALOGUE);
    let mut state = 1_u64;
    let mut draw = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    for _ in 0..200 {
        let scenario = material.scenario(&mut draw);
        let [own, _] = schemas(scenario.system());
        let text = scenario.to_toml();
        assert_eq!(mistakes(&own, &value(&text)), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn the_schema_refuses_every_name_and_type_that_the_reader_refuses() {
    let head = "name = \"x\"\nabout = \"A mistake.\"\nclients = 2\n";
    for (system, rest, path) in [
        ("lease", "clintes = 2", "/clintes"),
        ("lease", "[service]\ngrce = 1", "/service/grce"),
        ("lease", "[service]\ngrace = -1", "/service/grace"),
        ("lease", "[service]\ngrace = \"1\"", "/service/grace"),
        ("lease", "[budget]\nlosses = 256", "/budget/losses"),
        ("lease", "[budget]\nclock_jumps = 1", "/budget/clock_jumps"),
        ("lease", "goals = [\"elected\"]", "/goals/0"),
        ("lease", "[[promise]]\nproperty = \"mutual-inclusion\"", "/promise/0/property"),
        ("lease", "[[promise]]\nexpect = \"proven\"", "/promise/0"),
        ("lease", "[fairness]\nweak = [\"lose\"]", "/fairness/weak/0"),
        ("lease", "[network]\ncuts = \"keep\"", "/network/cuts"),
        ("consul-lock", "[service]\nbelief = \"endless\"", "/service/belief"),
        ("consul-lock", "[service.monitor]\non_lost = \"keep\"", "/service/monitor/on_lost"),
        ("consul-lock", "[service]\noperator = [\"destroy\"]", "/service/operator/0"),
        ("consul-lock", "[service]\nrecipe = \"java-lock\"", "/service/recipe"),
        ("consul-lock", "[budget]\nleader_losses = \"endless\"", "/budget/leader_losses"),
        ("consul-lock", "[[budget.shared]]\nof = [\"losses\", \"cuts\"]\nat_most = 1", "/budget/shared/0/of/0"),
        (
            "rabbitmq-semaphore",
            "[service.administration]\ndoes = [[{ expand = 1 }]]",
            "/service/administration/does/0/0",
        ),
        ("rabbitmq-semaphore", "[service.queues]\nauto_delete = true", "/service/queues/auto_delete"),
        ("redlock", "[service]\nvalidity = \"from-answers\"", "/service/validity"),
        ("token-pool", "[service]\ngive_back = \"never\"", "/service/give_back"),
    ] {
        let text = format!("system = \"{system}\"\n{head}{rest}\n");
        assert!(catalogue::read(&text, "file").is_err(), "the reader accepts it:\n{text}");
        let [own, all] = schemas(system);
        let found = mistakes(&own, &value(&text));
        assert!(found.iter().any(|mistake| mistake.starts_with(&format!("{path}:"))), "{path}: {found:?}");
        assert_ne!(mistakes(&all, &value(&text)), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn documentation_and_defaults_are_in_the_schema() {
    let [consul, _] = schemas("consul-lock");
    let settings = &consul["definitions"]["Settings"]["properties"];
    assert_eq!(settings["ttl_multiplier"]["default"], json!(2));
    let about = settings["ttl"]["description"].as_str().expect("a sentence");
    assert!(about.contains("TTL"), "{about}");
    assert!(settings["recipe"]["enum"].as_array().expect("names").contains(&json!("go-lock")));
    assert!(!consul.to_string().contains("null"), "TOML has no null");
}

/// Where a value is not as the schema says, and how: `/service/ttl: …`. A keyword that is not known here is a panic, so that
/// nothing is left unchecked.
fn mistakes(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, value, "", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    let Some(keywords) = schema.as_object() else {
        assert_eq!(*schema, json!(true), "{path}");
        return;
    };
    let valid = |schema: &Value| {
        let mut found = Vec::new();
        check(root, schema, value, path, &mut found);
        found.is_empty()
    };
    for (keyword, rule) in keywords {
        let list = || rule.as_array().expect("an array");
        let is_right = match keyword.as_str() {
            "title" | "description" | "default" | "definitions" | "$schema" => true,
            "$ref" => {
                let target = rule.as_str().and_then(|path| root.pointer(&path[1..])).expect("a definition");
                check(root, target, value, path, found);
                true
            }
            "allOf" => {
                list().iter().for_each(|schema| check(root, schema, value, path, found));
                true
            }
            "anyOf" => list().iter().any(valid),
            "oneOf" => list().iter().filter(|schema| valid(schema)).count() == 1,
            "enum" => list().contains(value),
            "const" => value == rule,
            "type" => match rule.as_str().expect("one type") {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "integer" => value.is_i64() || value.is_u64(),
                "boolean" => value.is_boolean(),
                other => panic!("{path}: type `{other}`"),
            },
            "minimum" => value.as_i64().is_none_or(|number| number >= rule.as_i64().expect("a number")),
            "maximum" => value.as_i64().is_none_or(|number| number <= rule.as_i64().expect("a number")),
            "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().expect("a number")),
            "pattern" => value.as_str().is_none_or(|text| matches(rule.as_str().expect("a pattern"), text)),
            "items" => {
                for (place, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, item, &format!("{path}/{place}"), found);
                }
                true
            }
            "required" => value.as_object().is_none_or(|table| {
                list().iter().all(|name| name.as_str().is_some_and(|name| table.contains_key(name)))
            }),
            "properties" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = rule.get(name) {
                        check(root, schema, inner, &format!("{path}/{name}"), found);
                    }
                }
                true
            }
            "additionalProperties" => {
                assert_eq!(*rule, json!(false), "{path}");
                let known = |name: &&String| keywords["properties"].get(name.as_str()).is_some();
                let unknown = value.as_object().into_iter().flat_map(|table| table.keys()).filter(|name| !known(name));
                found.extend(unknown.map(|name| format!("{path}/{name}: there is no such field")));
                true
            }
            other => panic!("{path}: keyword `{other}`"),
        };
        if !is_right {
            found.push(format!("{path}: `{keyword}` {rule}"));
        }
    }
}

/// The patterns that schemas use.
fn matches(pattern: &str, text: &str) -> bool {
    let is_nonempty_of = |is_part: &dyn Fn(char) -> bool| !text.is_empty() && text.chars().all(is_part);
    match pattern {
        "^[a-z0-9-]+$" => is_nonempty_of(&|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
        pattern if pattern.contains("ns|us|") => {
            let is_number = |number: &str| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.');
            let numbers: Vec<&str> = text.split(|c: char| c.is_alphabetic()).filter(|part| !part.is_empty()).collect();
            let is_of_units =
                text.ends_with(|c: char| c.is_alphabetic()) && text.starts_with(|c: char| c.is_ascii_digit());
            is_of_units && numbers.into_iter().all(is_number)
        }
        other => panic!("pattern `{other}`"),
    }
}
