//! A story for the terminal: one line per action, time folded into the margin, the facts below, the violation marked.

use std::fmt::Write;

use fencepost_model::finding::{Story, Told};

/// How wide the lines may be, in characters; what is longer is not cut, it pushes the right column away.
const LABEL_WIDTH: usize = 74;

/// Tells the story, at most `steps_max` steps of it: the last ones, for there it breaks.
pub fn timeline(story: &Story, steps_max: usize) -> String {
    let mut text = String::new();
    let shown: Vec<(usize, &Told)> = story.steps.iter().enumerate().filter(|(_, step)| is_shown(step)).collect();
    let skipped = shown.len().saturating_sub(steps_max);
    if skipped > 0 {
        let _ = writeln!(text, "   …  {skipped} earlier steps");
    }
    let mut repeats_from = story.repeats_from;
    for (place, step) in shown.into_iter().skip(skipped) {
        if repeats_from.is_some_and(|from| place >= from) {
            repeats_from = None;
            let _ = writeln!(text, "   ↻  what follows happens again and again, for ever:");
        }
        line(&mut text, step);
    }
    if story.repeats_from == Some(story.steps.len()) {
        let _ = writeln!(text, "   ∎  nothing can happen any more");
    }
    text
}

/// Time that passes is seen in the margin.
fn is_shown(step: &Told) -> bool {
    step.kind != "advance" || !step.facts.is_empty() || !step.breaches.is_empty()
}

fn line(text: &mut String, step: &Told) {
    let state = format!("record: {:<5} inside: {}", clients(&step.owners), clients(&step.inside));
    let _ = writeln!(text, "{:>4}  {:<LABEL_WIDTH$}  {}", step.at, step.label, state.trim_end());
    for fact in &step.facts {
        let _ = writeln!(text, "      → {fact}");
    }
    for breach in &step.breaches {
        let _ = writeln!(text, "      ✗ {} is violated: {}", breach.property, breach.message);
    }
}

fn clients(list: &[u16]) -> String {
    if list.is_empty() {
        return "-".to_owned();
    }
    list.iter().map(u16::to_string).collect::<Vec<_>>().join(" ")
}
