//! One scenario: its description, its verdicts with their assumptions, and the diagrams.

use std::collections::BTreeSet;

use fencepost_model::finding::{Assumption, Certificate, Finding, Story, StoryStep, Verdict};
use maud::{Markup, PreEscaped, html};

use super::overview::colour;
use super::{Texts, class, item, story};
use crate::diagram::diagram;
use crate::fold::fold;
use crate::legend::{beginning, holds, numbers, request};
use crate::matrix::mark;
use crate::uncertainty;

/// The part of the page about a scenario that the reader asked for.
pub(super) fn whole(row: &[Finding], texts: &Texts) -> Markup {
    html! { section.scenario id=(row[0].scenario) { h2 { (heading(row)) } (body(row, texts)) } }
}

/// The part about a scenario of the catalogue: its name and its verdicts, to be unfolded.
pub(super) fn folded(row: &[Finding], texts: &Texts) -> Markup {
    html! {
        details.scenario id=(row[0].scenario) {
            summary {
                h2 { (heading(row)) }
                @for finding in row {
                    " " b class=(colour(finding)) title={ (finding.property.name()) ": " (finding.verdict.word()) } { (mark(&finding.verdict)) }
                }
                span.about { (row[0].about) }
            }
            (body(row, texts))
        }
    }
}

fn heading(row: &[Finding]) -> Markup {
    html! { @if let Some(hazard) = &row[0].hazard { span.hazard { (hazard) } " " } (row[0].scenario) }
}

fn body(row: &[Finding], texts: &Texts) -> Markup {
    let Finding { scenario, about, variant, .. } = &row[0];
    html! {
        p { (about) }
        @if !variant.is_empty() { p.variant { "Variant: " (variant) } }
        table.verdicts.stack {
            thead { tr { th { "Promise" } th { "Level" } th { "Verdict" } th { "States" } th { "Transitions" } th { "Depth" } } }
            tbody { @for finding in row { (verdict(finding, texts)) } }
        }
        @if let Some(text) = texts.get(scenario).filter(|text| !text.story.is_empty()) {
            details.assumptions {
                summary { "Story and sources" }
                (story::paragraphs(&text.story))
                p { "Sources:" br; (story::sources(&text.sources)) }
            }
        }
        (assumptions(row))
        @for finding in row {
            @if let Some(story) = finding.verdict.story() { (counterexample(finding, story)) }
        }
    }
}

fn assumptions(row: &[Finding]) -> Markup {
    let certificates: Vec<&Certificate> = row.iter().filter_map(|finding| finding.verdict.certificate()).collect();
    let mut all: Vec<&Assumption> = Vec::new();
    for assumption in row.iter().flat_map(|finding| &finding.assumptions) {
        if !all.contains(&assumption) {
            all.push(assumption);
        }
    }
    all.sort_by_key(|assumption| assumption.class);
    // The promises that rest on an assumption, where they are not all.
    let scope = |assumption: &Assumption| {
        let rests = row.iter().filter(|finding| finding.assumptions.contains(assumption));
        let rests: Vec<&str> = rests.map(|finding| finding.property.name()).collect();
        (rests.len() < row.len()).then(|| format!(" (for {})", rests.join(", ")))
    };
    let goals: BTreeSet<&str> =
        certificates.iter().flat_map(|certificate| &certificate.goals).map(String::as_str).collect();
    html! {
        details.assumptions {
            summary { "Assumptions" }
            ul {
                @for assumption in all {
                    li { (item(assumption)) @if let Some(scope) = scope(assumption) { (scope) } }
                }
                @if let Some(certificate) = certificates.first() {
                    @for sentence in &certificate.reductions { li { (sentence) } }
                    li { "actions never taken: " (certificate.never_taken.join(", ")) }
                }
                @if !goals.is_empty() { li { "goals reached: " (goals.into_iter().collect::<Vec<_>>().join(", ")) } }
            }
        }
    }
}

fn verdict(finding: &Finding, texts: &Texts) -> Markup {
    let Finding { scenario, property, expect, states, transitions, depth, .. } = finding;
    let name = property.name();
    let is_violated = matches!(finding.verdict, Verdict::Violated(_));
    let seen = texts.get(scenario).and_then(|text| text.seen.get(name)).filter(|_| is_violated);
    html! {
        tr id={ (scenario) "--" (name) } {
            td { abbr title=(property.about()) { (name) } @if let Some(within) = finding.within() { " (within " (within) ")" } }
            td data-label="Level" { (property.level().to_string()) }
            td {
                b class=(class(finding)) { (finding.verdict.word()) }
                @if !finding.is_as_expected() { " " b.bad { "expected: " (expect.to_string()) } }
                " " small { (details(finding)) }
                @if let Some(server) = seen { " " small.seen { "seen on " (server) " (server real, clients driven by fencepost)" } }
            }
            td.number data-label="States" { (states) }
            td.number data-label="Transitions" { (transitions) }
            td.number data-label="Depth" { (depth) }
        }
    }
}

