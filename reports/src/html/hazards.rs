//! The index of hazards: number, title, story and sources, the scenarios about it, and the verdicts of this report.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use fencepost_model::finding::{Finding, Verdict};

use super::documents::{marked, verdict_line};
use super::{Texts, story};
use crate::escape::escape;
use crate::matrix::mark;

/// A number that hazards are ordered by: `B-9` comes before `B-10`.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Number<'a> {
    letter: &'a str,
    number: u32,
    text: &'a str,
}

impl<'a> Number<'a> {
    fn of(text: &'a str) -> Self {
        let (letter, number) = text.split_once('-').unwrap_or((text, ""));
        Number { letter, number: number.parse().unwrap_or(u32::MAX), text }
    }
}

/// The part of the page about hazards; nothing if no finding is about one.
pub(super) fn section(findings: &[Finding], texts: &Texts) -> String {
    let mut hazards: BTreeMap<Number<'_>, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        let also = texts.get(&finding.scenario).map(|text| text.also.as_slice()).unwrap_or_default();
        let numbers: BTreeSet<&str> = finding.hazard.iter().chain(also).map(String::as_str).collect();
        for number in numbers {
            hazards.entry(Number::of(number)).or_default().push(finding);
        }
    }
    if hazards.is_empty() {
        return String::new();
    }
    let is_found = |found: &&Vec<&Finding>| found.iter().any(|finding| finding.verdict.story().is_some());
    let mut html = format!(
        "<section id=\"hazards\">\n<h2>Hazards <a class=\"up\" href=\"#matrix\">↑</a></h2>\n\
         <p>Published bugs: {} of {} were found here, each by a shortest execution that shows it. <i>Avoided</i> lists the scenarios in \
         which a promise that the hazard breaks is proven.</p>\n<table>\n<thead><tr><th>Hazard</th><th>Sources</th><th>Found</th>\
         <th>Avoided</th><th>All scenarios</th></tr></thead>\n<tbody>\n",
        hazards.values().filter(is_found).count(),
        hazards.len()
    );
    for (Number { text: number, .. }, found) in hazards {
        html += &row(number, found, texts);
    }
    html + "</tbody>\n</table>\n</section>\n"
}

fn row(number: &str, mut found: Vec<&Finding>, texts: &Texts) -> String {
    let scenarios = scenarios(&found);
    found.sort_by_key(|finding| finding.verdict.story().map_or(usize::MAX, |story| story.steps.len()));
    let is_broken = |finding: &&&Finding| matches!(finding.verdict, Verdict::Violated(_));
    // A proof counts where it is of a promise that the hazard breaks elsewhere.
    let is_at_stake =
        |finding: &Finding| found.iter().filter(is_broken).any(|other| other.property == finding.property);
    let is_avoided = |finding: &&Finding| matches!(finding.verdict, Verdict::Proven(_)) && is_at_stake(finding);
    // The scenario that tells the hazard: one of its own rather than one that shows it as well, and one that it breaks.
    let is_own = |finding: &&&Finding| finding.hazard.as_deref() == Some(number);
    let teller = found.iter().find(is_own).or(found.first());
    let text = teller.and_then(|finding| texts.get(&finding.scenario));
    let other = teller.filter(|teller| !is_own(teller)).and_then(|teller| teller.hazard.as_deref());
    let other = other.map(|other| format!("as {other}: ")).unwrap_or_default();
    let title = text.map(|text| format!("{other}{}", marked(&text.title))).unwrap_or_default();
    let told_story = text.filter(|text| !text.story.is_empty()).map(|text| {
        format!("<details class=\"assumptions\"><summary>Story</summary>{}</details>", story::paragraphs(&text.story))
    });
    format!(
        "<tr id=\"hazard-{number}\"><td><b>{number}</b> {title}{}<code>fencepost check {number}</code></td><td>{}</td><td>{}</td><td>{}</td>\
         <td>{scenarios}</td></tr>\n",
        told_story.unwrap_or_else(|| " ".to_owned()),
        text.map_or("–".to_owned(), |text| story::sources(&text.sources)),
        list(found.iter().filter(is_broken).copied()),
        list(found.iter().copied().filter(is_avoided)),
    )
}

/// Each scenario with its variant and its verdicts, to be unfolded.
fn scenarios(found: &[&Finding]) -> String {
    let rows = || found.chunk_by(|left, right| left.scenario == right.scenario);
    let mut html = format!("<details><summary>{}</summary>", rows().count());
    for row in rows() {
        let name = &row[0].scenario;
        let verdicts: Vec<String> = row
            .iter()
            .map(|finding| {
                let (word, property) = (finding.verdict.word(), finding.property);
                let class = if finding.is_undecided() { "undecided" } else { word };
                format!("<b class=\"{class}\" title=\"{word}\">{}</b> {property}", mark(&finding.verdict))
            })
            .collect();
        let _ = write!(
            html,
            "<a href=\"#{name}\">{name}</a> <small>{}</small><br>{}<br>",
            escape(&row[0].variant),
            verdicts.join(", ")
        );
    }
    html + "</details>"
}

/// The first verdict, and how many more there are, to be unfolded.
fn list<'a>(findings: impl Iterator<Item = &'a Finding>) -> String {
    let lines: Vec<String> = findings.map(verdict_line).collect();
    match &lines[..] {
        [] => "–".to_owned(),
        [only] => only.clone(),
        [first, more @ ..] => {
            format!("{first}<details><summary>{} more</summary>{}</details>", more.len(), more.join("<br>"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::tests::findings;
    use crate::html::ScenarioText;

    #[test]
    fn hazards_are_ordered_by_letter_and_number() {
        let mut numbers = ["F-10", "B-02", "F-9", "B-44"].map(Number::of);
        numbers.sort();
        assert_eq!(numbers.map(|number| number.text), ["B-02", "B-44", "F-9", "F-10"]);
    }

    #[test]
    fn a_row_has_title_story_sources_scenarios_and_verdicts() {
        let violated = || findings().remove(0);
        let finding = Finding { hazard: Some("B-07".to_owned()), ..violated() };
        let text = ScenarioText {
            title: "Tokens `1`".to_owned(),
            also: vec!["F-9".to_owned()],
            story: "First.\n\nThen <that>.".to_owned(),
            sources: vec!["a paper, section 2.4".to_owned(), "an issue".to_owned()],
        };
        let name = finding.scenario.clone();
        let html = section(&[finding], &[(name.clone(), text)].into());
        for words in [
            "2 of 2 were found here",
            "<b>B-07</b> Tokens <code>1</code>",
            "<b>F-9</b> as B-07: Tokens",
            "<p>First.</p><p>Then &lt;that&gt;.</p>",
            "a paper, section 2.4<br>an issue",
            &format!("<a href=\"#{name}\">{name}</a>"),
        ] {
            assert!(html.contains(words), "{words}: {html}");
        }
        assert_eq!(section(&[Finding { hazard: None, ..violated() }], &Texts::new()), "");
    }
}
