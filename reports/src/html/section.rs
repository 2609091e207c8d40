//! One scenario: its description, its verdicts with their assumptions, and the diagrams.

use std::collections::BTreeSet;
use std::fmt::Write;

use fencepost_model::finding::{Assumption, Certificate, Finding, Story, StoryStep, Verdict};

use super::{Texts, item, story};
use crate::collision;
use crate::diagram::diagram;
use crate::escape::escape;
use crate::fold::fold;

/// The part of the page about one scenario.
pub(super) fn section(row: &[Finding], texts: &Texts) -> String {
    let first = &row[0];
    let hazard =
        first.hazard.as_deref().map(|hazard| format!("<span class=\"hazard\">{hazard}</span> ")).unwrap_or_default();
    let mut html = format!(
        "<section class=\"scenario\" id=\"{name}\">\n<h2>{hazard}{name} <a class=\"up\" href=\"#matrix\">↑</a></h2>\n<p>{}</p>\n",
        escape(&first.about),
        name = first.scenario,
    );
    if !first.variant.is_empty() {
        let _ = writeln!(html, "<p class=\"variant\">Variant: {}</p>", escape(&first.variant));
    }
    if let Some(text) = texts.get(&first.scenario).filter(|text| !text.story.is_empty()) {
        let _ = writeln!(
            html,
            "<details class=\"assumptions\"><summary>Story and sources</summary>\n{}<p>Sources:<br>{}</p></details>",
            story::paragraphs(&text.story),
            story::sources(&text.sources)
        );
    }
    html += &assumptions(row);
    html += "<table class=\"verdicts\">\n<thead><tr><th>Promise</th><th>Level</th><th>Verdict</th><th>States</th><th>Transitions</th><th>Depth</th></tr></thead>\n<tbody>\n";
    for finding in row {
        html += &verdict(finding);
    }
    html += "</tbody>\n</table>\n";
    for finding in row {
        if let Some(story) = finding.verdict.story() {
            html += &counterexample(finding, story);
        }
    }
    html + "</section>\n"
}

fn assumptions(row: &[Finding]) -> String {
    let mut html = String::from("<details class=\"assumptions\"><summary>Assumptions</summary>\n<ul>\n");
    let certificates: Vec<&Certificate> = row.iter().filter_map(|finding| finding.verdict.certificate()).collect();
    let mut all: Vec<&Assumption> = Vec::new();
    for assumption in row.iter().flat_map(|finding| &finding.assumptions) {
        if !all.contains(&assumption) {
            all.push(assumption);
        }
    }
    all.sort_by_key(|assumption| assumption.class);
    for assumption in all {
        let rests: Vec<&str> = row
            .iter()
            .filter(|finding| finding.assumptions.contains(assumption))
            .map(|finding| finding.property.name())
            .collect();
        let scope = if rests.len() == row.len() { String::new() } else { format!(" (for {})", rests.join(", ")) };
        let _ = writeln!(html, "<li>{}{scope}</li>", item(assumption));
    }
    let mut say = |sentence: &str| {
        let _ = writeln!(html, "<li>{}</li>", escape(sentence));
    };
    if let Some(certificate) = certificates.first() {
        certificate.reductions.iter().for_each(|sentence| say(sentence));
        say(&format!("actions never taken: {}", certificate.never_taken.join(", ")));
    }
    let goals: BTreeSet<&str> =
        certificates.iter().flat_map(|certificate| &certificate.goals).map(String::as_str).collect();
    if !goals.is_empty() {
        say(&format!("goals reached: {}", goals.into_iter().collect::<Vec<_>>().join(", ")));
    }
    html + "</ul></details>\n"
}

