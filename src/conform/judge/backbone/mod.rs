//! An order of the requests of a crowd, laid along the log positions that its answers show.
//!
//! Every write has a log position of its own, and answers show many of them: so what was seen stands in an order that is certain,
//! each position between two instants. What nobody saw is inserted between, key by key. Events have no length: they have a common order
//! if none was sent after one behind it was answered, and an event may be inserted wherever that stays so (see `sequence`). Keys
//! meet only in that order, so that a key is walked along alone, with what others have placed as it stands there: the ends of
//! sessions that hold several keys, transactions, listings. A key that finds no way is walked along first the next time. A request that has
//! no place any more, in a walk that finds no way, comes before others in the next one. Many ways are looked at side by side first, then
//! one by one.
//!
//! All of this is a guess: it is explained only by what the model says of the order that comes out (see `follow`). What is not
//! found may be possible all the same.
//!
//! ```text
//! requests  what is asked and shown        sequence  events in order, and where one may be inserted
//! entry     what operations make of a key  draft     what has its place, and what is known of the rest
//! writers   who wrote what was seen        layout    the log positions, and the reads that tell the most
//! bounds    who may have written the rest  reroute   other requests at log positions, with other ways for their keys
//! walk      along the log with one key     places    the places of what a walk comes to
//! kept      what is needed later on        blanks    positions that only an index tells of
//! finish    sessions, and what was refused lifetimes what comes before the end of a session, and what after
//! beam      many ways along one key        turns     the changes that a way may take
//! ways      what comes before a change     needs     what a way cannot do without later on
//! viable    ways that lead nowhere         lay       the places of a way's steps
//! ```

mod beam;
mod blanks;
mod bounds;
mod draft;
mod entry;
mod finish;
mod kept;
mod lay;
mod layout;
mod lifetimes;
mod needs;
mod places;
mod requests;
mod reroute;
mod sequence;
#[cfg(test)]
mod tests;
mod turns;
mod viable;
mod walk;
mod ways;
mod writers;

use self::draft::Draft;
use self::requests::Requests;
use super::super::log::LogRecord;

/// How often an order is looked for.
const ROUNDS: usize = 60;

/// How much work walks take before an order is given up, for each effort: it is looked at between rounds, so that all of them may take half
/// a minute.
const WORK: usize = 300_000_000;

/// Which way is tried first, where there are several.
const POLICIES: usize = 6;

/// Of these, how many make a difference to ways that are looked at side by side.
const WEIGHTS: usize = 3;

/// The first order that is explained, with what explains it. Of requests that were not answered, none was carried out. None: no such
/// order was found.
pub(super) fn line_up<T>(
    lines: &[LogRecord],
    is_over: &dyn Fn() -> bool,
    explain: impl Fn(&[usize]) -> Option<T>,
) -> Option<T> {
    let requests = Requests::of(lines)?;
    let first = Draft::new(&requests, is_over)?;
    [Effort::Wide, Effort::Often, Effort::Long]
        .into_iter()
        .find_map(|effort| rounds(Draft { effort, ..first.clone() }, &explain))
}

/// How a walk along a key is sought: many ways side by side, or one depth first that is begun anew often, or once with much work.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Effort {
    Wide,
    Often,
    Long,
}

fn rounds<T>(mut first: Draft<'_>, explain: &impl Fn(&[usize]) -> Option<T>) -> Option<T> {
    let mut keys = first.keys_by_size();
    let (mut in_vain, mut work) = (0, 0);
    for round in 0..ROUNDS {
        // The first key finds no way with any policy.
        let policies = if first.effort == Effort::Wide { WEIGHTS } else { POLICIES };
        if (first.is_over)() || in_vain > policies || work > WORK {
            return None;
        }
        let mut draft = Draft { policy: round % POLICIES, ..first.clone() };
        let stuck = keys.iter().position(|key| !draft.walk(*key));
        work += draft.work;
        first.urgency.clone_from(&draft.urgency);
        if let Some(stuck) = stuck {
            in_vain = if stuck == 0 { in_vain + 1 } else { 0 };
            keys[..=stuck].rotate_right(1);
            continue;
        }
        if let Some(explained) = draft.finish().and_then(|order| explain(&order)) {
            return Some(explained);
        }
        if keys.is_empty() {
            return None;
        }
        keys.rotate_left(1);
    }
    None
}
