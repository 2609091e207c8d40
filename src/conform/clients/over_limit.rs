//! More clients inside a semaphore than it has slots, by what they believe and by its entry.

use super::super::log::{Episode, LogRecord};
use super::asks::is_done;
use super::beliefs::BeliefInterval;
use super::findings::{Finding, Kind};
use super::hazards::{Act, Evidence, omissions};
use super::seconds;
use super::slots::{EntryWrite, entry_writes};
use super::tenures::Tenure;

/// Each time that a client came in and was one too many, and each entry that names more holders than slots.
pub(super) fn over_limit(episode: &Episode, tenures: &[Tenure], beliefs: &[BeliefInterval]) -> Vec<Finding> {
    let believed = (0..tenures.len()).filter_map(|last| crowd(episode, tenures, beliefs, last));
    believed.chain(overfull(episode, tenures, beliefs)).collect()
}

/// The clients inside when one came in, if they were too many. Each was promised the limit of the entry that let it in.
fn crowd(episode: &Episode, tenures: &[Tenure], beliefs: &[BeliefInterval], last: usize) -> Option<Finding> {
    tenures[last].limit?;
    let from = beliefs[last].from;
    let is_inside = |place: &usize| {
        let (tenure, belief) = (&tenures[*place], &beliefs[*place]);
        let is_before = (belief.from, *place) <= (from, last);
        tenure.limit.is_some() && tenure.key == tenures[last].key && is_before && from < belief.until
    };
    let mut inside: Vec<usize> = (0..tenures.len()).filter(is_inside).collect();
    let limit = inside.iter().filter_map(|place| tenures[*place].limit).min()?;
    if inside.len() <= limit || !inside.contains(&last) {
        return None;
    }
    let mut ends: Vec<i64> = inside.iter().map(|place| beliefs[*place].until).collect();
    ends.sort_unstable();
    let until = ends[inside.len() - limit - 1];
    // The one whose slot was gone first is the one that should have left.
    inside.sort_by_key(|place| tenures[*place].ended.0);
    let gone = inside[0];
    inside.sort_unstable();
    let names: Vec<String> = inside.iter().map(|place| tenures[*place].who()).collect();
    let slots = slots(limit);
    let sentence = format!(
        "{} all took themselves for holders of `{}` for {}, from {} on, and it has {slots}",
        listed(&names),
        tenures[last].key,
        seconds(until - from),
        seconds(from)
    );
    let kind = Kind::OverLimit(tenures[last].line);
    let others: Vec<&Tenure> = inside.iter().filter(|place| **place != gone).map(|place| &tenures[*place]).collect();
    let (tenure, belief) = (&tenures[gone], &beliefs[gone]);
    let evidence = Evidence { episode, tenures, tenure, belief, others: &others, write: None, act: Act::Stayed };
    let omissions = omissions(&evidence);
    Some(Finding { during: (from, until), kind, sentence, omissions })
}

/// Requests that put more holders into an entry than it has slots.
fn overfull(episode: &Episode, tenures: &[Tenure], beliefs: &[BeliefInterval]) -> Vec<Finding> {
    let lines: Vec<&LogRecord> = episode.lines.iter().filter(|line| is_done(line)).collect();
    let writes = entry_writes(&lines).into_iter().filter(|write| write.content.holders.len() > write.content.limit);
    let finding = |write: EntryWrite<'_>| {
        let (holders, slots) = (write.content.holders.len(), slots(write.content.limit));
        let who = write.line.client.as_deref().unwrap_or("a client");
        let (at, number, key) = (seconds(write.line.sent), write.line.number, &write.key);
        let sentence = format!("{who} put {holders} holders into `{key}` at {at} (line {number}), and it has {slots}");
        let (during, kind) = ((write.line.sent, write.line.received), Kind::OverLimit(number));
        let is_there = |tenure: &&Tenure| {
            tenure.key == write.key
                && write.content.holders.contains(&tenure.session)
                && tenure.ended.1.is_none_or(|ended| write.line.sent < ended)
        };
        let entered = tenures.iter().zip(beliefs).find(|(tenure, _)| tenure.key == write.key && tenure.line == number);
        let omissions = entered.map_or_else(Vec::new, |(tenure, belief)| {
            let others: Vec<&Tenure> =
                tenures.iter().filter(is_there).filter(|other| other.session != tenure.session).collect();
            omissions(&Evidence { episode, tenures, tenure, belief, others: &others, write: None, act: Act::Entered })
        });
        Finding { during, kind, sentence, omissions }
    };
    writes.map(finding).collect()
}

fn slots(limit: usize) -> String {
    if limit == 1 { "1 slot".to_owned() } else { format!("{limit} slots") }
}

/// Names, as a sentence lists them.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [name] => name.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
