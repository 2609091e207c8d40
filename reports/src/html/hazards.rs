//! The index of hazards: number, title, story and sources, the scenarios about it, and the verdicts of this report.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_model::finding::{Finding, Verdict};
use maud::{Markup, html};

use super::documents::{marked, verdict_line};
use super::{Texts, class, story};
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
pub(super) fn section(findings: &[Finding], texts: &Texts) -> Option<Markup> {
    let mut hazards: BTreeMap<Number<'_>, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        let also = texts.get(&finding.scenario).map(|text| text.also.as_slice()).unwrap_or_default();
        let numbers: BTreeSet<&str> = finding.hazard.iter().chain(also).map(String::as_str).collect();
        for number in numbers {
            hazards.entry(Number::of(number)).or_default().push(finding);
        }
    }
    if hazards.is_empty() {
        return None;
    }
    let is_found = |found: &&Vec<&Finding>| found.iter().any(|finding| finding.verdict.story().is_some());
    Some(html! {
        section #hazards {
            h2 { "Hazards " a.up href="#top" { "↑" } }
            p {
                "Published bugs: " (hazards.values().filter(is_found).count()) " of " (hazards.len())
                " were found here, each by a shortest execution that shows it. " i { "Avoided" }
                " lists the scenarios in which a promise that the hazard breaks is proven."
            }
            table.stack {
                thead { tr { th { "Hazard" } th { "Sources" } th { "Found" } th { "Avoided" } th { "All scenarios" } } }
                tbody { @for (Number { text: number, .. }, found) in hazards { (row(number, found, texts)) } }
            }
        }
    })
}

fn row(number: &str, mut found: Vec<&Finding>, texts: &Texts) -> Markup {
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
    html! {
        tr id={ "hazard-" (number) } {
            td {
                b { (number) } " "
                @if let Some(text) = text {
                    @if let Some(other) = other { "as " (other) ": " }
                    (marked(&text.title))
                }
                @if let Some(text) = text.filter(|text| !text.story.is_empty()) {
                    details.assumptions { summary { "Story" } (story::paragraphs(&text.story)) }
                } @else { " " }
                code { "fencepost check " (number) }
            }
            td data-label="Sources" { @if let Some(text) = text { (story::sources(&text.sources)) } @else { "–" } }
            td data-label="Found" { (list(found.iter().filter(is_broken).copied())) }
            td data-label="Avoided" { (list(found.iter().copied().filter(is_avoided))) }
            td data-label="All scenarios" { (scenarios) }
        }
    }
}

/// Each scenario with its variant and its verdicts, to be unfolded.
fn scenarios(found: &[&Finding]) -> Markup {
    let rows = || found.chunk_by(|left, right| left.scenario == right.scenario);
    let verdict = |finding: &&Finding| {
        html! { b class=(class(finding)) title=(finding.verdict.word()) { (mark(&finding.verdict)) } " " (finding.property.name()) }
    };
    html! {
        details {
            summary { (rows().count()) }
            @for row in rows() {
                @let name = &row[0].scenario;
                @let verdicts: Vec<Markup> = row.iter().map(verdict).collect();
                a href={ "#" (name) } { (name) } " " small { (row[0].variant) } br;
                (story::separated(&verdicts, &html! { ", " })) br;
            }
        }
    }
}

/// The first verdict, and how many more there are, to be unfolded.
fn list<'a>(findings: impl Iterator<Item = &'a Finding>) -> Markup {
    let lines: Vec<Markup> = findings.map(verdict_line).collect();
    html! {
        @match lines.split_first() {
            None => "–",
            Some((first, more)) => {
                (first)
                @if !more.is_empty() {
                    details { summary { (more.len()) " more" } (story::separated(more, &html! { br; })) }
                }
            }
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
            ..ScenarioText::default()
        };
        let name = finding.scenario.clone();
        let html = section(&[finding], &[(name.clone(), text)].into()).expect("a hazard is shown").into_string();
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
        assert!(section(&[Finding { hazard: None, ..violated() }], &Texts::new()).is_none());
    }
}
