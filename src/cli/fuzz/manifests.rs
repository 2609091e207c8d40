//! Manifests for `doctor client-go --from`, in YAML and in JSON, and components' configurations.

use super::fuzz;
use crate::commands::doctor::manifest::read;

const LIST: &str = r#"{"kind": "List", "items": [{"kind": "StatefulSet", "metadata": {"name": "s"}, "spec": {"template": {"spec": {
    "initContainers": [{"name": "first", "restartPolicy": "Always", "args": ["--leader-election"]}],
    "containers": [{"name": "a", "image": "kube-scheduler:v1.33.2", "command": ["sh", "-c", "exec kube-scheduler --leader-elect --leader-elect-lease-duration=$(LEASE)"],
    "env": [{"name": "LEASE", "value": "20s"}]}]}}}}]}"#;

const YAML: &str = "kind: Deployment\nmetadata: &m {name: d}\nspec:\n  replicas: 2\n  template:\n    metadata: *m\n    spec:\n      containers:\n        - name: manager\n          <<: {image: \"operator:v1\"}\n          args:\n            - --leader-elect\n            - '--leader-elect-lease-duration'\n            - 1m30s\n            - >-\n              --leader-elect-renew-deadline=40s\n---\nkind: KubeSchedulerConfiguration\nleaderElection:\n  leaderElect: true\n  retryPeriod: 3s\n";

#[test]
fn mutated_manifests_are_read_or_refused() {
    let files = [YAML, LIST].map(|text| text.as_bytes().to_vec());
    let places: Vec<String> = (1..10).map(|digit| format!("fuzzed.yaml:{digit}")).collect();
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    fuzz("manifests", 1, &files, &places, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        read("fuzzed.yaml", &text, None, None).map(|_| ()).map_err(|error| error.to_string())
    });
}

/// What `kubectl get -o json` writes is read like YAML, with the same places.
#[test]
fn values_of_json_and_of_yaml_have_their_places() {
    let list = read("list", LIST, None, None).unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<Option<&str>> = list.elections.iter().map(|found| found.container.as_deref()).collect();
    assert_eq!(names, [Some("a"), Some("first")]);
    let scheduler = &list.elections[0].understood;
    assert_eq!(
        (scheduler.question.lease.to_string(), scheduler.question.recipe),
        ("20s".to_owned(), "client-go-v0-33")
    );
    let yaml = read("yaml", YAML, None, None).unwrap_or_else(|error| panic!("{error}"));
    let question = |at: usize| yaml.elections[at].understood.question.clone();
    assert_eq!([question(0).lease, question(0).renew_deadline].map(|one| one.to_string()), ["90s", "40s"]);
    assert_eq!((question(1).retry_period.to_string(), question(1).release), ("3s".to_owned(), true));
    let lines: Vec<_> =
        yaml.elections[0].understood.fields.iter().filter_map(|field| field.place.map(|place| place.line)).collect();
    assert_eq!(lines, [12, 13, 16]);
}

/// What an alias stands for counts for the depth: this file nests 200,000 lists, a line each, and no program drops those without a deep stack.
#[test]
fn aliases_of_aliases_are_refused_when_they_are_too_deep() {
    let mut text = "- &a0 [x]\n".to_owned();
    (1..200_000).for_each(|line| text += &format!("- &a{line} [*a{}]\n", line - 1));
    let error = read("chain", &text, None, None).expect_err("it is too deep").to_string();
    assert_eq!(error, "chain:64:9: lists and maps lie within each other at most 64 deep");
    let merges: String = (1..200_000).map(|line| format!("- &a{line} {{<<: *a{}, k{line}: x}}\n", line - 1)).collect();
    let error = read("merges", &format!("- &a0 {{x: x}}\n{merges}"), None, None).expect_err("too deep").to_string();
    assert!(error.ends_with("at most 64 deep"), "{error}");
    let members: String = (0..1_000).map(|name| format!("k{name}: x, ")).collect();
    let wide = format!("- &a {{{members}}}\n{}", "- <<: *a\n".repeat(1_000));
    let error = read("wide", &wide, None, None).expect_err("it is too wide").to_string();
    assert_eq!(error, "wide:102:3: merges add more than 100000 members: write them out");
}
