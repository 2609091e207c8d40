//! Where the record and the beliefs differ. The [`hazards`](super::hazards) say why.

use super::super::log::{Episode, LogRecord};
use super::asks::Asked;
use super::beliefs::BeliefInterval;
use super::hazards::{Act, Evidence, Omission, omissions, stuck};
use super::in_flight::in_flight;
use super::over_limit::over_limit;
use super::protected::{Protection, in_words, is_accepted, writes};
use super::seconds;
use super::tenures::Tenure;

/// Something that went wrong between clients.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// When it began and ended, in nanoseconds.
    pub during: (i64, i64),
    /// The kind of finding.
    pub kind: Kind,
    /// It in a sentence.
    pub sentence: String,
    /// What led to it, the nearest hazard first.
    pub omissions: Vec<Omission>,
}

/// What went wrong.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Two clients took themselves for the holder at the same time; these two of the tenures.
    Overlap(usize, usize),
    /// The client of a tenure wrote after that had ended for certain; the line of the write.
    LateWrite(usize, usize),
    /// More clients took themselves for holders of a semaphore than it has slots, or its entry names more; the line that let the last one in.
    OverLimit(usize),
    /// A client wrote, or said that it is inside, and held no lock; the line.
    WithoutTenure(usize),
    /// The client of a tenure gave the lock back while its write had no answer; the line of the write.
    InFlight(usize, usize),
    /// A client waits, or a lock stays taken, and nothing in the log will end that; the line that begins it.
    Stuck(usize),
}

pub(super) fn findings(
    episode: &Episode,
    tenures: &[Tenure],
    beliefs: &[BeliefInterval],
    protected: &[String],
) -> Vec<Finding> {
    let protection = Protection::new(episode, tenures, protected);
    let mut findings = outsiders(episode, tenures, beliefs, &protection, !protected.is_empty());
    findings.extend(over_limit(episode, tenures, beliefs));
    findings.extend(in_flight(episode, tenures, beliefs, &protection));
    findings.extend(stuck(episode, tenures, beliefs));
    for (place, (one, mine)) in tenures.iter().zip(beliefs).enumerate() {
        for (other, (two, theirs)) in tenures.iter().zip(beliefs).enumerate().skip(place + 1) {
            let (from, until) = (mine.from.max(theirs.from), mine.until.min(theirs.until));
            let are_locks = one.limit.is_none() && two.limit.is_none();
            if are_locks && one.key == two.key && one.is_of_other(two) && from < until {
                let sentence = format!(
                    "{} and {} both took themselves for the holder of `{}` for {}, from {} on",
                    one.who(),
                    two.who(),
                    one.key,
                    seconds(until - from),
                    seconds(from)
                );
                let others = [two];
                let evidence = Evidence {
                    episode,
                    tenures,
                    tenure: one,
                    belief: mine,
                    others: &others,
                    write: None,
                    act: Act::Stayed,
                };
                let omissions = omissions(&evidence);
                findings.push(Finding {
                    during: (from, until),
                    kind: Kind::Overlap(place, other),
                    sentence,
                    omissions,
                });
            }
        }
        for line in &episode.lines {
            let Some(written) = late_write(line, one, mine, &protection) else { continue };
            let holder = tenures.iter().find(|two| {
                one.limit.is_none()
                    && two.key == one.key
                    && two.certain().is_some_and(|(from, until)| from < line.received && line.sent < until)
            });
            let held = holder.map_or(String::new(), |two| format!(", while {} held it", two.who()));
            let ended = one.ended.1.unwrap_or_default();
            let sentence = format!(
                "{} {written} at {} (line {}), {} after it had lost `{}` at the latest{held}",
                one.who(),
                seconds(line.sent),
                line.number,
                seconds(line.sent - ended),
                one.key
            );
            let evidence = Evidence {
                episode,
                tenures,
                tenure: one,
                belief: mine,
                others: &[],
                write: Some(line),
                act: Act::Stayed,
            };
            let omissions = omissions(&evidence);
            let kind = Kind::LateWrite(place, line.number);
            findings.push(Finding { during: (line.sent, line.received), kind, sentence, omissions });
        }
    }
    findings.sort_by_key(|finding| finding.during);
    findings
}

