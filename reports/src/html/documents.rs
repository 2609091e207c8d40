//! Errors in documents, by the verdicts of this run.

use fencepost_model::finding::{Finding, Verdict};
use maud::{Markup, html};

use super::class;
use crate::documents::{Document, Flaw, Promise};

/// The part of the page about documents; nothing if the run met none of their flaws.
pub(super) fn section(documents: &[Document], findings: &[Finding]) -> Option<Markup> {
    let tables: Vec<Markup> = documents.iter().filter_map(|document| table(document, findings)).collect();
    (!tables.is_empty()).then(|| {
        html! {
            section #documents {
                h2 { "Errors in documents " a.up href="#top" { "↑" } }
                p {
                    "Each row has a claim of a document, in short; the promise that is violated by a program that follows it, with the number of steps; "
                    "the correction, and whether the correction is proven."
                }
                @for table in &tables { (table) }
            }
        }
    })
}

fn table(document: &Document, findings: &[Finding]) -> Option<Markup> {
    let is_met = |flaw: &&Flaw| flaw.shown.find(findings).is_some();
    let flaws: Vec<&Flaw> = document.flaws.iter().filter(is_met).collect();
    let count = match (flaws.len(), document.flaws.len()) {
        (0, _) => return None,
        (1, 1) => "1 flaw".to_owned(),
        (some, all) if some == all => format!("{all} flaws"),
        (some, all) => format!("{some} of {all} flaws: those that the scenarios of this run show"),
    };
    Some(html! {
        details.document open {
            summary { (document.title) " " small { (count) } }
            table.stack {
                thead { tr { th { "Flaw" } th { "The document says" } th { "What breaks" } th { "Instead" } th { "Proof" } } }
                tbody {
                    @for flaw in flaws {
                        tr {
                            td { (flaw.number) }
                            td data-label="The document says" { (marked(&flaw.says)) }
                            td data-label="What breaks" { (verdict(&flaw.shown, findings)) }
                            td data-label="Instead" { (marked(&flaw.fix)) }
                            td data-label="Proof" { @if let Some(fixed) = &flaw.fixed { (verdict(fixed, findings)) } @else { "–" } }
                        }
                    }
                }
            }
        }
    })
}

/// Text in which code stands between backquotes.
pub(super) fn marked(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// What this run says about a promise, with the way to it.
fn verdict(promise: &Promise, findings: &[Finding]) -> Markup {
    match promise.find(findings) {
        Some(finding) => verdict_line(finding),
        None => html! { code { "fencepost check " (promise.scenario) } " " small { "not part of this run" } },
    }
}

/// A verdict in a line, with the way to it.
pub(super) fn verdict_line(finding: &Finding) -> Markup {
    let Finding { scenario, property, .. } = finding;
    let (word, property) = (finding.verdict.word(), property.name());
    let length = match &finding.verdict {
        Verdict::Violated(story) => match story.repeats_from {
            Some(from) if from < story.steps.len() => format!("{from} steps and a loop"),
            _ => format!("{} steps", story.steps.len()),
        },
        _ => format!("{} states", finding.states),
    };
    html! {
        b class=(class(finding)) { (property) }
        " " (word) ", " (length) " "
        small { a href={ "#" (scenario) "--" (property) } { (scenario) } }
    }
}
