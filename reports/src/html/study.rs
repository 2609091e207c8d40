//! A study as a page: the chart, every number with its interval, what was searched to the end, and the runs behind it.

use fencepost_model::finding::{Finding, Point, Search, Searched, Study};
use maud::{Markup, PreEscaped, html};

use super::section::run;
use super::{class, document, list};
use crate::chart::{digits, percent};
use crate::matrix::mark;
use crate::study::{Numbers, Spread, anchor, chart, dominators, interval, keeps_all, name, risk, sum};

/// The page of a study.
pub fn study_page(study: &Study) -> String {
    document(&study.title, &header(study), &body(study))
}

/// The same as a part of another page, to be unfolded.
pub(super) fn section(study: &Study) -> Markup {
    html! {
        details.taken id={ "study-" (study.name) } {
            summary { (study.title) }
            (header(study))
            (body(study))
        }
    }
}

fn header(study: &Study) -> Markup {
    html! { p { (study.about) } p { code { (study.command) } } }
}

fn body(study: &Study) -> Markup {
    html! {
        @if !study.points.is_empty() {
            section.study aria-label="chart" {
                div.figure { (PreEscaped(chart(study).svg())) (legend(study)) }
                @if (0..study.points.len()).any(|place| study.searched(place).is_some()) { (marks(study)) }
                p.key {
                    "Each point is a setting of the table below, by its number; lower is safer, further left loses less time. Full: measured. "
                    "With a broken edge: too rare to be seen often enough, estimated by importance splitting. Empty, with an arrow: never seen, drawn at the upper "
                    "end of its interval. Lines through points are 95 % intervals. The line joins the settings that no other one beats in both respects."
                }
            }
            (table(study))
            (runs(study))
        }
        @for search in &study.searches { (searched(study, search)) }
    }
}

/// What the marks at points say.
fn marks(study: &Study) -> Markup {
    html! {
        p.key {
            b.proven { "✓" } " every run of this setting, searched to the end in the smaller world below, keeps " (study.safety.name()) "; "
            b.violated { "✗" } " some run breaks it, and the shortest is shown there. "
            "That world has bounds which the weather of the runs does not keep, so that what is proven there can break here."
        }
    }
}

/// The settings, by their numbers, beside the chart.
fn legend(study: &Study) -> Markup {
    html! { ol.legend { @for point in &study.points { li { (name(&point.settings)) } } } }
}

const HEADS: [(&str, &str); 13] = [
    ("searched", "what every run of this setting says, in a world that is small enough to be searched to the end"),
    (
        "unsafe runs",
        "share of runs that break the promise, with its interval (Clopper and Pearson; of importance splitting: Student)",
    ),
    ("overlap per hour", "time per hour in which more clients are inside than allowed"),
    ("time lost", "share of time in which the lock is free while a client waits"),
    (
        "… by mistakes",
        "the part of it after a false positive of the failure detector, until the next grant: mostly lock-delay",
    ),
    ("handover", "time between two tenures while a client waits: median, 99 %, maximum"),
    ("detection", "T_D: from a crash to the end of the session: median, 99 %, maximum"),
    ("dead holder", "how long a crashed owner stays on record: median, 99 %, maximum"),
    (
        "mistakes per hour",
        "λ_M: sessions of live clients that end by themselves; time until the next session (T_M); share of time without a mistake (P_A)",
    ),
    ("stale writes per hour", "writes of an earlier tenure after a later one has written: accepted, refused"),
    ("entries per hour", "number of entries per hour"),
    ("requests", "to the service, per unit of time"),
    ("dominated by", "a setting that is at least as good in both measures, and better in one"),
];

