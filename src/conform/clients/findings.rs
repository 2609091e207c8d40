//! Where the record and the beliefs differ, which step of the recipe was left out, and which known hazard that is.

use super::super::log::{Episode, LogRecord};
use super::asks::{Ask, Asked, asks};
use super::beliefs::{BeliefInterval, Stopped, is_by};
use super::over_limit::over_limit;
use super::protected::{Protection, in_words, is_accepted, writes};
use super::seconds;
use super::tenures::{Ending, Tenure};

/// Something that went wrong between clients.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// When it began and ended, in nanoseconds.
    pub during: (i64, i64),
    /// The kind of finding.
    pub kind: Kind,
    /// It in a sentence.
    pub sentence: String,
    /// What the client that was no longer the holder left out, the likely cause first.
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
}

/// A step of the recipe that was left out, with the hazard that it leads to and a scenario that shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Omission {
    /// What was left out, in a sentence.
    pub sentence: String,
    /// The hazard.
    pub hazard: &'static str,
    /// The scenario that breaks as this log does.
    pub scenario: &'static str,
    /// The scenario that holds, because nothing is left out.
    pub mended: &'static str,
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
    for (place, (one, mine)) in tenures.iter().zip(beliefs).enumerate() {
        for (other, (two, theirs)) in tenures.iter().zip(beliefs).enumerate().skip(place + 1) {
            let (from, until) = (mine.from.max(theirs.from), mine.until.min(theirs.until));
            let are_locks = one.limit.is_none() && two.limit.is_none();
            if are_locks && one.key == two.key && one.session != two.session && from < until {
                let sentence = format!(
                    "{} and {} both took themselves for the holder of `{}` for {}, from {} on",
                    one.who(),
                    two.who(),
                    one.key,
                    seconds(until - from),
                    seconds(from)
                );
                let omissions = omissions(episode, one, mine, None);
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
            let omissions = omissions(episode, one, mine, Some(line));
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
    let mut findings = Vec::new();
    for line in episode.lines.iter().filter(|line| is_accepted(line) && !is_told(line)) {
        let Some(client) = line.client.as_ref() else { continue };
        let during = (line.sent, line.received);
        let Some(written) = writes(line).find_map(|asked| meant(line, &asked)) else { continue };
        if !may_hold(client, None, during) {
            let (at, number, beside) = (seconds(line.sent), line.number, beside(line.sent, line.received));
            let sentence = format!("{client} {written} at {at} (line {number}), and held no lock{beside}");
            findings.push(Finding { during, kind: Kind::WithoutTenure(number), sentence, omissions: Vec::new() });
        }
    }
    for report in episode.reports.iter().filter(|report| report.is_inside) {
        let during = (report.at, report.at);
        if !may_hold(&report.client, report.key.as_ref(), during) {
            let (client, at, number) = (&report.client, seconds(report.at), report.number);
            let held = report.key.as_ref().map_or("held no lock".to_owned(), |key| format!("did not hold `{key}`"));
            let beside = beside(report.at, report.at);
            let sentence = format!("{client} said at {at} (line {number}) that it is inside, and {held}{beside}");
            findings.push(Finding { during, kind: Kind::WithoutTenure(number), sentence, omissions: Vec::new() });
        }
    }
    findings
}

/// What the client of a tenure left out.
pub(super) fn omissions(
    episode: &Episode,
    tenure: &Tenure,
    belief: &BeliefInterval,
    write: Option<&LogRecord>,
) -> Vec<Omission> {
    let mut omissions = Vec::new();
    let mut say = |sentence: String, hazard, scenario, mended| {
        omissions.push(Omission { sentence, hazard, scenario, mended });
    };
    let ended = tenure.ended.0;
    if let (Ending::Expired(_) | Ending::Open, Some(ttl)) = (&tenure.ending, tenure.ttl) {
        let last = tenure.renewals.iter().copied().filter(|at| *at <= ended).max().unwrap_or(tenure.began.0);
        let silent = ended - last;
        if silent > ttl {
            let sentence = format!(
                "it did not renew its session for {}, and the TTL is {}: the server may end it after twice that",
                seconds(silent),
                seconds(ttl)
            );
            say(sentence, "B-01", "b01-no-fencing", "b01-fencing");
        }
    }
    if let Ending::Deleted(line) = tenure.ending {
        let sentence = format!("the key was deleted under it, in line {line}");
        say(sentence, "B-16", "b16-delete-held-key", "b16-no-delete");
    }
    if let (Ending::Released(line), Some(_)) = (&tenure.ending, write) {
        let sentence = format!("it released the lock, in line {line}, before it had stopped");
        say(sentence, "B-17", "b17-release-then-stop", "b17-stop-then-release");
    }
    let looked = |line: &&LogRecord| {
        let is_read = asks(line).iter().any(|asked| asked.is_about(&tenure.key) && asked.ask == Ask::Read);
        let url = &line.question.url;
        is_read || url.contains(&format!("/v1/session/info/{}", tenure.session)) || url.contains("/v1/session/renew/")
    };
    let until = write.map_or(belief.until, |line| line.sent);
    let looks = episode.lines.iter().filter(|line| is_by(line, tenure) && line.sent < until).filter(looked);
    let last = looks.map(|line| line.sent).max();
    if last.is_none_or(|last| last < ended) && belief.stopped != Stopped::Never || belief.stopped == Stopped::Never {
        let since = last.map_or("never".to_owned(), |last| format!("last at {}", seconds(last)));
        let sentence = format!("it did not look whether it still held the lock ({since}) before it acted");
        say(sentence, "B-11", "b11-impatient", "b11-patient");
    }
    if let Some(line) = write.filter(|line| !line.question.url.contains("cas=")) {
        let sentence = format!(
            "its write in line {} was not fenced: no `cas`, and no transaction that checks the session",
            line.number
        );
        say(sentence, "B-01", "b01-no-fencing", "b01-fencing");
    }
    omissions
}
