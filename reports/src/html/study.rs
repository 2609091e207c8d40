//! A study as a page: the chart, every number with its interval, what was searched to the end, and the runs behind it.

use std::fmt::Write;

use fencepost_model::finding::{Finding, Point, Search, Searched, Study};

use super::section::run;
use super::{document, list};
use crate::chart::{digits, percent};
use crate::escape::escape;
use crate::matrix::mark;
use crate::study::{Numbers, Spread, anchor, chart, dominators, interval, keeps_all, name, risk, sum};

/// The page of a study.
pub fn study_page(study: &Study) -> String {
    document(&study.title, &header(study), &body(study))
}

/// The same as a part of another page, to be unfolded.
pub(super) fn section(study: &Study) -> String {
    format!(
        "<details class=\"taken\" id=\"study-{}\">\n<summary>{}</summary>\n{}{}</details>\n",
        escape(&study.name),
        escape(&study.title),
        header(study),
        body(study)
    )
}

fn header(study: &Study) -> String {
    format!("<p>{}</p>\n<p><code>{}</code></p>\n", escape(&study.about), escape(&study.command))
}

fn body(study: &Study) -> String {
    let mut html = String::new();
    let is_searched = (0..study.points.len()).any(|place| study.searched(place).is_some());
    let marks = if is_searched {
        format!(
            "<p class=\"key\"><b class=\"proven\">✓</b> every run of this setting, searched to the end in the smaller world below, keeps {0}; \
             <b class=\"violated\">✗</b> some run breaks it, and the shortest is shown there. \
             That world has bounds which the weather of the runs does not keep, so that what is proven there can break here.</p>\n",
            study.safety
        )
    } else {
        String::new()
    };
    if !study.points.is_empty() {
        let _ = writeln!(
            html,
            "<section class=\"study\" aria-label=\"chart\">\n<div class=\"figure\">{}{}</div>\n{marks}\
             <p class=\"key\">Each point is a setting of the table below, by its number; lower is safer, further left loses less time. Full: measured. \
             With a broken edge: too rare to be seen often enough, estimated by importance splitting. Empty, with an arrow: never seen, drawn at the upper \
             end of its interval. Lines through points are 95 % intervals. The line joins the settings that no other one beats in both respects.</p>\n</section>",
            chart(study).svg(),
            legend(study)
        );
        html += &table(study);
        html += &runs(study);
    }
    for search in &study.searches {
        html += &searched(study, search);
    }
    html
}