fn verdict(finding: &Finding) -> String {
    let Finding { property, bound, verdict, expect, states, transitions, depth, .. } = finding;
    let bound = bound.map(|bound| format!(" ({bound} ticks)")).unwrap_or_default();
    let details = match verdict {
        Verdict::Proven(certificate) => {
            format!(
                "state space exhausted; probability of a fingerprint collision below {:.1e}{}",
                collision(*states, certificate.fingerprint_bits),
                certified(certificate)
            )
        }
        Verdict::Violated(story) => match (story.repeats_from, story.steps.len()) {
            (None, steps) => format!("in {steps} steps, a shortest counterexample"),
            (Some(from), steps) if from == steps => format!("by a deadlock after {steps} steps"),
            (Some(from), steps) => format!("in {from} steps and a cycle of {}", steps - from),
        },
        Verdict::Bounded { by } => format!("no violation found; search stopped by {}", escape(by)),
        Verdict::Vacuous { missing } => format!("vacuous: goals not reached: {}", escape(&missing.join(", "))),
    };
    let surprise =
        if finding.is_as_expected() { String::new() } else { format!(" <b class=\"bad\">expected: {expect}</b>") };
    let word = verdict.word();
    let class = if finding.is_undecided() { "undecided" } else { word };
    format!(
        "<tr id=\"{}--{property}\"><td><abbr title=\"{}\">{property}</abbr>{bound}</td><td>{}</td><td><b class=\"{class}\">{word}</b>{surprise} <small>{details}</small></td>\
         <td class=\"number\">{states}</td><td class=\"number\">{transitions}</td><td class=\"number\">{depth}</td></tr>\n",
        finding.scenario,
        escape(property.about()),
        property.level(),
    )
}

/// The certificate of a proof, in a fold-out.
fn certified(certificate: &Certificate) -> String {
    let list = |name: &str, items: &[String], separator: &str| match items {
        [] => String::new(),
        items => format!("<li>{name}: {}</li>", escape(&items.join(separator))),
    };
    format!(
        "<details class=\"certificate\"><summary>certificate</summary><ul>{}{}{}</ul></details>",
        list("goals reached", &certificate.goals, ", "),
        list("actions never taken", &certificate.never_taken, ", "),
        list("reductions in force", &certificate.reductions, "; "),
    )
}

fn counterexample(finding: &Finding, story: &Story) -> String {
    let replay = finding
        .trace
        .as_deref()
        .map(|path| format!(" <code>fencepost replay {}</code>", escape(path)))
        .unwrap_or_default();
    format!(
        "<details class=\"story\" open>\n<summary>How <b>{}</b> breaks: {}{replay}</summary>\n{}</details>\n",
        finding.property,
        escape(&breaking(story)),
        run(story),
    )
}

/// A run: the picture, the steps beside it, and a key.
pub(crate) fn run(story: &Story) -> String {
    let short = fold(story);
    let mut html = drawn(&short);
    if short.steps.len() < story.steps.len() {
        let count = story.steps.len();
        let line = |step: &StoryStep| {
            let facts: String = step.facts.iter().map(|fact| format!(" → {fact}")).collect();
            escape(&format!("{:>8}  {}{facts}\n", step.at, step.label))
        };
        let lines: String = story.steps.iter().map(line).collect();
        let _ =
            writeln!(html, "<details class=\"all\"><summary>All {count} steps</summary><pre>{lines}</pre></details>");
    }
    html
}

fn drawn(story: &Story) -> String {
    let mut html = format!("<div class=\"run\">\n{}\n<ol class=\"steps\">\n", diagram(story));
    for (place, step) in story.steps.iter().enumerate() {
        html += &list_item(place, step, story.repeats_from.is_some_and(|from| place >= from));
    }
    html += "</ol>\n</div>\n<p class=\"key\"><i class=\"record\"></i> has the lock by record <i class=\"inside\"></i> believes to be inside \
             <i class=\"down\"></i> down or paused; thin arrows are messages, dashed ones are still under way at the end</p>\n";
    html
}

/// The sentence of the last violation.
fn breaking(story: &Story) -> String {
    let violations = story.steps.last().map(|step| step.violations.as_slice()).unwrap_or_default();
    violations.iter().map(|violation| violation.message.as_str()).collect::<Vec<_>>().join("; ")
}

fn list_item(place: usize, step: &StoryStep, is_repeated: bool) -> String {
    let class = match (step.violations.is_empty(), is_repeated) {
        (true, false) => "",
        (true, true) => " class=\"round\"",
        (false, false) => " class=\"broken\"",
        (false, true) => " class=\"broken round\"",
    };
    let facts: String = step.facts.iter().map(|fact| format!(" <em>→ {}</em>", escape(fact))).collect();
    let violations: String =
        step.violations.iter().map(|violation| format!(" <strong>✗ {}</strong>", escape(&violation.message))).collect();
    let label = escape(&step.label);
    format!("<li{class} data-step=\"{place}\" tabindex=\"0\"><span>{label}</span>{facts}{violations}</li>\n")
}
