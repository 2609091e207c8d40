//! One self-contained page: no network, dark and light, usable with a keyboard, printable.

mod documents;
mod hazards;
mod section;
mod story;
mod studies;
mod study;

use std::collections::BTreeMap;
use std::fmt::Write;

use fencepost_model::finding::{Assumption, AssumptionClass, Finding, Story};

use crate::documents::Document;
use crate::escape::escape;
use crate::matrix::{columns, mark, rows};
pub use story::ScenarioText;
pub use studies::{Ready, Taken};
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
    let documents = documents::section(documents, findings);
    let hazards = hazards::section(findings, texts);
    let studies = studies::section(studies);
    let parts = [
        ("documents", "Errors in documents", &documents),
        ("hazards", "Hazards", &hazards),
        ("studies", "What liveness costs in safety", &studies),
    ];
    let header = format!("{}{}", summary(findings), ways(&parts));
    let scenarios: String = rows(findings).into_iter().map(|row| section::section(row, texts)).collect();
    let main = format!("{}{documents}{hazards}{studies}<div id=\"scenarios\">\n{scenarios}</div>\n", matrix(findings));
    document(title, &header, &main)
}

/// The page about one execution: the diagram, the steps beside it, and the assumptions.
pub fn run_page(story: &Story, title: &str, assumptions: &[Assumption]) -> String {
    let mut first = BTreeMap::new();
    for violation in story.steps.iter().flat_map(|step| &step.violations) {
        first.entry(violation.property).or_insert(violation);
    }
    let broken: String = first
        .values()
        .map(|violation| {
            format!("<p><strong class=\"bad\">✗ {}: {}</strong></p>\n", violation.property, escape(&violation.message))
        })
        .collect();
    let rests = list(assumptions);
    let main = format!(
        "<section class=\"scenario\">\n{}<details class=\"assumptions\"><summary>Assumptions</summary>\n<ul>\n{rests}</ul></details>\n</section>\n",
        section::run(story)
    );
    document(title, &broken, &main)
}

/// Assumptions as items of a list: what the model leaves out comes last, and says so.
pub(crate) fn list(assumptions: &[Assumption]) -> String {
    assumptions.iter().map(|assumption| format!("<li>{}</li>\n", item(assumption))).collect()
}

pub(crate) fn item(assumption: &Assumption) -> String {
    let sentence = escape(&assumption.sentence);
    match assumption.class {
        AssumptionClass::Mutation => format!("<strong class=\"bad\">{sentence}</strong>"),
        AssumptionClass::Limit => format!("<em>limit of the model:</em> {sentence}"),
        _ => sentence,
    }
}

/// A whole page; header and main part are HTML already.
pub(crate) fn document(title: &str, header: &str, main: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n{header}</header>\n\
         <main>\n{main}</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        title = escape(title),
    )
}

fn summary(findings: &[Finding]) -> String {
    let count = |is_counted: &dyn Fn(&Finding) -> bool| findings.iter().filter(|finding| is_counted(finding)).count();
    let expected = count(&Finding::is_as_expected);
    let verdict = if expected == findings.len() {
        format!("<strong class=\"good\">All {expected} verdicts are as expected.</strong>")
    } else {
        format!(
            "<strong class=\"bad\">{} of {} verdicts are not as expected.</strong>",
            findings.len() - expected,
            findings.len()
        )
    };
    format!(
        "<p>{verdict} Scenarios: {}; promises: {} proven, {} violated, {} undecided. Each violation comes with a shortest run that shows it.</p>\n",
        rows(findings).len(),
        count(&|finding| finding.verdict.word() == "proven"),
        count(&|finding| finding.verdict.word() == "violated"),
        count(&Finding::is_undecided),
    )
}

/// The ways to the parts of the page.
fn ways(parts: &[(&str, &str, &String)]) -> String {
    let there: Vec<_> = parts.iter().filter(|(_, _, html)| !html.is_empty()).collect();
    if there.is_empty() {
        return String::new();
    }
    let links: String = there.iter().map(|(id, title, _)| format!("<a href=\"#{id}\">{title}</a> ")).collect();
    format!("<nav><a href=\"#matrix\">Verdicts</a> {links}<a href=\"#scenarios\">Scenarios</a></nav>\n")
}

fn matrix(findings: &[Finding]) -> String {
    let columns = columns(findings);
    let mut html = String::from(
        "<section aria-label=\"verdicts\">\n<p class=\"tools\"><label>Filter <input id=\"filter\" type=\"search\" placeholder=\"b-01, fencing, violated …\"></label>\
         <span class=\"legend\"><b class=\"proven\">✓</b> proven <b class=\"violated\">✗</b> violated, as expected <b class=\"undecided\">…</b> bounded \
         <b class=\"undecided\">∅</b> vacuous <b class=\"unexpected\">!</b> not expected</span></p>\n<table id=\"matrix\">\n<thead><tr><th>Scenario</th><th>Hazard</th><th>About</th>",
    );
    for property in &columns {
        let _ =
            write!(html, "<th class=\"property\"><abbr title=\"{}\">{property}</abbr></th>", escape(property.about()));
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in rows(findings) {
        let first = &row[0];
        let words: Vec<&str> = row.iter().map(|finding| finding.verdict.word()).collect();
        let hazard = first.hazard.as_deref().unwrap_or("–");
        let search = format!("{} {} {} {} {}", first.scenario, hazard, first.variant, first.about, words.join(" "))
            .to_lowercase();
        let _ = write!(
            html,
            "<tr data-search=\"{}\"><td><a href=\"#{name}\">{name}</a><small>{}</small></td><td>{hazard}</td><td class=\"about\">{}</td>",
            escape(&search),
            escape(&first.variant),
            escape(&first.about),
            name = first.scenario,
        );
        for property in &columns {
            html += &match row.iter().find(|finding| finding.property == *property) {
                Some(finding) => cell(finding),
                None => "<td class=\"none\"></td>".to_owned(),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table>\n</section>\n"
}

fn cell(finding: &Finding) -> String {
    let word = finding.verdict.word();
    let (class, surprise) = match (finding.is_as_expected(), finding.is_undecided()) {
        (true, _) => (word, ""),
        (false, true) => ("undecided", "!"),
        (false, false) => ("unexpected", "!"),
    };
    format!(
        "<td class=\"{class}\"><a href=\"#{}--{}\" title=\"{word}\">{}{surprise}</a></td>",
        finding.scenario,
        finding.property,
        mark(&finding.verdict)
    )
}
