//! The execution that breaks a promise, for people: instants in seconds, and what repeats itself only once.

use std::fmt::Write;

use fencepost::model::action_kind::ActionKind;
use fencepost::model::finding::StoryStep;
use fencepost::model::trace::tell;
use fencepost::model::units::Duration;
use fencepost_doctor::{Asked, Execution};

/// The maximum number of steps in what repeats itself.
const PERIOD_MAX: usize = 12;

/// What is told the second time is told once more, for a line about it is no shorter.
const TIMES_MIN: usize = 3;

/// The execution, a line for each step.
pub fn story<Q: Asked>(execution: &Execution<Q>) -> String {
    let told = tell(&execution.trace);
    let steps: Vec<&StoryStep> = told.steps.iter().filter(|step| step.kind != Some(ActionKind::Advance)).collect();
    lines(&steps)
}

fn lines(steps: &[&StoryStep]) -> String {
    let mut text = String::new();
    let mut rest = steps;
    while !rest.is_empty() {
        let (period, times) = repeated(rest).unwrap_or((1, 1));
        rest[..period].iter().for_each(|step| line(&mut text, step));
        if times > 1 {
            let last = rest[period * times - 1].at;
            let _ = writeln!(text, "              … {}, the last time at {}", again(period, times), instant(last));
        }
        rest = &rest[period * times..];
    }
    text
}

fn again(period: usize, times: usize) -> String {
    let steps = if period == 1 { "this step".to_owned() } else { format!("these {period} steps") };
    format!("{steps} {} more times", times - 1)
}

fn instant(at: i64) -> String {
    Duration::of_microseconds(at).to_string()
}

fn line(text: &mut String, step: &StoryStep) {
    let inside: Vec<String> = step.inside.iter().map(u16::to_string).collect();
    let inside = if inside.is_empty() { String::new() } else { format!("   inside: {}", inside.join(" ")) };
    let _ = writeln!(text, "  {:>10}  {}{inside}", instant(step.at), step.label);
    step.facts.iter().for_each(|fact| *text += &format!("              → {fact}\n"));
    step.violations.iter().for_each(|violation| *text += &format!("              ✗ {}\n", violation.message));
}

/// How many steps from here repeat themselves, and how often they are there in all: as much as possible at once.
fn repeated(steps: &[&StoryStep]) -> Option<(usize, usize)> {
    let times = |period: usize| {
        let mut rounds = steps.chunks_exact(period);
        let first = rounds.next()?;
        let is_same = |round: &&[&StoryStep]| first.iter().zip(*round).all(|(one, other)| is_like(one, other));
        let times = 1 + rounds.take_while(is_same).count();
        (times >= TIMES_MIN).then_some((period, times))
    };
    let all = (1..=PERIOD_MAX).filter_map(times);
    // Of two that say as much, the shorter one.
    all.max_by_key(|(period, times)| (period * times, std::cmp::Reverse(*period)))
}

/// Whether two steps are the same, but for the instant and the number of the request.
fn is_like(one: &StoryStep, other: &StoryStep) -> bool {
    let label = |step: &StoryStep| {
        let numbered = step.label.strip_suffix(']').and_then(|label| label.rsplit_once(" ["));
        let plain = numbered.filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
        plain.map_or_else(|| step.label.clone(), |(label, _)| label.to_owned())
    };
    label(one) == label(other)
        && (&one.facts, &one.inside) == (&other.facts, &other.inside)
        && one.violations.is_empty()
        && other.violations.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(labels: &[&str]) -> String {
        let steps: Vec<StoryStep> = labels
            .iter()
            .enumerate()
            .map(|(at, label)| StoryStep {
                at: at as i64 * 1_000_000,
                label: (*label).to_owned(),
                facts: label.starts_with("no").then(|| "refused".to_owned()).into_iter().collect(),
                ..StoryStep::default()
            })
            .collect();
        lines(&steps.iter().collect::<Vec<_>>())
    }

    #[test]
    fn what_repeats_itself_is_told_once() {
        let labels = ["begin", "ask [1]", "no [1]", "ask [2]", "no [2]", "ask [3]", "no [3]", "ask [4]", "yes [4]"];
        assert_eq!(
            told(&labels).lines().map(str::trim).collect::<Vec<_>>(),
            [
                "0s  begin",
                "1s  ask [1]",
                "2s  no [1]",
                "→ refused",
                "… these 2 steps 2 more times, the last time at 6s",
                "7s  ask [4]",
                "8s  yes [4]",
            ]
        );
        let wakes = ["wake"; 5];
        assert_eq!(told(&wakes).lines().count(), 2);
        assert!(told(&wakes).contains("… this step 4 more times, the last time at 4s"));
    }

    #[test]
    fn what_happens_twice_and_what_only_looks_alike_is_told_in_full() {
        for labels in [&["a", "b", "a", "b", "c"][..], &["set 1", "set 2", "set 3"], &["x [1]", "x [two]", "x"], &[]] {
            assert_eq!(told(labels).lines().count(), labels.len(), "{labels:?}");
            assert!(!told(labels).contains('…'));
        }
    }
}
