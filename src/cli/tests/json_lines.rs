//! Every line of `--json` against the schema that the program writes, by a validator that is not ours.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Output;

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Value, json};

use crate::program::{fencepost, folder, json as lines_of, stderr};
use crate::shells::commands;

/// The schema of the lines of a command, strict: the published one permits fields of later versions.
fn schema(command: &str) -> Value {
    let output = fencepost(&["schema", &format!("--json-lines={command}"), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{command}: {}", stderr(&output));
    let mut schema: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    forbid_unknown_fields(&mut schema);
    schema
}

fn forbid_unknown_fields(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            keywords.values_mut().for_each(forbid_unknown_fields);
            if keywords.get("type") == Some(&json!("object")) && !keywords.contains_key("additionalProperties") {
                keywords.insert("additionalProperties".to_owned(), false.into());
            }
        }
        Value::Array(list) => list.iter_mut().for_each(forbid_unknown_fields),
        _ => {}
    }
}

/// A schema that lines are held against.
struct Judge {
    schemas: Schemas,
    schema: SchemaIndex,
}

impl Judge {
    /// The part of a document that a JSON pointer names.
    fn of(document: &Value, pointer: &str) -> Self {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("lines.json", document.clone()).expect("a document");
        let schema = compiler.compile(&format!("lines.json#{pointer}"), &mut schemas).expect("a schema");
        Judge { schemas, schema }
    }

    /// What is wrong with a line; empty if it is valid.
    fn mistakes(&self, line: &Value) -> String {
        self.schemas.validate(line, self.schema).err().map(|error| format!("{error:#}")).unwrap_or_default()
    }
}

/// Commands that print no JSON lines.
const WITHOUT_LINES: [&str; 4] = ["completions", "explore", "record", "schema"];

/// The schemas of a command, one for each kind of line.
fn kinds(document: &Value, command: &str) -> Vec<Judge> {
    let count = document["definitions"][command]["anyOf"].as_array().expect("kinds of lines").len();
    (0..count).map(|place| Judge::of(document, &format!("/definitions/{command}/anyOf/{place}"))).collect()
}

/// The lines of each command on something small.
fn printed(folder: &Path) -> BTreeMap<&'static str, Vec<Value>> {
    let file = |name: &str| folder.join(name).display().to_string();
    let mut printed: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    let mut run = |arguments: &[&'static str], rest: &[&str]| {
        let output: Output = fencepost(&[arguments, rest, &["--json", "--quiet", "--out", &file("out")]].concat());
        assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{arguments:?} {rest:?}: {}", stderr(&output));
        let lines = lines_of(&output);
        assert!(!lines.is_empty(), "{arguments:?} {rest:?}");
        printed.entry(arguments[0]).or_default().extend(lines);
    };
    run(&["list"], &["B-06", "lease-just-enough"]);
    run(&["check"], &["lease-one-tick-less", "b01-fencing"]);
    run(&["check", "lease-just-enough", "--max-states", "100"], &[]);
    run(&["check", "lease-late-write-fenced", "--certificate"], &[&file("certificate.jsonl")]);
    run(&["diff", "lease-just-enough", "lease-one-tick-less", "--seeds", "5"], &[]);
    run(&["diff", "lease-just-enough", "b42-ascending", "--seeds", "5", "--max-states", "100"], &[]);
    run(&["simulate", "b01-no-fencing", "--seed", "1"], &[]);
    run(&["hunt", "b17-release-then-stop", "--coverage", "--seeds", "500"], &[]);
    run(&["hunt", "lease-just-enough", "--seeds", "3"], &[]);
    run(&["schedulers", "b17-release-then-stop", "--seeds", "50", "--hits", "1"], &[]);
    run(&["sweep", "lease-just-enough", "--vary", "grace=1,2,x", "--seeds", "4"], &["--store", &file("a.sqlite")]);
    run(&["merge"], &[&file("all.sqlite"), &file("a.sqlite")]);
    run(&["tradeoff", "ttl-and-lock-delay", "--seeds", "2"], &[]);
    run(&["tradeoff", "ttl-and-lock-delay", "--run", "1:1"], &[]);
    run(&["repair", "lease-one-tick-less", "--edits", "1", "--seeds", "2"], &[]);
    run(&["repair", "lease-one-tick-less", "--edits", "1", "--fixed", "service.grace"], &[]);
    run(&["doctor", "consul-lock", "--ttl", "15s", "--property", "keeps-lock"], &[]);
    run(&["doctor", "consul-lock", "--pause", "40s", "--property", "keeps-lock"], &[]);
    run(&["doctor", "scenario", "lease-one-tick-less", "--setting", "service.grace"], &["--write", &file("exact")]);
    run(&["doctor", "scenario", "lease-just-enough", "--max-states", "50"], &[]);
    run(&["detector", "--members", "3", "--loss", "0", "--seeds", "1", "--watch", "10"], &[]);
    let trace = file("out/traces/lease-one-tick-less--mutual-exclusion.jsonl");
    run(&["replay"], &[&trace]);
    run(&["replay", "--realign"], &[&trace]);
    run(&["shrink"], &[&trace]);
    run(&["regress"], &[&trace]);
    run(&["man"], &[]);
    run(&["docs"], &[]);
    run(&["new", "our-lease", "--system", "lease"], &[]);
    run(&["envelope", "lease-just-enough", "--vary", "grace=1,2"], &[]);
    run(&["mutants", "lease-one-tick-less"], &[]);
    let (_server, address) = crate::reenacts::agent(1);
    run(&["reenact", "b17-release-then-stop", "--consul"], &[&address]);
    let log = file("log.jsonl");
    fs::write(&log, paused_holder()).expect("writable");
    run(&["conform", "--clients", "--recorded"], &[&log]);
    printed
}

