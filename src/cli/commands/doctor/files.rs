//! The scenario files of an answer: both sides of each boundary, so that `fencepost check` finds it again.

use std::path::Path;

use fencepost::model::scenario::{Expect, text_in_units};
use fencepost_doctor::{Answer, Asked, Change, Direction, Doctor, InTicks, Promise, SmallScenario, Verdict};

use crate::exit::CommandError;
use crate::output::write as write_file;
use crate::target::quoted;

/// Writes them, and says which.
pub fn write<Q: Asked>(
    doctor: &mut Doctor<Q>,
    question: &Q,
    answer: &Answer<Q>,
    folder: &Path,
) -> Result<Vec<String>, CommandError> {
    let mut written = Vec::new();
    let mut add =
        |doctor: &mut Doctor<Q>, asked: &Q, name: &str, verdict: &Verdict<Q>, what: &str| -> Result<(), CommandError> {
            let (sized, expect) = match verdict {
                Verdict::Kept(proof) => (Some(proof.sized), Expect::Proven),
                Verdict::Broken(execution) if execution.sized.is_some() => (execution.sized, Expect::Violated),
                Verdict::Broken(_) => (doctor.violated(asked, answer.promise)?, Expect::Violated),
                Verdict::Unknown { .. } => return Ok(()),
            };
            if let Some(text) = sized.and_then(|sized| text(name, answer.promise, sized, expect, what)) {
                let path = folder.join(format!("{name}.toml"));
                write_file(&path, &text)?;
                written.push(path.display().to_string());
            }
            if let Verdict::Broken(execution) = verdict
                && !matches!(answer.promise, Promise::KeepsLock | Promise::KeepsLease)
            {
                let path = folder.join(format!("{name}.jsonl"));
                write_file(&path, &execution.trace.to_text())?;
                written.push(path.display().to_string());
            }
            Ok(())
        };
    let promise = answer.promise;
    add(doctor, question, &format!("{promise}-as-asked"), &answer.verdict, "the settings as they were asked about")?;
    for boundary in &answer.boundaries {
        let way = match boundary.direction {
            Direction::Up => "up",
            Direction::Down => "down",
        };
        let name = boundary.quantity.name();
        for (side, value) in [("kept", Some(boundary.kept)), ("broken", boundary.broken)] {
            let Some(value) = value else { continue };
            let Some(other) = boundary.quantity.with(question, value) else { continue };
            let verdict = doctor.judge(&other, promise)?;
            add(doctor, &other, &format!("{promise}-{name}-{way}-{side}"), &verdict, &format!("{name} = {value}"))?;
        }
    }
    for repair in &answer.repairs {
        let verdict = doctor.judge(&repair.question, promise)?;
        let names: Vec<&str> = repair.changes.iter().map(named).collect();
        let name = names.join("-and-");
        add(doctor, &repair.question, &format!("{promise}-repaired-by-{name}"), &verdict, &repair.to_string())?;
    }
    Ok(written)
}

/// A change, in the name of a file.
fn named(change: &Change) -> &'static str {
    match change {
        Change::Number { quantity, .. } => quantity.name(),
        Change::Belief => "belief",
        Change::Fencing => "fencing",
        Change::NoChecks => "no-checks",
        Change::NoRelease => "no-release",
        Change::BeforeExpiry { .. } => "before-expiry",
    }
}

/// A scenario file; none: no property of files says what the promise says.
fn text<S: SmallScenario>(
    name: &str,
    promise: Promise,
    sized: InTicks<S>,
    expect: Expect,
    what: &str,
) -> Option<String> {
    let about = format!("{what}, as {}.", sized.scenario);
    let (mut scenario, remarks) = sized.scenario.for_file(promise, expect, about)?;
    name.clone_into(&mut scenario.name);
    scenario.tick = Some(sized.tick);
    let story = format!(
        "# Written by `fencepost doctor`: {what}.\n# A tick is {}.\n# Check it: fencepost check {}\n{remarks}",
        sized.tick,
        quoted(&format!("{name}.toml"))
    );
    let text = text_in_units(&scenario.to_toml(), &scenario.duration_paths(), sized.tick);
    Some(format!("{story}\n{text}"))
}
