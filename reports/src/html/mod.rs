//! One self-contained page: no network, dark and light, usable with a keyboard, printable.

mod choice;
mod documents;
mod hazards;
mod overview;
mod section;
mod story;
mod studies;
mod study;

use std::collections::{BTreeMap, BTreeSet};

use fencepost_model::finding::{Assumption, AssumptionClass, Finding, Story};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::choice::Choice;
use crate::documents::Document;
use crate::matrix::rows;
pub use story::ScenarioText;
pub use studies::{Measurements, Ready};
pub use study::study_page;

/// What scenario files say of themselves, by the scenarios' names.
pub type Texts = BTreeMap<String, ScenarioText>;

/// What is known beside the findings.
#[derive(Clone, Debug, Default)]
pub struct Background {
    /// The names of the scenarios that the reader asked for, one by one. The page opens with them, whole; the others are the
    /// catalogue, and are folded.
    pub own: BTreeSet<String>,
    /// What scenario files say of themselves, by the scenarios' names.
    pub texts: Texts,
    /// What to choose by; none: the page does not compare services.
    pub choice: Option<Choice>,
    /// What published documents say, and which promises show that it is wrong.
    pub documents: Vec<Document>,
    /// Studies of what settings cost.
    pub studies: Vec<Ready>,
    /// Pages of the services that belong to the report.
    pub pages: Vec<ServicePage>,
}

/// A page that a service has beside its scenarios.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServicePage {
    /// Its name in links.
    pub anchor: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What stands below the heading, as HTML.
    pub html: String,
}

fn service_page(page: &ServicePage) -> Markup {
    html! {
        section id=(page.anchor) {
            h2 { (page.title) " " a.up href="#top" { "↑" } }
            (PreEscaped(&page.html))
        }
    }
}

pub(crate) const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The page about some findings.
pub fn page(findings: &[Finding], title: &str, background: &Background) -> String {
    let Background { own, texts, choice, documents, studies, pages } = background;
    let (own, catalogue): (Vec<_>, Vec<_>) = rows(findings).into_iter().partition(|row| own.contains(&row[0].scenario));
    let whole = (!own.is_empty()).then(|| {
        html! { div #scenarios { @for row in &own { (section::whole(row, texts)) } } }
    });
    let folded = (!catalogue.is_empty()).then(|| {
        html! {
            section #catalogue {
                h2 { "All scenarios " a.up href="#top" { "↑" } }
                @for row in &catalogue { (section::folded(row, texts)) }
            }
        }
    });
    let is_several = own.len() > 1;
    let parts = [
        ("verdicts", "Verdicts", is_several.then(|| overview::own(&own))),
        ("scenarios", if is_several { "Scenarios" } else { "Scenario" }, whole),
        ("choice", "What to choose by", choice.as_ref().and_then(|choice| choice::section(choice, findings, texts))),
        (
            "systems",
            "Verdicts by system",
            (!catalogue.is_empty()).then(|| overview::by_system(&catalogue, !is_several)),
        ),
        ("documents", "Errors in documents", documents::section(documents, findings)),
        ("hazards", "Hazards", hazards::section(findings, texts)),
        ("studies", "What liveness costs in safety", studies::section(studies)),
    ];
    let pages = pages.iter().map(|page| (page.anchor, page.title, Some(service_page(page))));
    let parts: Vec<_> = parts.into_iter().chain(pages).chain([("catalogue", "All scenarios", folded)]).collect();
    let header = html! { (summary(findings)) (ways(&parts)) };
    let main = html! { @for part in parts.iter().filter_map(|(_, _, part)| part.as_ref()) { (part) } };
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
                header #top { h1 { (title) } (header) }
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
    let may_be_long = |finding: &Finding| finding.verdict.story().is_some_and(|story| story.is_not_known_shortest);
    let shown = match count(&may_be_long) {
        0 => "with a shortest run that shows it",
        _ => "with a run that shows it, and says if a shorter one may exist",
    };
    html! {
        p {
            @if expected == 1 && findings.len() == 1 {
                strong.good { "The verdict is as expected." }
            } @else if expected == findings.len() {
                strong.good { "All " (expected) " verdicts are as expected." }
            } @else {
                strong.bad { (findings.len() - expected) " of " (findings.len()) " verdicts are not as expected." }
            }
            " Scenarios: " (rows(findings).len())
            "; promises: " (count(&|finding| finding.verdict.word() == "proven")) " proven, "
            (count(&|finding| finding.verdict.word() == "violated")) " violated, "
            (count(&Finding::is_undecided)) " undecided. Each violation comes " (shown) "."
        }
    }
}

/// The ways to the parts of the page, where there are several.
fn ways(parts: &[(&str, &str, Option<Markup>)]) -> Markup {
    let there: Vec<_> = parts.iter().filter(|(_, _, part)| part.is_some()).collect();
    html! {
        @if there.len() > 1 {
            nav { @for (id, title, _) in there { a href={ "#" (id) } { (title) } " " } }
        }
    }
}
