//! What can be promised and what a verdict says: properties, verdicts, goals, faults, operator actions.

use std::collections::BTreeMap;

use fencepost::catalogue::CATALOGUE;
use fencepost::model::finding::{Certificate, Verdict};
use fencepost::{Goal, Property};

use super::{Reference, cell, code, reference};
use crate::fields::{fields, find};

/// What the goals mean. A test asks for each goal of the kernel and of the services.
const GOALS: [(&str, &str); 30] = [
    ("every-client-enters", "each client enters in some execution"),
    ("contended", "a client is refused because another client has the lock"),
    ("lock-delayed", "a client is refused because of the lock-delay"),
    ("expired", "a session's TTL runs out"),
    ("invalidated", "a session ends while it has the lock, for whatever reason"),
    ("deleted", "a client or an operator deletes the lock's entry"),
    ("written", "the resource accepts a write"),
    ("write-refused", "the resource refuses a write"),
    ("discovered", "a third party discovers the leader"),
    ("check-failed", "a failing check, or the removal of what it belongs to, ends a session"),
    ("full", "a client is refused a slot because all slots are taken"),
    ("slot-freed", "a client releases its slot"),
    ("verified", "a client asks whether it still has its slot, and the service confirms it"),
    ("administered", "an administrator finishes an operation"),
    ("lap-cut", "a lap of a program reached the limit of inputs: executions beyond it were not searched"),
    ("handled", "a client handles an item of the work queue"),
    ("elected", "the service is without a leader for a while, and has one again"),
    ("renewed-in-vain", "a client receives a successful renewal although the end of its session is already decided"),
    ("renewed-by-deposed", "a deposed leader acknowledges a renewal"),
    ("resumed", "a client stops acting in jeopardy and resumes later"),
    ("limit-conflict", "a client refuses to take part because others have agreed on another limit"),
    ("connection-lost", "a connection has ended"),
    ("taken-over", "a contender replaces the record of another contender whose lease has ended"),
    ("conflict", "a write is refused because the record has changed since it was read"),
    ("read-stale", "a read shows an earlier record"),
    ("promoted", "a new leader is promoted, and every lease starts anew"),
    ("revoke-forwarded", "the proposal of a deposed leader to revoke a lease is committed"),
    ("renewed-by-stalled", "a leader whose loop is stuck renews a lease from its own memory"),
    ("compacted", "the wait of a client fails because its watch began before a compaction"),
    ("session-ended", "a client drops its session, or learns that its lease is gone"),
];

/// The page of promises.
pub fn page() -> Reference {
    let text = format!(
        "# Promises and verdicts\n\n## Verdicts\n\n{}## Properties\n\n{}## Goals\n\n{}## Faults\n\n{}## Operator actions\n\n{}",
        verdicts(),
        properties(),
        goals(),
        faults(),
        actions()
    );
    reference("promises", "Promises and verdicts", text)
}

/// The meaning of a verdict, and the exit code where it was not expected.
fn about(verdict: &Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Proven(_) => (
            "the state space of the scenario is exhausted, no execution violates the promise, and every goal was reached",
            "0, or 1 if a violation was expected",
        ),
        Verdict::Violated(_) => (
            "an execution violates the promise; a shortest one is shown, after it was replayed step by step",
            "0 if it was expected, else 1",
        ),
        Verdict::Bounded { .. } => {
            ("no violation was found, but the search stopped early; the verdict names the limit", "3")
        }
        Verdict::Vacuous { .. } => {
            ("the state space is exhausted, but a goal was not reached; the verdict names the goals", "3")
        }
    }
}

fn verdicts() -> String {
    let certificate =
        Certificate { goals: Vec::new(), never_taken: Vec::new(), reductions: Vec::new(), fingerprint_bits: Some(63) };
    let all = [
        Verdict::Proven(certificate),
        Verdict::Violated(Box::default()),
        Verdict::Bounded { by: String::new() },
        Verdict::Vacuous { missing: Vec::new() },
    ];
    let mut text = "| verdict | meaning | exit code |\n|---|---|---|\n".to_owned();
    for verdict in &all {
        let (meaning, exit) = about(verdict);
        text += &format!("| {} | {meaning} | {exit} |\n", code(verdict.word()));
    }
    text + "\nA verdict holds for its scenario: its clients, rounds, bounds and budgets. Each is printed with its assumptions. \
        [What a verdict means](index.html#what-a-verdict-means) says more.\n\n"
}

fn properties() -> String {
    let mut text = "A property is judged at one of four levels: what the service has on record, what clients believe, what the resource accepts, and \
        what eventually happens.\n\n| property | short | level | meaning |\n|---|---|---|---|\n"
        .to_owned();
    for property in Property::ALL {
        let short = property.hazards_name();
        text += &format!(
            "| {} | {} | {} | {} |\n",
            code(property.name()),
            cell(short),
            property.level(),
            cell(property.about())
        );
    }
    text + "\n"
}

fn goals() -> String {
    let mut text = "Some execution must reach each goal of a scenario, or else a proof is vacuous.\n\n| goal | of | reached when |\n|---|---|---|\n".to_owned();
    for (goal, owner) in all_goals() {
        let about = GOALS.iter().find(|(name, _)| *name == goal).map(|(_, about)| *about).unwrap_or_default();
        text += &format!("| {} | {owner} | {about} |\n", code(goal));
    }
    text + "\n"
}

/// Every goal, with the service that has it.
fn all_goals() -> impl Iterator<Item = (&'static str, &'static str)> {
    let kernel = Goal::KERNEL.iter().map(|goal| (goal.name(), "every system"));
    kernel.chain(
        CATALOGUE.services().flat_map(|service| service.goals().iter().map(|goal| (goal.name(), service.systems()[0]))),
    )
}

fn faults() -> String {
    let mut faults: BTreeMap<String, (String, Vec<&str>)> = BTreeMap::new();
    for service in CATALOGUE.services() {
        let root = service.schema("/definitions");
        for fault in fields(&root, &root["properties"]["budget"]) {
            let about = fault.about.trim_start_matches("Of each execution: ").to_owned();
            faults.entry(fault.name).or_insert((about, Vec::new())).1.push(service.systems()[0]);
        }
    }
    let count = CATALOGUE.services().count();
    let mut text = "Each is a budget of `[budget]`, counted in each execution. A fault without a budget cannot happen.\n\n| budget | meaning | of |\n|---|---|---|\n".to_owned();
    for (name, (about, services)) in &faults {
        let owner = if services.len() == count { "every system".to_owned() } else { services.join(", ") };
        text += &format!("| {} | {} | {owner} |\n", code(name), cell(about));
    }
    text + "\n"
}

fn actions() -> String {
    let mut text = "An operator takes one of the actions in `service.operator`, within `budget.operator`.\n\n| system | action | meaning |\n|---|---|---|\n".to_owned();
    for service in CATALOGUE.services() {
        let root = service.schema("/definitions");
        let settings = fields(&root, &root["properties"]["service"]);
        let words = find(&settings, "operator").map(|field| field.values.as_slice()).unwrap_or_default();
        for (word, about) in words {
            text += &format!("| {} | {} | {} |\n", service.systems()[0], code(word), cell(about));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_goal_has_a_meaning_and_every_meaning_a_goal() {
        let known: BTreeSet<&str> = all_goals().map(|(goal, _)| goal).collect();
        let told: BTreeSet<&str> = GOALS.iter().map(|(goal, _)| *goal).collect();
        assert_eq!(told, known);
    }
}