fn table(study: &Study) -> Markup {
    let numbers: Vec<_> = study.points.iter().map(|point| Numbers::of(study, point)).collect();
    let dominators = dominators(&numbers);
    html! {
        section.study.wide aria-label="numbers" {
            table.numbers.stack {
                thead {
                    tr {
                        th { "#" } th { "setting" }
                        @for (head, about) in HEADS {
                            th { abbr title=(about.replace("the promise", study.safety.name())) { (head) } }
                        }
                    }
                }
                tbody {
                    @for (place, point) in study.points.iter().enumerate() {
                        @let is_front = numbers[place].is_some() && dominators[place].is_none();
                        tr id=(anchor(study, place)) class=[is_front.then_some("front")] {
                            td { (place + 1) }
                            td { (name(&point.settings)) }
                            @if let Some(numbers) = &numbers[place] {
                                td data-label=(HEADS[0].0) {
                                    @if let Some(finding) = study.searched(place) {
                                        a href={ "#searched-" (study.name) } { (sign(finding)) }
                                    } @else { "–" }
                                }
                                (cells(study, point, numbers, dominators[place]))
                            } @else {
                                td colspan=(HEADS.len()) { (point.problem.as_deref().unwrap_or("nothing was run")) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What was measured of a setting, a cell for each head but the first.
fn cells(study: &Study, point: &Point, numbers: &Numbers, dominator: Option<usize>) -> Markup {
    let unit = &study.unit;
    let overlap = numbers.overlap;
    html! {
        td data-label=(HEADS[1].0) { (unsafe_runs(study, point, numbers)) }
        td data-label=(HEADS[2].0) { (digits(overlap.value)) " " (unit) small { (digits(overlap.low)) "–" (digits(overlap.high)) " " (unit) } }
        td data-label=(HEADS[3].0) { (percent(numbers.idle.value)) small { (interval(numbers.idle)) } }
        td data-label=(HEADS[4].0) { (percent(numbers.idle_by_mistake)) }
        td data-label=(HEADS[5].0) { (spread(numbers.handover, unit)) }
        td data-label=(HEADS[6].0) { (spread(numbers.detection, unit)) }
        td data-label=(HEADS[7].0) {
            (spread(numbers.dead_hold, unit))
            @let held = point.total.held_at_the_end;
            @if held > 0 { small { (held) " still there at the end" } }
        }
        td data-label=(HEADS[8].0) {
            (numbers.mistakes.map_or("–".to_owned(), digits))
            @if let (Some(lasts), Some(accuracy)) = (numbers.mistake_lasts, numbers.accuracy) {
                small { (digits(lasts)) " " (unit) " each, " (percent(accuracy)) " without" }
            }
        }
        td data-label=(HEADS[9].0) { @if let Some((accepted, refused)) = numbers.stale { (digits(accepted)) ", " (digits(refused)) } @else { "–" } }
        td data-label=(HEADS[10].0) { (digits(numbers.entries)) }
        td data-label=(HEADS[11].0) { (digits(numbers.requests)) "/" (unit) }
        td data-label=(HEADS[12].0) { @if let Some(other) = dominator { (link(study, other)) } @else { "–" } }
    }
}

/// The share of runs that break a promise, as seen, as estimated by splitting, and of other promises.
fn unsafe_runs(study: &Study, point: &Point, numbers: &Numbers) -> Markup {
    let seen = point.broken.get(&study.safety).copied().unwrap_or(0);
    html! {
        (risk(numbers.unsafe_runs))
        small {
            (seen) " of " (point.runs) ": " (interval(numbers.unsafe_runs)) "; " (digits(seen as f64 / numbers.hours)) " per hour"
        }
        @if let Some(split) = numbers.split.filter(|split| split.value > 0.0) {
            small { "≈ " (percent(split.value)) " (" (interval(split)) ") by splitting" }
        }
        @for (property, count) in point.broken.iter().filter(|(property, _)| **property != study.safety) {
            small { (property.name()) ": " (count) " of " (point.runs) }
        }
    }
}

fn spread(spread: Spread, unit: &str) -> Markup {
    html! {
        @if let Some(at) = spread.at { (at.map(digits).join(" / ")) " " (unit) small { (spread.count) " cases" } }
        @else { "–" }
    }
}

/// The way to a setting.
fn link(study: &Study, place: usize) -> Markup {
    html! { a href={ "#" (anchor(study, place)) } { (place + 1) } }
}

/// The runs at the ends of what was measured.
fn runs(study: &Study) -> Markup {
    html! {
        @if study.points.iter().any(|point| !point.seeds.is_empty()) {
            section.study {
                details {
                    summary { "Runs behind the numbers: take one again, and look at it" }
                    table.stack {
                        thead { tr { th { "#" } th { "most of" } th { "seed" } th { "command" } } }
                        tbody {
                            @for (place, point) in study.points.iter().enumerate() {
                                @for extreme in &point.seeds {
                                    tr {
                                        td { (link(study, place)) }
                                        td data-label="most of" { (extreme.what) }
                                        td data-label="seed" { (extreme.seed) }
                                        td data-label="command" { code { (extreme.command) } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A grid that was searched to the end: a row for each setting, and each run that breaks a promise.
fn searched(study: &Study, search: &Search) -> Markup {
    let id = search.is_of_points.then(|| format!("searched-{}", study.name));
    let first = search.settings.iter().find_map(|setting| setting.found.as_ref().ok());
    let columns: &[Finding] = first.map(Vec::as_slice).unwrap_or_default();
    html! {
        section.study id=[id] {
            h2 { (search.title) }
            table.verdicts.stack {
                thead {
                    tr {
                        th { "setting" }
                        @for Finding { property, .. } in columns { th { abbr title=(property.about()) { (property.name()) } } }
                    }
                }
                tbody { @for setting in &search.settings { (searched_row(setting, columns.len())) } }
            }
            p { strong { (sum(search)) "." } " Every run of " code { (search.scenario) } " was searched, for each setting." }
            @if let Some(finding) = columns.first() {
                details.assumptions { summary { "Assumptions of the first setting" } (list(&finding.assumptions)) }
            }
        }
    }
}

fn searched_row(Searched { settings, found }: &Searched, columns: usize) -> Markup {
    let name = name(settings);
    match found {
        Err(problem) => html! { tr { td { (name) } td colspan=(columns) { "impossible: " (problem) } } },
        Ok(findings) => html! {
            tr class=[keeps_all(findings).then_some("front")] {
                td { (name) }
                @for finding in findings { td data-label=(finding.property.name()) { (verdict(finding)) } }
            }
        },
    }
}

/// A verdict; where it is broken, with the shortest run to be unfolded.
fn verdict(finding: &Finding) -> Markup {
    let sign = sign(finding);
    let Some(story) = finding.verdict.story() else {
        return html! { (sign) " " small { (finding.states) " states" } };
    };
    html! {
        details {
            summary { (sign) " " small { "in " (story.steps.len()) " steps" } }
            @if let Some(path) = &finding.trace { p { code { "fencepost replay " (path) } } }
            (run(story))
        }
    }
}

fn sign(finding: &Finding) -> Markup {
    html! { b class=(class(finding)) { (mark(&finding.verdict)) " " (finding.verdict.word()) } }
}