/// The settings, by their numbers, beside the chart.
fn legend(study: &Study) -> String {
    let item = |point: &Point| format!("<li>{}</li>", escape(&name(&point.settings)));
    format!("<ol class=\"legend\">{}</ol>", study.points.iter().map(item).collect::<String>())
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

fn table(study: &Study) -> String {
    let numbers: Vec<_> = study.points.iter().map(|point| Numbers::of(study, point)).collect();
    let dominators = dominators(&numbers);
    let mut html = String::from(
        "<section class=\"study wide\" aria-label=\"numbers\">\n<table class=\"numbers\">\n<thead><tr><th>#</th><th>setting</th>",
    );
    for (head, about) in HEADS {
        let about = about.replace("the promise", study.safety.name());
        let _ = write!(html, "<th><abbr title=\"{}\">{head}</abbr></th>", escape(&about));
    }
    html += "</tr></thead>\n<tbody>\n";
    for (place, point) in study.points.iter().enumerate() {
        let number = place + 1;
        let front = if numbers[place].is_some() && dominators[place].is_none() { " class=\"front\"" } else { "" };
        let _ = write!(
            html,
            "<tr id=\"{}\"{front}><td>{number}</td><td>{}</td>",
            escape(&anchor(study, place)),
            escape(&name(&point.settings))
        );
        match &numbers[place] {
            Some(numbers) => {
                let link = |finding| format!("<a href=\"#searched-{}\">{}</a>", escape(&study.name), sign(finding));
                let searched = study.searched(place).map_or("–".to_owned(), link);
                let _ = write!(html, "<td>{searched}</td>");
                row(&mut html, study, point, numbers, dominators[place]);
            }
            None => {
                let problem = point.problem.as_deref().unwrap_or("nothing was run");
                let _ = write!(html, "<td colspan=\"{}\">{}</td>", HEADS.len(), escape(problem));
            }
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table>\n</section>\n"
}

fn row(html: &mut String, study: &Study, point: &Point, numbers: &Numbers, dominator: Option<usize>) {
    let unit = escape(&study.unit);
    let seen = point.broken.get(&study.safety).copied().unwrap_or(0);
    let split = match numbers.split {
        Some(split) if split.value > 0.0 => {
            format!("<small>≈ {} ({}) by splitting</small>", percent(split.value), interval(split))
        }
        _ => String::new(),
    };
    let others = point.broken.iter().filter(|(property, _)| **property != study.safety);
    let others: String =
        others.map(|(property, count)| format!("<small>{property}: {count} of {}</small>", point.runs)).collect();
    let spread = |spread: Spread| match spread.at {
        Some(at) => format!("{} {unit}<small>{} cases</small>", at.map(digits).join(" / "), spread.count),
        None => "–".to_owned(),
    };
    let held = match point.total.held_at_the_end {
        0 => String::new(),
        held => format!("<small>{held} still there at the end</small>"),
    };
    let mistakes = match (numbers.mistake_lasts, numbers.accuracy) {
        (Some(lasts), Some(accuracy)) => {
            format!("<small>{} {unit} each, {} without</small>", digits(lasts), percent(accuracy))
        }
        _ => String::new(),
    };
    let interval_of = |estimate| format!("<small>{}</small>", interval(estimate));
    let overlap = numbers.overlap;
    let cells = [
        format!(
            "{}<small>{seen} of {}: {}; {} per hour</small>{split}{others}",
            risk(numbers.unsafe_runs),
            point.runs,
            interval(numbers.unsafe_runs),
            digits(seen as f64 / numbers.hours)
        ),
        format!(
            "{} {unit}<small>{}–{} {unit}</small>",
            digits(overlap.value),
            digits(overlap.low),
            digits(overlap.high)
        ),
        format!("{}{}", percent(numbers.idle.value), interval_of(numbers.idle)),
        percent(numbers.idle_by_mistake),
        spread(numbers.handover),
        spread(numbers.detection),
        format!("{}{held}", spread(numbers.dead_hold)),
        format!("{}{mistakes}", numbers.mistakes.map_or("–".to_owned(), digits)),
        numbers
            .stale
            .map_or("–".to_owned(), |(accepted, refused)| format!("{}, {}", digits(accepted), digits(refused))),
        digits(numbers.entries),
        format!("{}/{unit}", digits(numbers.requests)),
        dominator.map_or("–".to_owned(), |other| link(study, other)),
    ];
    for cell in cells {
        let _ = write!(html, "<td>{cell}</td>");
    }
}

/// The way to a setting.
fn link(study: &Study, place: usize) -> String {
    format!("<a href=\"#{}\">{}</a>", escape(&anchor(study, place)), place + 1)
}

/// The runs at the ends of what was measured.
fn runs(study: &Study) -> String {
    let mut html = String::new();
    for (place, point) in study.points.iter().enumerate() {
        for extreme in &point.seeds {
            let _ = writeln!(
                html,
                "<tr><td>{}</td><td>{}</td><td>{}</td><td><code>{}</code></td></tr>",
                link(study, place),
                escape(&extreme.what),
                extreme.seed,
                escape(&extreme.command)
            );
        }
    }
    if html.is_empty() {
        return html;
    }
    format!(
        "<section class=\"study\">\n<details><summary>Runs behind the numbers: take one again, and look at it</summary>\n<table>\n\
         <thead><tr><th>#</th><th>most of</th><th>seed</th><th>command</th></tr></thead>\n<tbody>\n{html}</tbody>\n</table>\n</details>\n</section>\n"
    )
}

/// A grid that was searched to the end: a row for each setting, and each run that breaks a promise.
fn searched(study: &Study, search: &Search) -> String {
    let id = if search.is_of_points { format!(" id=\"searched-{}\"", escape(&study.name)) } else { String::new() };
    let mut html = format!(
        "<section class=\"study\"{id}>\n<h2>{}</h2>\n<table class=\"verdicts\">\n<thead><tr><th>setting</th>",
        escape(&search.title)
    );
    let first = search.settings.iter().find_map(|setting| setting.found.as_ref().ok());
    let columns: &[Finding] = first.map(Vec::as_slice).unwrap_or_default();
    for finding in columns {
        let _ =
            write!(html, "<th><abbr title=\"{}\">{}</abbr></th>", escape(finding.property.about()), finding.property);
    }
    html += "</tr></thead>\n<tbody>\n";
    for Searched { settings, found } in &search.settings {
        let name = escape(&name(settings));
        match found {
            Err(problem) => {
                let _ = writeln!(
                    html,
                    "<tr><td>{name}</td><td colspan=\"{}\">impossible: {}</td></tr>",
                    columns.len(),
                    escape(problem)
                );
            }
            Ok(findings) => {
                let cells: String = findings.iter().map(verdict).collect();
                let class = if keeps_all(findings) { " class=\"front\"" } else { "" };
                let _ = writeln!(html, "<tr{class}><td>{name}</td>{cells}</tr>");
            }
        }
    }
    let _ = write!(
        html,
        "</tbody>\n</table>\n<p><strong>{}.</strong> Every run of <code>{}</code> was searched, for each setting.</p>\n",
        sum(search),
        escape(&search.scenario)
    );
    if let Some(finding) = columns.first() {
        let rests = list(&finding.assumptions);
        let _ = write!(
            html,
            "<details class=\"assumptions\"><summary>Assumptions of the first setting</summary>\n<ul>\n{rests}</ul></details>\n"
        );
    }
    html + "</section>\n"
}

/// A verdict; where it is broken, with the shortest run to be unfolded.
fn verdict(finding: &Finding) -> String {
    let sign = sign(finding);
    let Some(story) = finding.verdict.story() else {
        return format!("<td>{sign} <small>{} states</small></td>", finding.states);
    };
    let replay = finding.trace.as_deref().map(|path| format!("<p><code>fencepost replay {}</code></p>", escape(path)));
    format!(
        "<td><details><summary>{sign} <small>in {} steps</small></summary>{}{}</details></td>",
        story.steps.len(),
        replay.unwrap_or_default(),
        run(story)
    )
}

fn sign(finding: &Finding) -> String {
    let word = finding.verdict.word();
    let class = if finding.is_undecided() { "undecided" } else { word };
    format!("<b class=\"{class}\">{} {word}</b>", mark(&finding.verdict))
}
