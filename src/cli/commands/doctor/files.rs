//! The scenario files of an answer: both sides of each boundary, so that `fencepost check` finds it again.

use std::path::Path;

use fencepost::model::scenario::Expect;
use fencepost_doctor::{Answer, Change, Coarse, Direction, Doctor, InTicks, Promise, Question, Verdict};

use crate::exit::CommandError;
use crate::output::write as write_file;
use crate::target::quoted;

/// Writes them, and says which.
pub fn write(
    doctor: &mut Doctor,
    question: &Question,
    answer: &Answer,
    folder: &Path,
) -> Result<Vec<String>, CommandError> {
    let mut written = Vec::new();
    let mut add = |name: &str, verdict: &Verdict, what: &str| -> Result<(), CommandError> {
        let (sized, expect) = match verdict {
            Verdict::Kept(proof) => (proof.sized, Expect::Proven),
            Verdict::Broken(execution) => (execution.sized, Expect::Violated),
            Verdict::Unknown { .. } => return Ok(()),
        };
        let path = folder.join(format!("{name}.toml"));
        write_file(&path, &text(name, answer.promise, sized, expect, what))?;
        written.push(path.display().to_string());
        if let Verdict::Broken(execution) = verdict
            && answer.promise != Promise::KeepsLock
        {
            let path = folder.join(format!("{name}.jsonl"));
            write_file(&path, &execution.trace.to_text())?;
            written.push(path.display().to_string());
        }
        Ok(())
    };
    let promise = answer.promise;
    add(&format!("{promise}-as-asked"), &answer.verdict, "the settings as they were asked about")?;
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
            add(&format!("{promise}-{name}-{way}-{side}"), &verdict, &format!("{name} = {value}"))?;
        }
    }
    for repair in &answer.repairs {
        let verdict = doctor.judge(&repair.question, promise)?;
        let names: Vec<&str> = repair.changes.iter().map(named).collect();
        let name = names.join("-and-");
        add(&format!("{promise}-repaired-by-{name}"), &verdict, &repair.to_string())?;
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
    }
}

/// A scenario file.
fn text(name: &str, promise: Promise, sized: InTicks, expect: Expect, what: &str) -> String {
    let about = format!("{what}, as {}.", sized.scenario);
    let mut scenario = sized.scenario.for_file(expect, about);
    name.clone_into(&mut scenario.name);
    let mut story = format!(
        "# Written by `fencepost doctor`: {what}.\n# A tick is {}.\n# Check it: fencepost check {}\n",
        sized.tick,
        quoted(&format!("{name}.toml"))
    );
    if matches!(sized.scenario, Coarse::Keeping(_)) {
        story += "# A client that lives keeps its lock if and only if none of its writes is accepted after the end of its tenure: that is\n# `sequencer-sound`, for one client that never releases by itself.\n";
        if promise != Promise::KeepsLock {
            story += &format!("# No lock is taken away from a holder, so `{promise}` is kept as well.\n");
        }
    }
    format!("{story}\n{}", scenario.to_toml())
}
