//! A story for the terminal: one line per action, time folded into the margin, the facts below, the violation marked.

use std::borrow::Cow;
use std::fmt::Write;

use fencepost_model::finding::{ActionKind, Story, StoryStep};

use crate::legend::{beginning, holds, numbers, request};
use textwrap::{Options, WordSplitter};

/// The width of labels, in characters, where no other width is known. A longer label continues below, beside no column.
const LABEL_WIDTH: usize = 74;

/// Narrower than this, who holds and who is inside stands below the label.
const LABEL_WIDTH_MIN: usize = 30;

/// The story as text, at most its last `steps_max` steps, which contain the violation. On a terminal of this number of columns lines are
/// broken between words. In a file only labels are, which stand beside a column.
pub fn timeline(story: &Story, steps_max: usize, width: Option<usize>) -> String {
    let mut text = legend(story, width);
    let shown: Vec<(usize, &StoryStep)> = story.steps.iter().enumerate().filter(|(_, step)| is_shown(step)).collect();
    let skipped = shown.len().saturating_sub(steps_max);
    if skipped > 0 {
        let _ = writeln!(text, "   …  {skipped} earlier steps");
    }
    let mut repeats_from = story.repeats_from;
    let states = shown.iter().skip(skipped).map(|(_, step)| state(step).chars().count());
    let states = states.max().unwrap_or(0);
    let instants = shown.iter().skip(skipped).map(|(_, step)| story.instant(step.at).chars().count());
    let instants = instants.max().unwrap_or(0).max(4);
    for (place, step) in shown.into_iter().skip(skipped) {
        if repeats_from.is_some_and(|from| place >= from) {
            repeats_from = None;
            let _ = writeln!(text, "   ↻  the following steps repeat for ever:");
        }
        let at = format!("{:>instants$}", story.instant(step.at));
        line(&mut text, &at, step, request(story, place), width.map(|width| (width, states)));
    }
    if story.repeats_from == Some(story.steps.len()) {
        let _ = writeln!(text, "   ∎  nothing can happen any more");
    }
    text
}

/// The columns and the numbers in brackets.
fn legend(story: &Story, width: Option<usize>) -> String {
    let mut text = String::new();
    if story.steps.is_empty() {
        return text;
    }
    let [record, inside] = holds(story.held);
    let columns = format!("record: the client {record}; inside: the client {inside}");
    let beginning = beginning(story)
        .map(|actions| format!("every execution begins with these actions, which are not judged: {actions}"));
    for sentence in [Some(columns.as_str()), numbers(story), beginning.as_deref()].into_iter().flatten() {
        paragraph(&mut text, "      · ", sentence, width.map(|width| width.saturating_sub(8)));
    }
    text.push('\n');
    text
}

/// Time that passes is seen in the margin.
fn is_shown(step: &StoryStep) -> bool {
    step.kind != Some(ActionKind::Advance) || !step.facts.is_empty() || !step.violations.is_empty()
}

/// Who holds by record, and who is inside.
fn state(step: &StoryStep) -> String {
    let text = format!("record: {:<5} inside: {}", clients(&step.owners), clients(&step.inside));
    text.trim_end().to_owned()
}

/// A step, and the request that it answers; `room`: the width of the terminal, and that of the right column.
fn line(text: &mut String, at: &str, step: &StoryStep, request: Option<&str>, room: Option<(usize, usize)>) {
    let margin = format!("{at}  ");
    let label_width = room.map_or(LABEL_WIDTH, |(width, states)| {
        width.saturating_sub(margin.chars().count() + 2 + states).min(LABEL_WIDTH)
    });
    let whole = room.map(|(width, _)| width.saturating_sub(8));
    if label_width < LABEL_WIDTH_MIN {
        paragraph(text, &margin, &step.label, whole);
        let _ = writeln!(text, "        {}", state(step));
    } else {
        let mut lines = broken(&step.label, Some(label_width)).into_iter();
        let first = lines.next().unwrap_or_default();
        let _ = writeln!(text, "{margin}{first:<label_width$}  {}", state(step));
        lines.for_each(|rest| *text += &format!("{:1$}{rest}\n", "", margin.chars().count() + 2));
    }
    if let Some(request) = request {
        paragraph(text, "      ↩ ", &format!("answer to: {request}"), whole);
    }
    for fact in &step.facts {
        paragraph(text, "      → ", fact, whole);
    }
    for violation in &step.violations {
        let sentence = format!("{} is violated: {}", violation.property, violation.message);
        paragraph(text, "      ✗ ", &sentence, whole);
    }
}

fn paragraph(text: &mut String, start: &str, sentence: &str, width: Option<usize>) {
    for (place, line) in broken(sentence, width).iter().enumerate() {
        *text += &if place == 0 { format!("{start}{line}\n") } else { format!("        {line}\n") };
    }
}

/// Lines of at most this number of columns, wrapped between words; a longer word has its own line.
fn broken(sentence: &str, width: Option<usize>) -> Vec<Cow<'_, str>> {
    let Some(width) = width else { return vec![sentence.into()] };
    let between_words = Options::new(width).word_splitter(WordSplitter::NoHyphenation).break_words(false);
    textwrap::wrap(sentence, between_words)
}

fn clients(list: &[u16]) -> String {
    if list.is_empty() {
        return "-".to_owned();
    }
    list.iter().map(u16::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story() -> Story {
        let step = |at, label: &str| StoryStep {
            at,
            label: label.to_owned(),
            owners: vec![1],
            inside: vec![1, 2],
            ..StoryStep::default()
        };
        let steps = vec![
            step(0, "client 1 takes the lock"),
            step(12345, "the server receives from client 2: acquire the key for session 2.1 [2]"),
        ];
        Story { steps, ..Story::default() }
    }

    #[test]
    fn a_terminal_is_never_too_narrow_and_a_file_has_no_width() {
        let file = timeline(&story(), 9, None);
        assert_eq!(file, timeline(&story(), 9, Some(200)), "wide enough");
        for width in [40, 60, 80, 100, 110] {
            let text = timeline(&story(), 9, Some(width));
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
            let words = |text: &str| {
                let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
                words.sort();
                words
            };
            assert_eq!(words(&text), words(&file), "nothing is left out");
        }
        assert!(timeline(&story(), 9, Some(60)).contains("\n        record: 1     inside: 1 2\n"));
    }

    #[test]
    fn a_line_breaks_between_words_only_and_counts_the_columns_that_a_terminal_shows() {
        let lines = |sentence, width| broken(sentence, Some(width)).join("|");
        assert_eq!(lines("no-such-session is  refused → late", 10), "no-such-session|is|refused →|late");
        assert_eq!(lines("", 10), "");
        assert_eq!(lines("鎖 鎖鎖", 6), "鎖|鎖鎖", "each takes two columns");
    }
}
