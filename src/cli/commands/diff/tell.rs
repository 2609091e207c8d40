//! How a comparison reads for people.

use std::fmt::Write;

use fencepost::AnyScenario;
use fencepost::model::finding::{Finding, Verdict};
use fencepost::model::units::Duration;

use super::Diff;
use super::measures::{Measured, Unit};
use super::promises::{Change, Compared, Judged};
use super::settings::Difference;
use crate::findings::told;
use crate::json::Quantiles;
use crate::output::say;

/// The two scenarios.
pub fn head(pair: &[Box<dyn AnyScenario>; 2]) {
    let [a, b] = pair.each_ref().map(|scenario| format!("{} ({})", scenario.name(), scenario.system()));
    let with = if a == b { ", with other settings" } else { "" };
    say(&format!("A: {a}\nB: {b}{with}\n"));
}

/// The fields that differ.
pub fn differences(differences: &[Difference]) {
    let (texts, settings): (Vec<&Difference>, Vec<&Difference>) =
        differences.iter().partition(|difference| difference.is_text);
    let mut text = match (settings.is_empty(), texts.is_empty()) {
        (true, true) => "\nno field differs\n".to_owned(),
        (true, false) => "\nno setting differs\n".to_owned(),
        (false, _) => "\nsettings that differ:\n".to_owned(),
    };
    let width = settings.iter().map(|difference| difference.path.len()).max().unwrap_or(0);
    for Difference { path, values, .. } in settings {
        let [a, b] = values.each_ref().map(|value| value.as_ref().map_or("–".to_owned(), ToString::to_string));
        let _ = writeln!(text, "  {path:width$}  {a} → {b}");
    }
    if !texts.is_empty() {
        let names: Vec<&str> = texts.iter().map(|difference| difference.path.as_str()).collect();
        let _ = writeln!(text, "texts that differ: {}", names.join(", "));
    }
    say(&text);
}

/// What becomes of each promise.
pub fn promises(pair: &[Box<dyn AnyScenario>; 2], promises: &[Compared]) {
    let mut text = if promises.is_empty() { "\nno promises\n" } else { "\npromises:\n" }.to_owned();
    let names: Vec<String> = promises.iter().map(|compared| compared.name(pair)).collect();
    let width = names.iter().map(String::len).max().unwrap_or(0);
    for (compared, name) in promises.iter().zip(names) {
        let (mark, word) = compared.change().words();
        let [a, b] = compared.sides.each_ref().map(Judged::words);
        let _ = writeln!(text, "  {mark} {word:9}  {name:width$}  A: {a}; B: {b}");
    }
    say(&text);
}

/// A promise that is lost, with a shortest execution of B.
pub fn loss(finding: &Finding) {
    say(&format!("\nlost: {}", told(finding)));
}

/// The measured quantities.
pub fn measured(pair: &[Box<dyn AnyScenario>; 2], measured: &[Measured], diff: &Diff) {
    let ticks = [0, 1].map(|side: usize| pair[side].tick());
    let have_length = ticks.iter().all(Option::is_some);
    let (scheduler, seeds) = (diff.scheduler.name(), &diff.seeds);
    let about = |measured: &Measured| {
        let unit = match (measured.measure.unit, have_length) {
            (Unit::Count, _) => "",
            (Unit::Ticks, true) => ", in seconds",
            (Unit::Ticks, false) => ", in ticks",
        };
        format!("{}{unit}", measured.measure.about)
    };
    let width = measured.iter().map(|measured| about(measured).len()).max().unwrap_or(0);
    let mut text = format!(
        "\nmeasured over the seeds {}..{} of each, by the scheduler {scheduler}, up to {} ticks a run; not proven:\n{:indent$}{}\n",
        seeds.start,
        seeds.end,
        diff.storm,
        "",
        ["p10", "p50", "p90", "p99", "values"].map(|head| format!("{head:>9}")).concat(),
        indent = width + 4,
    );
    for measured in measured {
        let [a, b] = [0, 1].map(|side: usize| {
            let tick = ticks[side].filter(|_| have_length && measured.measure.unit == Unit::Ticks);
            in_seconds(&measured.sides[side], tick)
        });
        let is_comparable = measured.measure.unit == Unit::Count || have_length || ticks[0] == ticks[1];
        let _ = writeln!(text, "  {:width$} A{}{:>9}", about(measured), row(&a, None), a.values);
        let _ = writeln!(text, "  {:width$} B{}{:>9}", "", row(&b, None), b.values);
        if is_comparable {
            let _ = writeln!(text, "  {:>width$}{}", "change", row(&b, Some(&a)), width = width + 2);
        }
    }
    say(&text);
}

/// The same in seconds, if ticks have a length.
fn in_seconds(of: &Quantiles, tick: Option<Duration>) -> Quantiles {
    let seconds = tick.map_or(1.0, |tick| tick.nanoseconds() as f64 / 1e9);
    let [p10, p50, p90, p99] = [of.p10, of.p50, of.p90, of.p99].map(|value| value.map(|value| value * seconds));
    Quantiles { p10, p50, p90, p99, ..*of }
}

/// The quantiles, or their differences from those of A.
fn row(of: &Quantiles, from: Option<&Quantiles>) -> String {
    let all = |of: &Quantiles| [of.p10, of.p50, of.p90, of.p99];
    let cells = all(of).into_iter().enumerate().map(|(place, value)| match from {
        None => value.map(|value| format!("{}", rounded(value))),
        Some(from) => value.zip(all(from)[place]).map(|(b, a)| format!("{:+}", rounded(b - a))),
    });
    cells.map(|cell| format!("{:>9}", cell.unwrap_or_else(|| "–".to_owned()))).collect()
}

/// A number with three decimals at most.
fn rounded(value: f64) -> f64 {
    // Adding zero turns a negative zero into a positive one.
    (value * 1000.0).round() / 1000.0 + 0.0
}

impl Change {
    pub fn name(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (char, &'static str) {
        match self {
            Change::Lost => ('✗', "lost"),
            Change::Undecided => ('?', "undecided"),
            Change::Gained => ('+', "gained"),
            Change::Kept => ('✓', "kept"),
            Change::Neither => ('·', "neither"),
        }
    }
}

impl Compared {
    fn name(&self, pair: &[Box<dyn AnyScenario>; 2]) -> String {
        let side = usize::from(!self.promised_by(0));
        let bound = self.promise.bound.map(|bound| format!(" within {}", pair[side].told_ticks(bound)));
        let bound = bound.unwrap_or_default();
        format!("{}{bound}", self.promise.property)
    }
}

impl Judged {
    fn words(&self) -> String {
        let (finding, is_promised) = match self {
            Judged::Searched { outcome, is_promised } => (&outcome.finding, *is_promised),
            Judged::Impossible(why) => return format!("not possible ({why})"),
            Judged::Incomparable(why) => return format!("not comparable ({why})"),
        };
        let word = finding.verdict.word();
        let detail = match &finding.verdict {
            Verdict::Proven(_) => format!("{word}, {} states", finding.states),
            Verdict::Violated(story) => format!("{word}, {} steps", story.steps.len()),
            Verdict::Bounded { by } => format!("{word} by {by}"),
            Verdict::Vacuous { missing } => format!("{word}, goals not reached: {}", missing.join(", ")),
        };
        if is_promised { detail } else { format!("{detail}, although not promised") }
    }
}
