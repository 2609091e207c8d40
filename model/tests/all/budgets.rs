//! Budgets by their old names: files and traces of earlier versions mean the same under the new ones.

use fencepost::{AnyScenario, catalogue};

fn read(system: &str, service: &str, budget: &str) -> Box<dyn AnyScenario> {
    catalogue::read(&text(system, service, budget), "file").unwrap_or_else(|error| panic!("{error}"))
}

fn text(system: &str, service: &str, budget: &str) -> String {
    format!(
        "name = \"old\"\nsystem = \"{system}\"\nabout = \"Old.\"\nclients = 2\n\n[service]\n{service}\n\n{budget}\n"
    )
}

/// System, settings, the old budget, and the new one.
const RENAMED: [(&str, &str, &str, &str); 9] = [
    ("redlock", "lease = 3\njumps = true", "[budget]\noutages = 1", "[budget]\nclock_jumps = 1"),
    ("redlock", "lease = 3", "[budget]\nserver_restarts = 2", "[budget]\nnode_restarts = 2"),
    (
        "copied-lock",
        "fails = true\nsplits = true",
        "[budget]\noutages = 2",
        "[[budget.shared]]\nof = [\"splits\", \"node_crashes\"]\nat_most = 2",
    ),
    ("consul-lock", "servers.election = 1", "[budget]\noutages = 1", "[budget]\nleader_losses = 1"),
    ("consul-lock", "servers.old_leader = \"lingers\"", "[budget]\noutages = 1", "[budget]\ndepositions = 1"),
    ("consul-lock", "", "[budget]\nendless_outages = true", "[budget]\nleader_losses = \"unlimited\""),
    ("rabbitmq-semaphore", "", "[budget]\nfalse_alarms = 1", "[budget]\nlost_connections = 1"),
    ("rabbitmq-semaphore", "", "[budget]\nserver_restarts = 1", "[budget]\nbroker_restarts = 1"),
    ("rabbitmq-semaphore", "alarms = true", "[budget]\noutages = 1", "[budget]\ndisk_alarms = 1"),
];

/// Scenarios that are equal have equal states, transitions and verdicts.
#[test]
fn an_old_budget_is_read_as_the_new_one_with_a_warning() {
    for (system, service, old, new) in RENAMED {
        assert_eq!(*read(system, service, old), *read(system, service, new), "{system}: {old}");
        let warnings = catalogue::outdated(&text(system, service, old), "file");
        let [warning] = &warnings[..] else { panic!("{system}: {old}: {warnings:?}") };
        assert!(warning.to_string().starts_with("file:"), "{warning}");
        assert!(warning.message.contains("`"), "{warning}");
        assert_eq!(catalogue::outdated(&text(system, service, new), "file"), [], "{system}: {new}");
    }
}

#[test]
fn new_budgets_survive_toml() {
    for (system, service, _, new) in RENAMED {
        let scenario = read(system, service, new);
        assert_eq!(catalogue::read(&scenario.to_toml(), "again").as_ref(), Ok(&scenario), "{}", scenario.to_toml());
    }
}

/// A trace of format 1: its words and its digest are those of an earlier version, its budget has an old name.
#[test]
fn a_trace_of_an_earlier_version_is_read_and_its_words_are_not_compared() {
    let old = include_str!("traces/b44-clock-jump.jsonl");
    let [warning] = &catalogue::outdated_in_trace(old)[..] else { panic!("one name is old") };
    assert!(warning.contains("scenario.budget.outages") && warning.contains("`clock_jumps`"), "{warning}");
    let trace = catalogue::read_trace(old).expect("it is read");
    let replayed = trace.replay().expect("it can be repeated");
    assert!(replayed.story.steps.iter().any(|step| step.label.contains("jumps ahead")));
    let damaged = old.replacen("\"step\":2", "\"step\":3", 1);
    assert!(catalogue::read_trace(&damaged).expect("it is read").replay().is_err(), "what counts is still compared");
}
