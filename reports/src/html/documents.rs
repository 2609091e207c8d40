//! Errors in documents, by the verdicts of this run.

use std::fmt::Write;

use fencepost_model::finding::{Finding, Verdict};

use crate::documents::{Document, Flaw, Promise};
use crate::escape::escape;

/// The part of the page about documents; nothing if the run met none of their flaws.
pub(super) fn section(documents: &[Document], findings: &[Finding]) -> String {
    let tables: String = documents.iter().map(|document| table(document, findings)).collect();
    if tables.is_empty() {
        return tables;
    }
    format!(
        "<section id=\"documents\">\n<h2>Errors in documents <a class=\"up\" href=\"#matrix\">↑</a></h2>\n\
         <p>Each row has a claim of a document, in short; the promise that is violated by a program that follows it, with the number of steps; \
         the correction, and whether the correction is proven.</p>\n{tables}</section>\n"
    )
}

fn table(document: &Document, findings: &[Finding]) -> String {
    let is_met = |flaw: &&Flaw| find(&flaw.shown, findings).is_some();
    let flaws: Vec<&Flaw> = document.flaws.iter().filter(is_met).collect();
    if flaws.is_empty() {
        return String::new();
    }
    let count = match (flaws.len(), document.flaws.len()) {
        (1, 1) => "1 flaw".to_owned(),
        (some, all) if some == all => format!("{all} flaws"),
        (some, all) => format!("{some} of {all} flaws: those that the scenarios of this run show"),
    };
    let mut html = format!(
        "<details class=\"document\" open>\n<summary>{} <small>{count}</small></summary>\n<table>\n<thead><tr><th>Flaw</th>\
         <th>The document says</th><th>What breaks</th><th>Instead</th><th>Proof</th></tr></thead>\n<tbody>\n",
        escape(&document.title),
    );
    for flaw in flaws {
        let proof = flaw.fixed.as_ref().map_or("–".to_owned(), |promise| verdict(promise, findings));
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{proof}</td></tr>",
            escape(&flaw.number),
            marked(&flaw.says),
            verdict(&flaw.shown, findings),
            marked(&flaw.fix),
        );
    }
    html + "</tbody>\n</table>\n</details>\n"
}

/// Text in which code stands between backquotes.
pub(super) fn marked(text: &str) -> String {
    let parts = escape(text);
    let parts = parts.split('`').enumerate();
    parts.map(|(place, part)| if place % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() }).collect()
}

fn find<'a>(promise: &Promise, findings: &'a [Finding]) -> Option<&'a Finding> {
    findings.iter().find(|finding| finding.scenario == promise.scenario && finding.property == promise.property)
}

/// What this run says about a promise, with the way to it.
fn verdict(promise: &Promise, findings: &[Finding]) -> String {
    let Promise { scenario, .. } = promise;
    let Some(finding) = find(promise, findings) else {
        return format!("<code>fencepost check {scenario}</code> <small>not part of this run</small>");
    };
    verdict_line(finding)
}

/// A verdict in a line, with the way to it.
pub(super) fn verdict_line(finding: &Finding) -> String {
    let Finding { scenario, property, .. } = finding;
    let (word, is_undecided) = (finding.verdict.word(), finding.is_undecided());
    let class = if is_undecided { "undecided" } else { word };
    let length = match &finding.verdict {
        Verdict::Violated(story) => match story.repeats_from {
            Some(from) if from < story.steps.len() => format!("{from} steps and a loop"),
            _ => format!("{} steps", story.steps.len()),
        },
        _ => format!("{} states", finding.states),
    };
    format!(
        "<b class=\"{class}\">{property}</b> {word}, {length} <small><a href=\"#{scenario}--{property}\">{scenario}</a></small>"
    )
}
