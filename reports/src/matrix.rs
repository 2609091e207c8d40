//! Verdicts for the terminal: a row for each scenario, a column for each promise.

use std::fmt::Write;

use fencepost_model::finding::{Finding, Property, Verdict};

/// Colours for the cells, or none.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Paint(
    /// Whether to colour.
    pub bool,
);

/// The mark of a verdict; the shape says what it is, the colour whether it was expected.
pub fn mark(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Proven(_) => "✓",
        Verdict::Violated(_) => "✗",
        Verdict::Bounded { .. } => "…",
        Verdict::Vacuous { .. } => "∅",
    }
}

/// The properties that occur, in the order of the list of properties; behind them those that scenarios define, by name.
pub fn columns<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<Property> {
    let met: Vec<Property> = findings.into_iter().map(|finding| finding.property).collect();
    let mut own: Vec<Property> = met.iter().copied().filter(|property| !Property::ALL.contains(property)).collect();
    own.sort_unstable();
    own.dedup();
    Property::ALL.iter().copied().filter(|property| met.contains(property)).chain(own).collect()
}

/// The findings of each scenario, in the order in which scenarios come.
pub fn rows(findings: &[Finding]) -> Vec<&[Finding]> {
    findings.chunk_by(|left, right| left.scenario == right.scenario).collect()
}

/// A matrix for each system, with the properties that occur there, and a legend. `seconds` adds what each scenario took.
pub fn matrix(findings: &[Finding], paint: Paint, seconds: bool) -> String {
    let rows = rows(findings);
    let width = rows.iter().map(|row| row[0].scenario.chars().count()).max().unwrap_or(0);
    let mut systems: Vec<&str> = Vec::new();
    for row in &rows {
        if !systems.contains(&row[0].system.as_str()) {
            systems.push(&row[0].system);
        }
    }
    let mut text = String::new();
    for system in systems {
        let of_system: Vec<&[Finding]> = rows.iter().copied().filter(|row| row[0].system == system).collect();
        text += &part(system, &of_system, width, paint, seconds);
        text.push('\n');
    }
    text += "✓ proven   ✗ violated, as expected   … bounded   ∅ vacuous   · not promised   a “!” marks what was not expected\n";
    text
}

/// The matrix of one system: its name where the columns are named.
fn part(system: &str, rows: &[&[Finding]], width: usize, paint: Paint, seconds: bool) -> String {
    let columns = columns(rows.iter().copied().flatten());
    let mut text = String::new();
    for (place, property) in columns.iter().enumerate() {
        let name = if place == 0 { system } else { "" };
        let _ = writeln!(text, "{name:width$}  {}┌ {property} ({})", "│  ".repeat(place), property.hazards_name());
    }
    for row in rows {
        let _ = write!(text, "{:width$}  ", row[0].scenario);
        for property in &columns {
            let cell = match row.iter().find(|finding| finding.property == *property) {
                Some(finding) => painted(finding, paint),
                None => "·".to_owned(),
            };
            let _ = write!(text, "{cell}  ");
        }
        if seconds {
            let total = time(row);
            let states = row.iter().map(|finding| finding.states).max().unwrap_or(0);
            let _ = write!(text, "{states:>9} states {total:>6.2} s");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

/// Promises that were checked in one run share its time.
fn time(row: &[Finding]) -> f64 {
    let mut runs: Vec<u64> = row.iter().map(|finding| finding.microseconds).collect();
    runs.sort_unstable();
    runs.dedup();
    runs.iter().map(|microseconds| *microseconds as f64).sum::<f64>() / 1e6
}

fn painted(finding: &Finding, Paint(is_coloured): Paint) -> String {
    let mark = mark(&finding.verdict);
    let is_good = finding.is_as_expected();
    let shown = if is_good { mark.to_owned() } else { format!("{mark}!") };
    match (is_coloured, is_good, &finding.verdict) {
        (false, ..) => shown,
        (true, false, _) => format!("\x1b[1;31m{shown}\x1b[0m"),
        (true, true, Verdict::Violated(_)) => format!("\x1b[33m{shown}\x1b[0m"),
        (true, true, _) => format!("\x1b[32m{shown}\x1b[0m"),
    }
}