/// What a line writes of what locks protect, in words, if its client did so as the holder after its tenure had ended for certain.
fn late_write(
    line: &LogRecord,
    tenure: &Tenure,
    belief: &BeliefInterval,
    protection: &Protection<'_>,
) -> Option<String> {
    let is_named = line.client.is_some() && line.client == tenure.client;
    let is_after = tenure.ended.1.is_some_and(|ended| ended <= line.sent);
    let is_believed = belief.from <= line.sent && line.sent <= belief.until;
    if !(is_named && is_after && is_believed && is_accepted(line)) {
        return None;
    }
    protection.write_of(line)
}

/// What clients did that held no lock at all: writes of what locks protect, and reports that they are inside. Without named keys only those
/// count that holders write, and only while another client held a lock for certain. Of a log that begins in mid-life nothing is said: a client
/// may hold a lock from before.
fn outsiders(
    episode: &Episode,
    tenures: &[Tenure],
    beliefs: &[BeliefInterval],
    protection: &Protection<'_>,
    are_named: bool,
) -> Vec<Finding> {
    if episode.begins_later {
        return Vec::new();
    }
    let may_hold = |client: &String, key: Option<&String>, (sent, received): (i64, i64)| {
        tenures.iter().any(|tenure| {
            tenure.client.as_ref() == Some(client)
                && key.is_none_or(|key| *key == tenure.key)
                && tenure.began.0 <= received
                && tenure.ended.1.is_none_or(|ended| sent < ended)
        })
    };
    let holder = |sent: i64, received: i64| {
        tenures.iter().find(|tenure| tenure.certain().is_some_and(|(from, until)| from < received && sent < until))
    };
    let beside = |sent: i64, received: i64| {
        holder(sent, received).map_or(String::new(), |tenure| format!(", while {} held `{}`", tenure.who(), tenure.key))
    };
    let of_holders: Vec<Asked> = episode
        .lines
        .iter()
        .filter(|line| line.client.as_ref().is_some_and(|client| may_hold(client, None, (line.sent, line.received))))
        .flat_map(writes)
        .collect();
    let meant = |line: &LogRecord, asked: &Asked| {
        let is_shared = |key: &String| of_holders.iter().any(|other| other.is_about(key));
        let is_beside = || holder(line.sent, line.received).is_some();
        let key = protection.written(asked).into_iter().find(|key| are_named || is_shared(key) && is_beside())?;
        Some(in_words(asked, &key))
    };
    let is_told = |line: &LogRecord| {
        tenures.iter().zip(beliefs).any(|(tenure, belief)| late_write(line, tenure, belief, protection).is_some())
    };
    // A client that had given the lock back, or knew of its loss, and acted nevertheless.
    let why = |client: &String, key: Option<&String>, sent: i64, write: Option<&LogRecord>| {
        let mut held = tenures.iter().zip(beliefs).filter(|(tenure, belief)| {
            tenure.client.as_ref() == Some(client) && key.is_none_or(|key| *key == tenure.key) && belief.until <= sent
        });
        let last = held.next_back();
        let told = last.map(|(tenure, belief)| {
            omissions(&Evidence { episode, tenures, tenure, belief, others: &[], write, act: Act::Returned })
        });
        told.unwrap_or_default()
    };
    let mut findings = Vec::new();
    for line in episode.lines.iter().filter(|line| is_accepted(line) && !is_told(line)) {
        let Some(client) = line.client.as_ref() else { continue };
        let during = (line.sent, line.received);
        let Some(written) = writes(line).find_map(|asked| meant(line, &asked)) else { continue };
        if !may_hold(client, None, during) {
            let (at, number, beside) = (seconds(line.sent), line.number, beside(line.sent, line.received));
            let sentence = format!("{client} {written} at {at} (line {number}), and held no lock{beside}");
            let omissions = why(client, None, line.sent, Some(line));
            findings.push(Finding { during, kind: Kind::WithoutTenure(number), sentence, omissions });
        }
    }
    for report in episode.reports.iter().filter(|report| report.is_inside) {
        let during = (report.at, report.at);
        if !may_hold(&report.client, report.key.as_ref(), during) {
            let (client, at, number) = (&report.client, seconds(report.at), report.number);
            let held = report.key.as_ref().map_or("held no lock".to_owned(), |key| format!("did not hold `{key}`"));
            let beside = beside(report.at, report.at);
            let sentence = format!("{client} said at {at} (line {number}) that it is inside, and {held}{beside}");
            let omissions = why(client, report.key.as_ref(), report.at, None);
            findings.push(Finding { during, kind: Kind::WithoutTenure(number), sentence, omissions });
        }
    }
    findings
}
