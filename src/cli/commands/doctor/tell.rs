//! How the answer reads: for people, and as a JSON line for each promise.

use std::fmt::Write;

use fencepost::model::action_kind::ActionKind;
use fencepost::model::trace::tell;
use fencepost::model::units::Duration;
use fencepost_doctor::{Answer, Asked, Boundary, Direction, Doctor, Execution, FINEST, Price, Repair, Verdict};

use super::assumed::AssumedBounds;
use super::judging::AskedCase;
use super::story::story;
use crate::json::{DoctorStepJson, PromiseJson, RepairJson, SlackJson};
use crate::output::say;

/// The maximum number of repairs that are shown.
const REPAIRS_MAX: usize = 4;

/// The settings of the question, and the bounds that were not given.
pub fn head<Q: Asked>(question: &Q, assumed: &AssumedBounds) {
    say(&format!("{}\n{}", question.heading(), assumed.warning()));
}

/// What is said of one promise.
pub fn answer<Q: Asked>(case: &AskedCase<Q>, answer: &Answer<Q>, files: &[String]) {
    let AskedCase { question, assumed, .. } = case;
    let mark = match &answer.verdict {
        Verdict::Kept(_) => '✓',
        Verdict::Broken(_) => '✗',
        Verdict::Unknown { .. } => '?',
    };
    let mut text = format!("\n{mark} {}: {}\n", answer.promise, answer.promise.about());
    text += &assumed.beyond(answer);
    match &answer.verdict {
        Verdict::Kept(proof) => {
            let _ = writeln!(
                text,
                "  kept: proven as {}, {} states{}",
                proof.sized.scenario,
                proof.states,
                tick(proof.sized.tick)
            );
            answer.boundaries.iter().for_each(|boundary| text += &room(boundary));
        }
        Verdict::Broken(execution) => {
            let found = match execution.sized {
                Some(sized) => format!("a shortest execution of {}{}", sized.scenario, tick(sized.tick)),
                None => "an execution in exact durations".to_owned(),
            };
            let _ = writeln!(text, "  broken: {found}, in seconds:");
            text += &story(execution);
            if answer.repairs.is_empty() {
                text += "  no repair was found: each setting was changed alone, and two by one factor, which is nine at most\n";
            } else {
                text += "  what repairs it, each proven:\n";
            }
            if !answer.repairs.is_empty() && !answer.repairs.iter().any(Repair::is_setting) {
                text += "    (no setting does: each was changed alone, and two by one factor, which is nine at most)\n";
            }
            // What cannot be written down comes last.
            let (last, first): (Vec<_>, Vec<_>) =
                answer.repairs.iter().partition(|repair| !case.without_field(repair).is_empty());
            for repair in first.into_iter().chain(last).take(REPAIRS_MAX) {
                let missing = case.without_field(repair);
                let missing = match missing[..] {
                    [] => String::new(),
                    _ => format!(" (but the configuration has no field for {})", missing.join(" and ")),
                };
                let _ = writeln!(text, "    {repair}{missing}");
                if repair.is_setting() && Price::of(&repair.question) != Price::of(question) {
                    let _ = writeln!(text, "      then {}", Price::of(&repair.question));
                }
                for lost in &repair.breaks {
                    let _ = writeln!(text, "      but {lost} is not kept any more");
                }
            }
        }
        Verdict::Unknown { why } => {
            let _ = writeln!(text, "  unknown: {why}");
        }
    }
    for file in files {
        let _ = writeln!(text, "  written: {file}");
    }
    say(&text);
}

/// The tick of a scenario that has durations.
fn tick(tick: Duration) -> String {
    if tick == FINEST { String::new() } else { format!(", a tick is {tick}") }
}

