//! Certificates that the checker writes are accepted; and none that has been changed so that it shows nothing.

mod accepted;
mod by_hand;
mod endless;
mod program;
mod refused;
mod witnesses;
mod work_queue;

use fencepost::checker::Options;
use fencepost::model::finding::Finding;
use fencepost::{AnyScenario, catalogue};
use fencepost_audit::{AuditOptions, Audited, audit};
use serde_json::{Value, json};

/// Three clients that may change places, and no promise about endless executions.
const SYMMETRIC: &str = "late-unlock-spares-the-next-row";

fn scenario(name: &str) -> Box<dyn AnyScenario> {
    catalogue::named(name).expect("it is in the catalogue")
}

fn findings(scenario: &dyn AnyScenario) -> Vec<Finding> {
    let outcomes = scenario.check(&Options::default()).expect("no internal error");
    outcomes.into_iter().map(|outcome| outcome.finding).collect()
}

/// The certificate of a scenario, as text.
fn certificate(name: &str) -> String {
    let scenario = scenario(name);
    let mut out = Vec::new();
    let written = scenario.certify(&findings(&*scenario), &Options::default(), &mut out);
    written.unwrap_or_else(|error| panic!("{name}: {error}"));
    String::from_utf8(out).expect("text")
}

/// An audit on some threads.
fn on(workers: usize) -> AuditOptions<'static> {
    AuditOptions { wanted: None, workers, from: 0, tell: &|_| () }
}

/// An audit of a certificate that has to be about this scenario.
fn about(wanted: &str) -> AuditOptions<'_> {
    AuditOptions { wanted: Some(wanted), workers: 2, from: 0, tell: &|_| () }
}

fn accepted(text: &str) -> Audited {
    audit(text, &on(1)).expect("it is a certificate")
}

#[track_caller]
fn refused(text: &str, says: &str) {
    match audit(text, &on(2)) {
        Err(error) => assert!(error.to_string().contains(says), "{error}"),
        Ok(audited) => panic!("accepted:\n{audited}"),
    }
}

/// The lines of a certificate, as values.
fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Where the lines of a kind are.
fn of_kind(lines: &[Value], kind: &str) -> Vec<usize> {
    (0..lines.len()).filter(|place| lines[*place].get(kind).is_some()).collect()
}

/// A certificate after a change of its lines, with the end that fits.
fn changed(text_before: &str, change: impl FnOnce(&mut Vec<Value>)) -> String {
    let mut lines = lines(text_before);
    change(&mut lines);
    let members = of_kind(&lines, "member");
    let targets = |place: &usize| lines[*place]["member"][4].as_array().expect("targets").len();
    let transitions: usize = members.iter().map(targets).sum();
    let end = of_kind(&lines, "end")[0];
    lines[end] = json!({ "end": [members.len(), transitions] });
    text(&lines)
}