/// A log in which client a acquires and never renews, and client b acquires when the TTL has run out.
fn paused_holder() -> String {
    let by = |client: &str, at: f64, url: &str, body: &str, answer: &str| {
        json!({
            "client": client, "method": "PUT", "url": url, "body": body, "sent": at, "received": at + 0.1, "status": 200,
            "answer": answer
        })
    };
    let [a, b] = ["aaaaaaaa-0000-0000-0000-000000000001", "bbbbbbbb-0000-0000-0000-000000000002"];
    let session = r#"{"TTL": "10s", "LockDelay": "0s", "NodeChecks": []}"#;
    let create = |client, at, id: &str| by(client, at, "/v1/session/create", session, &format!("{{\"ID\": \"{id}\"}}"));
    let lines = [
        json!({"consul": "1.8.7", "node": "here", "session_ttl_min": "10s"}),
        create("a", 0.0, a),
        create("b", 0.2, b),
        by("a", 1.0, &format!("/v1/kv/lead?acquire={a}"), "a", "true"),
        by("b", 25.0, &format!("/v1/kv/lead?acquire={b}"), "b", "true"),
        by("a", 34.0, "/v1/kv/data", "a", "true"),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn every_json_line_is_valid_and_every_kind_of_line_is_printed() {
    let mut printed = printed(&folder("json-lines"));
    #[cfg(unix)]
    crate::stand_in::json_lines(&mut printed);
    let all: Value = serde_json::from_slice(&fencepost(&["schema", "--json-lines", "--json"]).stdout).expect("JSON");
    let described: BTreeSet<&str> = all["anyOf"]
        .as_array()
        .expect("commands")
        .iter()
        .filter_map(|choice| choice["$ref"].as_str()?.strip_prefix("#/definitions/"))
        .collect();
    for command in commands().iter().map(String::as_str).filter(|command| !WITHOUT_LINES.contains(command)) {
        assert!(described.contains(command), "{command} is in no schema");
    }
    let of_all = Judge::of(&all, "");
    // Only a run with three members prints it; `json::conform` has a test that it is written so.
    let needs_cluster = [json!({"rule": "E-LD-1", "seen": "nothing", "is_so": null})];
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    for command in described {
        let document = schema(command);
        let (strict, kinds) = (Judge::of(&document, ""), kinds(&document, command));
        if cfg!(not(unix)) && ["serve", "torture"].contains(&command) {
            continue;
        }
        let lines = printed.remove(command).unwrap_or_default();
        let mistakes = |line: &Value| {
            let mistakes = strict.mistakes(line) + &of_all.mistakes(line);
            (!mistakes.is_empty()).then(|| format!("{command}: {line}\n{mistakes}"))
        };
        // One wrong line of a command is enough to read.
        wrong.extend(lines.iter().find_map(mistakes));
        let others = lines.iter().chain(needs_cluster.iter().filter(|_| command == "conform"));
        let is_unseen = |kind: &Judge| !others.clone().any(|line| kind.mistakes(line).is_empty());
        let unseen = kinds.iter().enumerate().filter(|(_, kind)| is_unseen(kind));
        missing.extend(unseen.map(|(place, _)| document["definitions"][command]["anyOf"][place].clone()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(missing, Vec::<Value>::new(), "no line of these kinds was printed");
    assert!(printed.is_empty(), "these have no schema: {:?}", printed.keys());
}

#[test]
fn a_line_with_another_field_or_type_or_without_a_field_is_invalid() {
    let [line] = &lines_of(&fencepost(&["check", "b17-stop-then-release", "--json"]))[..] else {
        panic!("one promise")
    };
    let judge = Judge::of(&schema("check"), "");
    assert_eq!(judge.mistakes(line), "");
    for (field, value) in [
        ("states", Value::Null),
        ("property", json!("mutual-inclusion")),
        ("assumptions", json!([{ "kind": "x" }])),
        ("surprise", json!(1)),
    ] {
        let mut wrong = line.clone();
        wrong[field] = value;
        assert_ne!(judge.mistakes(&wrong), "", "{field}");
    }
    let mut without = line.clone();
    without.as_object_mut().expect("an object").remove("verdict");
    assert_ne!(judge.mistakes(&without), "");
}

#[test]
fn the_schema_of_an_unknown_command_is_refused_with_the_known_ones() {
    let output = fencepost(&["schema", "--json-lines=dance"]);
    assert_eq!((output.status.code(), stderr(&output).contains("`check`")), (Some(2), true), "{}", stderr(&output));
    assert_eq!(fencepost(&["schema", "lease", "--json-lines"]).status.code(), Some(2));
}
