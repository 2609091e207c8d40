//! One self-contained page: no network, dark and light, usable with a keyboard, printable.

mod documents;
mod hazards;
mod section;
mod story;
mod studies;
mod study;

use std::collections::BTreeMap;

use fencepost_model::finding::{Assumption, AssumptionClass, Finding, Property, Story};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::documents::Document;
use crate::matrix::{columns, mark, rows};
pub use story::ScenarioText;
pub use studies::{Measurements, Ready};
pub use study::study_page;

/// What scenario files say of themselves, by the scenarios' names.
pub type Texts = BTreeMap<String, ScenarioText>;

/// What is known beside the findings.
#[derive(Clone, Debug, Default)]
pub struct Background {
    /// What scenario files say of themselves, by the scenarios' names.
    pub texts: Texts,
    /// What published documents say, and which promises show that it is wrong.
    pub documents: Vec<Document>,
    /// Studies of what settings cost.
    pub studies: Vec<Ready>,
}

pub(crate) const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The page about some findings.
pub fn page(findings: &[Finding], title: &str, background: &Background) -> String {
    let Background { texts, documents, studies } = background;
    let parts = [
        ("documents", "Errors in documents", documents::section(documents, findings)),
        ("hazards", "Hazards", hazards::section(findings, texts)),
        ("studies", "What liveness costs in safety", studies::section(studies)),
    ];
    let header = html! { (summary(findings)) (ways(&parts)) };
    let main = html! {
        (matrix(findings))
        @for part in parts.iter().filter_map(|(_, _, part)| part.as_ref()) { (part) }
        div #scenarios { @for row in rows(findings) { (section::section(row, texts)) } }
    };
    document(title, &header, &main)
}

/// The page about one execution: the diagram, the steps beside it, and the assumptions.
pub fn run_page(story: &Story, title: &str, assumptions: &[Assumption]) -> String {
    let mut first = BTreeMap::new();
    for violation in story.steps.iter().flat_map(|step| &step.violations) {
        first.entry(violation.property).or_insert(violation);
    }
    let broken = html! {
        @for violation in first.values() {
            p { strong.bad { "✗ " (violation.property.name()) ": " (violation.message) } }
        }
    };
    let main = html! {
        section.scenario {
            (section::run(story))
            details.assumptions { summary { "Assumptions" } (list(assumptions)) }
        }
    };
    document(title, &broken, &main)
}

/// Assumptions as a list: what the model leaves out comes last, and says so.
fn list(assumptions: &[Assumption]) -> Markup {
    html! { ul { @for assumption in assumptions { li { (item(assumption)) } } } }
}

fn item(assumption: &Assumption) -> Markup {
    let sentence = &assumption.sentence;
    html! {
        @match assumption.class {
            AssumptionClass::Mutation => strong.bad { (sentence) },
            AssumptionClass::Limit => { em { "limit of the model:" } " " (sentence) },
            _ => (sentence),
        }
    }
}

/// The class of a verdict, which gives it its colour.
fn class(finding: &Finding) -> &'static str {
    if finding.is_undecided() { "undecided" } else { finding.verdict.word() }
}

/// A whole page.
fn document(title: &str, header: &Markup, main: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                header { h1 { (title) } (header) }
                main { (main) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
        "\n"
    };
    page.into_string()
}

fn summary(findings: &[Finding]) -> Markup {
    let count = |is_counted: &dyn Fn(&Finding) -> bool| findings.iter().filter(|finding| is_counted(finding)).count();
    let expected = count(&Finding::is_as_expected);
    html! {
        p {
            @if expected == findings.len() {
                strong.good { "All " (expected) " verdicts are as expected." }
            } @else {
                strong.bad { (findings.len() - expected) " of " (findings.len()) " verdicts are not as expected." }
            }
            " Scenarios: " (rows(findings).len())
            "; promises: " (count(&|finding| finding.verdict.word() == "proven")) " proven, "
            (count(&|finding| finding.verdict.word() == "violated")) " violated, "
            (count(&Finding::is_undecided)) " undecided. Each violation comes with a shortest run that shows it."
        }
    }
}

/// The ways to the parts of the page.
fn ways(parts: &[(&str, &str, Option<Markup>)]) -> Markup {
    let there: Vec<_> = parts.iter().filter(|(_, _, part)| part.is_some()).collect();
    html! {
        @if !there.is_empty() {
            nav {
                a href="#matrix" { "Verdicts" } " "
                @for (id, title, _) in there { a href={ "#" (id) } { (title) } " " }
                a href="#scenarios" { "Scenarios" }
            }
        }
    }
}

fn matrix(findings: &[Finding]) -> Markup {
    let columns = columns(findings);
    html! {
        section aria-label="verdicts" {
            p.tools {
                label { "Filter " input #filter type="search" placeholder="b-01, fencing, violated …"; }
                span.legend {
                    b.proven { "✓" } " proven " b.violated { "✗" } " violated, as expected " b.undecided { "…" } " bounded "
                    b.undecided { "∅" } " vacuous " b.unexpected { "!" } " not expected"
                }
            }
            table #matrix {
                thead {
                    tr {
                        th { "Scenario" } th { "Hazard" } th { "About" }
                        @for property in &columns { th.property { abbr title=(property.about()) { (property.name()) } } }
                    }
                }
                tbody { @for row in rows(findings) { (matrix_row(row, &columns)) } }
            }
        }
    }
}

fn matrix_row(row: &[Finding], columns: &[Property]) -> Markup {
    let Finding { scenario, variant, about, hazard, .. } = &row[0];
    let words: Vec<&str> = row.iter().map(|finding| finding.verdict.word()).collect();
    let hazard = hazard.as_deref().unwrap_or("–");
    let search = format!("{scenario} {hazard} {variant} {about} {}", words.join(" ")).to_lowercase();
    html! {
        tr data-search=(search) {
            td { a href={ "#" (scenario) } { (scenario) } small { (variant) } }
            td { (hazard) }
            td.about { (about) }
            @for property in columns {
                @if let Some(finding) = row.iter().find(|finding| finding.property == *property) { (cell(finding)) }
                @else { td.none {} }
            }
        }
    }
}

fn cell(finding: &Finding) -> Markup {
    let word = finding.verdict.word();
    let (class, surprise) = match (finding.is_as_expected(), finding.is_undecided()) {
        (true, _) => (word, ""),
        (false, true) => ("undecided", "!"),
        (false, false) => ("unexpected", "!"),
    };
    html! {
        td class=(class) {
            a href={ "#" (finding.scenario) "--" (finding.property.name()) } title=(word) { (mark(&finding.verdict)) (surprise) }
        }
    }
}
