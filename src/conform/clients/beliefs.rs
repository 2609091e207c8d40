//! How long a client took itself for the holder: from the answer to its acquire until it gave the lock back, was told that it is
//! lost, or said that it has left.

use super::super::log::{Episode, LogRecord, Report};
use super::asks::{Ask, asks, holder};
use super::slots;
use super::tenures::Tenure;

/// A client takes itself for the holder.
#[derive(Clone, PartialEq, Debug)]
pub struct BeliefInterval {
    /// Since when, in nanoseconds.
    pub from: i64,
    /// Until when; for a client that never stopped, the last thing that it did.
    pub until: i64,
    /// The reason why the belief ended.
    pub stopped: Stopped,
}

/// Why a client took itself for the holder no longer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// It gave the lock back, in this line.
    GaveBack(usize),
    /// This line told it that the lock is lost.
    WasTold(usize),
    /// It said so, in this line.
    Said(usize),
    /// Nothing tells that it stopped.
    Never,
}

/// What the client of a tenure believed.
pub(super) fn belief(episode: &Episode, tenure: &Tenure) -> BeliefInterval {
    let is_slot = tenure.limit.is_some();
    let mine = |line: &&LogRecord| is_by(line, tenure) || is_slot && slots::gives_back(line, tenure);
    let said = |is_inside: bool| {
        let is_about = |report: &&Report| report.key.as_ref().is_none_or(|key| *key == tenure.key);
        let mut reports = episode.reports.iter().filter(is_about).filter(|report| report.at >= tenure.began.0);
        reports.find(|report| report.is_inside == is_inside && Some(&report.client) == tenure.client.as_ref())
    };
    let held = tenure.began.1;
    let destroy = format!("/v1/session/destroy/{}", tenure.session);
    let stops = episode.lines.iter().filter(mine).filter(|line| line.received > held).filter_map(|line| {
        if line.question.url == destroy {
            return Some((line.sent, Stopped::GaveBack(line.number)));
        }
        if tells_loss(line, tenure) {
            return Some((line.received, Stopped::WasTold(line.number)));
        }
        let release = Ask::Release(tenure.session.clone());
        let releases = || asks(line).iter().any(|asked| asked.is_about(&tenure.key) && asked.ask == release);
        let gives_back = if is_slot { slots::gives_back(line, tenure) } else { releases() };
        gives_back.then_some((line.sent, Stopped::GaveBack(line.number)))
    });
    let left = said(false).map(|report| (report.at, Stopped::Said(report.number)));
    let stop = stops.chain(left).min_by_key(|(at, _)| *at);
    // A client that says later that it is inside does not speak of this tenure.
    let is_of_it = |report: &&Report| stop.as_ref().is_none_or(|(at, _)| report.at <= *at);
    let from = said(true).filter(is_of_it).map_or(held, |report| report.at.max(held));
    if let Some((until, stopped)) = stop {
        return BeliefInterval { from, until: until.max(from), stopped };
    }
    let ends =
        episode.lines.iter().filter(mine).map(|line| if line.received == i64::MAX { line.sent } else { line.received });
    BeliefInterval { from, until: ends.max().unwrap_or(from).max(from), stopped: Stopped::Never }
}

/// Whether a request is one of the client that holds a tenure: by its name, or by the session that it names.
pub(super) fn is_by(line: &LogRecord, tenure: &Tenure) -> bool {
    match (&line.client, &tenure.client) {
        (Some(one), Some(other)) => one == other,
        _ => {
            let body = String::from_utf8_lossy(&line.question.body);
            line.question.url.contains(&tenure.session) || body.contains(&tenure.session)
        }
    }
}

/// Whether an answer tells the client that its lock is lost.
fn tells_loss(line: &LogRecord, tenure: &Tenure) -> bool {
    let Some(reply) = &line.reply else { return false };
    let path = line.question.url.split('?').next().unwrap_or_default();
    if path.strip_prefix("/v1/session/renew/") == Some(&tenure.session) {
        return reply.status == 404;
    }
    if path.strip_prefix("/v1/session/info/") == Some(&tenure.session) {
        return reply.body.trim_ascii() == b"[]";
    }
    if tenure.limit.is_some() {
        return line.sent >= tenure.began.1 && slots::is_shown_over(line, tenure);
    }
    line.sent >= tenure.began.1
        && asks(line).iter().any(|asked| asked.is_about(&tenure.key) && asked.ask == Ask::Read)
        && holder(line, &tenure.key).is_some_and(|holder| holder.as_ref() != Some(&tenure.session))
}