fn room(boundary: &Boundary) -> String {
    let Boundary { quantity, direction, asked, kept, broken, tried_to } = boundary;
    let way = match direction {
        Direction::Up => "up to",
        Direction::Down => "down to",
    };
    let name = quantity.name();
    let only = if quantity.is_monotone() { "" } else { " (the two values; not each between them)" };
    match broken {
        Some(broken) => format!("    {name} {asked}: kept {way} {kept}, broken at {broken}{only}\n"),
        None if kept == tried_to => format!("    {name} {asked}: kept {way} {kept}, as far as was tried{only}\n"),
        None => format!("    {name} {asked}: kept {way} {kept}, and unknown beyond{only}\n"),
    }
}

/// What everything rests on, and what it costs.
pub fn tail<Q: Asked>(case: &AskedCase<Q>, doctor: &Doctor<Q>) {
    let question = &case.question;
    let mut text = format!("\nprice: {}\n\nassumed:\n", Price::of(question));
    let mut told = case.assumptions.clone();
    for promise in question.promises().iter().copied() {
        for sentence in question.assumptions(promise) {
            if !told.contains(&sentence) {
                told.push(sentence);
            }
        }
    }
    told.iter().for_each(|sentence| text += &format!("  {sentence}\n"));
    let (scenarios, states) = doctor.effort();
    let _ = writeln!(text, "{scenarios} scenarios explored, {states} states; formulas chose the ticks, and no verdict");
    say(&text);
}

impl PromiseJson {
    pub fn new<Q: Asked>(case: &AskedCase<Q>, answer: &Answer<Q>, files: Vec<String>) -> Self {
        let sized = match &answer.verdict {
            Verdict::Kept(proof) => Some((proof.sized, Some(proof.states))),
            Verdict::Broken(execution) => execution.sized.map(|sized| (sized, None)),
            Verdict::Unknown { .. } => None,
        };
        let execution = match &answer.verdict {
            Verdict::Broken(execution) => Some(steps(execution)),
            _ => None,
        };
        PromiseJson {
            container: case.container.clone(),
            configuration: case.configuration.clone(),
            property: answer.promise.name(),
            verdict: answer.verdict.word(),
            not_given: case.assumed.json(answer),
            slack: answer.boundaries.iter().map(slack).collect(),
            assumptions: case.assumptions.iter().chain(&answer.assumptions).cloned().collect(),
            scenario: sized.map(|(sized, _)| sized.scenario.to_string()),
            tick: sized.map(|(sized, _)| sized.tick).filter(|tick| *tick != FINEST),
            states: sized.and_then(|(_, states)| states),
            why: match &answer.verdict {
                Verdict::Unknown { why } => Some(why.clone()),
                _ => None,
            },
            execution,
            repairs: answer
                .repairs
                .iter()
                .map(|repair| {
                    let price = Price::of(&repair.question);
                    RepairJson {
                        change: repair.to_string(),
                        is_setting: repair.is_setting(),
                        breaks: repair.breaks.iter().map(|promise| promise.name()).collect(),
                        without_field: case.without_field(repair),
                        failover: price.failover,
                        notice: price.notice,
                        stall: price.stall,
                        renewals_an_hour: price.renewals_an_hour,
                    }
                })
                .collect(),
            files,
            understood: case.understood.clone(),
        }
    }
}

fn slack(boundary: &Boundary) -> SlackJson {
    SlackJson {
        quantity: boundary.quantity.name(),
        direction: match boundary.direction {
            Direction::Up => "up",
            Direction::Down => "down",
        },
        asked: boundary.asked.to_string(),
        kept_to: boundary.kept.to_string(),
        broken_from: boundary.broken.map(|broken| broken.to_string()),
        tried_to: boundary.tried_to.to_string(),
        room: boundary.room().to_string(),
    }
}

fn steps<Q: Asked>(execution: &Execution<Q>) -> Vec<DoctorStepJson> {
    let told = tell(&execution.trace);
    let shown = told.steps.into_iter().filter(|step| step.kind != Some(ActionKind::Advance));
    shown
        .map(|step| DoctorStepJson {
            at: Duration::of_microseconds(step.at),
            label: step.label,
            facts: step.facts,
            violations: step.violations.into_iter().map(|violation| violation.message).collect(),
        })
        .collect()
}
