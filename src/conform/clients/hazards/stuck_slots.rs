//! Slots of semaphores that stay taken: they were given back in vain, or their clients were never told of them.

use super::super::super::judge::is_in_doubt;
use super::super::super::log::LogRecord;
use super::super::asks::is_done;
use super::super::beliefs::{BeliefInterval, Stopped, is_by};
use super::super::seconds;
use super::super::slots;
use super::super::tenures::{Ending, Tenure};
use super::stuck::{Overview, Sight};

/// C-SEM-7: a slot is given back by compare-and-set, which may lose.
pub(super) fn release_in_vain(overview: &Overview<'_>) -> Vec<Sight> {
    let of = |(slot, belief): (&Tenure, &BeliefInterval)| {
        let Stopped::GaveBack(number) = belief.stopped else { return None };
        let line = overview.line(number)?;
        let is_refused = line.reply.as_ref().is_some_and(|reply| reply.body.trim_ascii() == b"false");
        let destroy = format!("/v1/session/destroy/{}", slot.session);
        let gives_up =
            |line: &LogRecord| is_done(line) && (slots::gives_back(line, slot) || line.question.url == destroy);
        let is_over = overview.episode.lines.iter().any(|line| line.received > slot.began.1 && gives_up(line));
        (is_refused && !is_over && slot.ending == Ending::Open).then(|| Sight {
            during: (line.sent, line.received),
            line: number,
            what: format!(
                "{} gave its slot of `{}` back at {} (line {number}), in vain: the slot is still taken",
                slot.who(),
                slot.key,
                seconds(line.sent)
            ),
            cause: "its compare-and-set came too late and was answered false, and it did not try again".to_owned(),
        })
    };
    overview.slots().filter_map(of).collect()
}

/// A client asks for a slot, gets it, and never learns of it.
pub(super) fn never_told(overview: &Overview<'_>) -> Vec<Sight> {
    let lines: Vec<&LogRecord> = overview.episode.lines.iter().collect();
    let writes = slots::entry_writes(&lines);
    let is_open = |line: &LogRecord| line.reply.as_ref().is_none_or(is_in_doubt);
    let of = |(slot, _): (&Tenure, &BeliefInterval)| {
        let asks_for_it = |write: &&slots::EntryWrite<'_>| {
            write.key == slot.key
                && write.content.holders.contains(&slot.session)
                && write.line.client.is_some()
                && write.line.client == slot.client
        };
        let first = writes.iter().find(asks_for_it).filter(|write| is_open(write.line))?.line;
        let learns = |line: &&&LogRecord| {
            line.number != first.number
                && line.sent >= first.sent
                && is_by(line, slot)
                && (slots::shown(line, &slot.key).is_some()
                    || slots::leaves_out(line, slot)
                    || line.question.url == format!("/v1/session/destroy/{}", slot.session))
        };
        let is_told = lines.iter().any(|line| learns(&line));
        (!is_told && slot.ending == Ending::Open).then(|| Sight {
            during: (first.sent, slot.began.1),
            line: first.number,
            what: format!(
                "{} got a slot of `{}` by its request at {} (line {}), as line {} shows, and no answer told it",
                slot.who(),
                slot.key,
                seconds(first.sent),
                first.number,
                slot.line
            ),
            cause: "it did not read the entry again after the answer had been lost".to_owned(),
        })
    };
    overview.slots().filter_map(of).collect()
}