/// What stands behind a verdict.
fn details(finding: &Finding) -> Markup {
    match &finding.verdict {
        Verdict::Proven(certificate) => {
            let uncertainty = uncertainty(finding.states, certificate.fingerprint_bits);
            html! { "state space exhausted; " (uncertainty) (certified(certificate)) }
        }
        Verdict::Violated(story) => match (story.repeats_from, story.steps.len()) {
            (None, steps) if story.is_not_known_shortest => html! { "in " (steps) " steps, not known shortest" },
            (None, steps) => html! { "in " (steps) " steps, a shortest counterexample" },
            (Some(from), steps) if from == steps => html! { "by a deadlock after " (steps) " steps" },
            (Some(from), steps) => html! { "in " (from) " steps and a cycle of " (steps - from) },
        },
        Verdict::Bounded { by } => html! { "no violation found; search stopped by " (by) },
        Verdict::Vacuous { missing } => html! { "vacuous: goals not reached: " (missing.join(", ")) },
    }
}

/// The certificate of a proof, in a fold-out.
fn certified(certificate: &Certificate) -> Markup {
    let lists = [
        ("goals reached", &certificate.goals, ", "),
        ("actions never taken", &certificate.never_taken, ", "),
        ("reductions in force", &certificate.reductions, "; "),
    ];
    html! {
        details.certificate {
            summary { "certificate" }
            ul {
                @for (name, items, separator) in lists {
                    @if !items.is_empty() { li { (name) ": " (items.join(separator)) } }
                }
            }
        }
    }
}

fn counterexample(finding: &Finding, story: &Story) -> Markup {
    html! {
        details.story open {
            summary {
                "How " b { (finding.property.name()) } " breaks: " (breaking(story))
                @if let Some(path) = &finding.trace { " " code { "fencepost replay " (path) } }
            }
            (run(story))
        }
    }
}

/// A run: the picture, the steps beside it, and a key.
pub(super) fn run(story: &Story) -> Markup {
    let short = fold(story);
    html! {
        (drawn(&short))
        @if short.steps.len() < story.steps.len() {
            details.all {
                summary { "All " (story.steps.len()) " steps" }
                pre { @for step in &story.steps { (format!("{:>8}  {}", story.instant(step.at), step.label)) (facts(step)) "\n" } }
            }
        }
    }
}

/// The facts of a step, in its line.
fn facts(step: &StoryStep) -> String {
    step.facts.iter().map(|fact| format!(" → {fact}")).collect()
}

fn drawn(story: &Story) -> Markup {
    let [record, inside] = holds(story.held);
    let is_repeated = |place| story.repeats_from.is_some_and(|from| place >= from);
    html! {
        @if let Some(actions) = beginning(story) {
            p { "Every execution begins with these actions, which are not judged: " (actions) "." }
        }
        div.run {
            (PreEscaped(diagram(story)))
            ol.steps {
                @for (place, step) in story.steps.iter().enumerate() {
                    (list_item(place, &story.instant(step.at), step, request(story, place), is_repeated(place)))
                }
            }
        }
        p.key {
            i.record {} " " (record) " " i.inside {} " " (inside) " " i.down {}
            " down or paused; thin arrows are messages, dashed ones are lost or still in flight at the end"
            @if let Some(sentence) = numbers(story) { "; " (sentence) }
        }
    }
}

/// The sentence of the last violation.
fn breaking(story: &Story) -> String {
    let violations = story.steps.last().map(|step| step.violations.as_slice()).unwrap_or_default();
    violations.iter().map(|violation| violation.message.as_str()).collect::<Vec<_>>().join("; ")
}

fn list_item(place: usize, at: &str, step: &StoryStep, request: Option<&str>, is_repeated: bool) -> Markup {
    let class = match (step.violations.is_empty(), is_repeated) {
        (true, false) => None,
        (true, true) => Some("round"),
        (false, false) => Some("broken"),
        (false, true) => Some("broken round"),
    };
    html! {
        li class=[class] data-step=(place) tabindex="0" {
            span.when { (at) }
            span.words {
                (step.label)
                @if let Some(request) = request { " " em { "↩ answer to: " (request) } }
                @for fact in &step.facts { " " em { "→ " (fact) } }
                @for violation in &step.violations { " " strong { "✗ " (violation.message) } }
            }
            (held(step))
        }
    }
}

/// The bars of the diagram in words, for screens that are too narrow to have the diagram beside the steps.
fn held(step: &StoryStep) -> Markup {
    let numbers = |clients: &[u16]| clients.iter().map(u16::to_string).collect::<Vec<_>>().join(" ");
    html! {
        @if !step.owners.is_empty() || !step.inside.is_empty() {
            span.held {
                @if !step.owners.is_empty() { i.record {} " record: " (numbers(&step.owners)) " " }
                @if !step.inside.is_empty() { i.inside {} " inside: " (numbers(&step.inside)) }
            }
        }
    }
}
