//! The verdicts at a glance: a table with a row for each scenario. On a phone each row is a card.

use fencepost_model::finding::{Finding, Property};
use maud::{Markup, html};

use super::class;
use crate::matrix::{columns, mark};

/// The verdicts on the scenarios that the reader asked for, with the filter.
pub(super) fn own(rows: &[&[Finding]]) -> Markup {
    html! { section #verdicts aria-label="verdicts" { (tools()) (table(rows)) } }
}

/// The verdicts on the catalogue: a table for each system, folded.
pub(super) fn by_system(rows: &[&[Finding]], has_filter: bool) -> Markup {
    let mut systems: Vec<&str> = Vec::new();
    for row in rows {
        if !systems.contains(&row[0].system.as_str()) {
            systems.push(&row[0].system);
        }
    }
    let of_system = |system: &str| rows.iter().copied().filter(|row| row[0].system == system).collect::<Vec<_>>();
    html! {
        section #systems aria-label="verdicts by system" {
            h2 { "Verdicts by system " a.up href="#top" { "↑" } }
            @if has_filter { (tools()) } @else { p { (legend()) } }
            @for system in systems { (folded(system, &of_system(system))) }
        }
    }
}

fn folded(system: &str, rows: &[&[Finding]]) -> Markup {
    let findings = || rows.iter().copied().flatten();
    let count = |word: &str| findings().filter(|finding| finding.verdict.word() == word).count();
    let undecided = findings().filter(|finding| finding.is_undecided()).count();
    let surprises = findings().filter(|finding| !finding.is_as_expected()).count();
    html! {
        details.system {
            summary {
                b { (system) }
                span.counts {
                    (rows.len()) " scenarios: "
                    span.proven { (count("proven")) " proven" } ", " span.violated { (count("violated")) " violated" }
                    @if undecided > 0 { ", " span.undecided { (undecided) " undecided" } }
                    @if surprises > 0 { ", " span.unexpected { (surprises) " not as expected" } }
                }
            }
            (table(rows))
        }
    }
}

fn tools() -> Markup {
    html! {
        div.tools {
            label { "Filter " input #filter type="search" placeholder="b-01, fencing, mutual-exclusion …"; }
            (legend())
            span #no-match hidden { "No scenario has all of these words." }
        }
    }
}

fn legend() -> Markup {
    html! {
        span.legend {
            b.proven { "✓" } " proven " b.violated { "✗" } " violated, as expected " b.undecided { "…" } " bounded "
            b.undecided { "∅" } " vacuous " b.unexpected { "!" } " not expected"
        }
    }
}

fn table(rows: &[&[Finding]]) -> Markup {
    let columns = columns(rows.iter().copied().flatten());
    html! {
        table.matrix {
            thead {
                tr {
                    th { "Scenario" } th { "Hazard" } th { "About" }
                    @for property in &columns { th.property { abbr title=(property.about()) { (property.name()) } } }
                }
            }
            tbody { @for row in rows { (table_row(row, &columns)) } }
        }
    }
}

fn table_row(row: &[Finding], columns: &[Property]) -> Markup {
    let Finding { scenario, variant, about, hazard, .. } = &row[0];
    let verdicts: Vec<String> =
        row.iter().map(|finding| format!("{} {}", finding.property.name(), finding.verdict.word())).collect();
    let number = hazard.as_deref().unwrap_or_default();
    let search = format!("{scenario} {number} {variant} {about} {}", verdicts.join(" ")).to_lowercase();
    html! {
        tr data-search=(search) {
            td { a href={ "#" (scenario) } { (scenario) } small { (variant) } }
            @if hazard.is_some() { td { (number) } } @else { td.none { "–" } }
            td.about { (about) }
            @for property in columns {
                @if let Some(finding) = row.iter().find(|finding| finding.property == *property) { (cell(finding)) }
                @else { td.none {} }
            }
        }
    }
}

fn cell(finding: &Finding) -> Markup {
    let (word, name) = (finding.verdict.word(), finding.property.name());
    let surprise = if finding.is_as_expected() { "" } else { "!" };
    html! {
        td class={ "verdict " (colour(finding)) } {
            a href={ "#" (finding.scenario) "--" (name) } title={ (name) ": " (word) } {
                (mark(&finding.verdict)) (surprise) span.name { " " (name) }
            }
        }
    }
}

/// The class of a verdict that depends on what was expected, too.
pub(super) fn colour(finding: &Finding) -> &'static str {
    if finding.is_as_expected() || finding.is_undecided() { class(finding) } else { "unexpected" }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::export::tests::findings;
    use crate::html::{Background, page};

    /// Where a part of a page begins.
    #[track_caller]
    fn place(page: &str, part: &str) -> usize {
        page.find(part).unwrap_or_else(|| panic!("{part} is not there"))
    }

    #[test]
    fn the_page_opens_with_the_scenario_that_the_reader_asked_for_and_folds_the_others() {
        let mut findings = findings();
        let (own, other) = (findings[0].scenario.clone(), "of-the-catalogue".to_owned());
        let mut more = findings.clone();
        more.iter_mut().for_each(|finding| finding.scenario.clone_from(&other));
        more.append(&mut findings);
        let background = Background { own: BTreeSet::from([own.clone()]), ..Background::default() };
        let html = page(&more, "a page", &background);
        let whole = place(&html, &format!("<section class=\"scenario\" id=\"{own}\">"));
        let folded = place(&html, &format!("<details class=\"scenario\" id=\"{other}\">"));
        let systems = place(&html, "<section id=\"systems\"");
        assert!(whole < systems && systems < folded, "{whole} {systems} {folded}");
        assert!(!html.contains("<details class=\"system\" open"), "the verdicts on the catalogue are folded");
    }

    #[test]
    fn one_scenario_has_no_table_of_scenarios_and_the_catalogue_opens_with_its_systems() {
        let findings = findings();
        let own: BTreeSet<String> = findings.iter().map(|finding| finding.scenario.clone()).take(1).collect();
        let of_one: Vec<_> = findings.iter().filter(|finding| own.contains(&finding.scenario)).cloned().collect();
        let html = page(&of_one, "a page", &Background { own, ..Background::default() });
        assert!(!html.contains("class=\"matrix\"") && !html.contains("id=\"filter\""));
        let html = page(&findings, "a page", &Background::default());
        let systems = place(&html, "<section id=\"systems\"");
        assert!(systems < place(&html, "<details class=\"scenario\"") && html.contains("id=\"filter\""));
    }
}
