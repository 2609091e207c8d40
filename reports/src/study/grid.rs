//! A grid that was searched to the end, for the terminal: a mark for each promise, then the settings.

use fencepost_model::finding::{Finding, Property, Search, Searched, Verdict};

use super::name;
use crate::matrix::mark;

/// The table, and how many settings keep every promise.
pub fn grid(search: &Search) -> String {
    let mut columns: Vec<Property> = Vec::new();
    for finding in search.settings.iter().flat_map(|searched| searched.found.iter().flatten()) {
        if !columns.contains(&finding.property) {
            columns.push(finding.property);
        }
    }
    let mut text = String::new();
    for (place, property) in columns.iter().enumerate() {
        text += &format!("{}┌ {property} ({})\n", "│  ".repeat(place), property.hazards_name());
    }
    for Searched { settings, found } in &search.settings {
        let name = name(settings);
        let findings = match found {
            Ok(findings) => findings,
            Err(problem) => {
                text += &format!("–  {name}: {problem}\n");
                continue;
            }
        };
        let cell = |property: &Property| findings.iter().find(|finding| finding.property == *property);
        let sign = |property: &Property| cell(property).map_or("·", |finding| mark(&finding.verdict));
        let marks: String = columns.iter().map(|property| format!("{}  ", sign(property))).collect();
        text += &format!("{marks}{name}{}\n", if keeps_all(findings) { "   ← keeps all" } else { "" });
    }
    format!("{text}{}\n", sum(search))
}

/// How many settings keep every promise.
pub(crate) fn sum(search: &Search) -> String {
    let possible: Vec<&Vec<Finding>> =
        search.settings.iter().filter_map(|searched| searched.found.as_ref().ok()).collect();
    match possible.iter().filter(|findings| keeps_all(findings)).count() {
        0 => format!("none of {} settings keeps every promise", possible.len()),
        kept => format!("{kept} of {} settings keep every promise", possible.len()),
    }
}

pub(crate) fn keeps_all(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| matches!(finding.verdict, Verdict::Proven(_)))
}
