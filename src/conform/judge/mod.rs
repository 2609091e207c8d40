//! Whether a log is possible: whether the model could have given those answers, in some order of requests that overlap, with
//! timers that fire at any time after they may, and with log entries that are applied some time after the leader looked at
//! the lock-delay (C-LD-9).
//!
//! ```text
//! search    depth first, with a memory of states (Wing & Gong; Lowe)    state    what the server may be in, as a fingerprint
//! steps     what a request or a timer may make of a state               todo     what is tried, and in which order
//! absorb    requests that changed nothing                               ahead    what later answers tell of earlier requests
//! arrivals  answers as they arrived                                     subject  what a request is about
//! writes    what writes leave behind                                    in_time  reads that wait
//! blanks    log positions without a known writer                    failures nodes that fail
//! plan      parts explained alone, each position at an instant      parts    what has nothing to do with each other
//! positions who wrote the log positions that answers show           instants when the requests of a part are carried out
//! path      the order in which requests were carried out
//! sessions  the order of requests about sessions                    twins    writes that do the same
//! passes    the planned order, the likely ones, all                 clock    when the log has got to a position
//! timers    sessions that end by themselves
//! plausible whether what happens is what later answers show
//! backbone  an order laid along the log positions               follow   whether an order explains a log
//! ```

mod absorb;
mod ahead;
mod arrivals;
mod backbone;
mod blanks;
mod clock;
mod failures;
mod follow;
mod in_time;
mod instants;
mod parts;
mod passes;
mod path;
mod plan;
mod plausible;
mod positions;
#[cfg(test)]
mod runner;
mod search;
mod sessions;
mod state;
mod steps;
mod subject;
mod timers;
mod todo;
mod twins;
mod writes;

use std::borrow::Cow;

use fencepost_model::mutation::Mutation;

use self::search::Search;
use self::subject::Subject;
use super::consul::{HttpRequest, Reply};
use super::incomplete;
use super::log::{Episode, LogRecord};
use super::side_by_side::side_by_side;
use super::uncertain::{is_beside, is_complete};
use super::verdict::{Objection, Possible};

/// How much a judgement may remember before it is given up.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// States that are known to lead nowhere.
    pub states: usize,
    /// Choices that may still be taken back; older ones are kept as they are.
    pub choices: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { states: 1_000_000, choices: 20_000 }
    }
}

/// Answers that do not say whether the request was carried out, or will be. C-CON-5, C-CON-6, C-CON-8.
const IN_DOUBT: [&str; 4] = ["No cluster leader", "rpc error", "leadership lost", "EOF"];

/// What a server says that could not put a request into its log in time: it was not carried out. C-CON-5.
const NOT_QUEUED: &str = "timed out enqueuing operation";

/// What a proxy says when it has no answer from the server, or the client does not wait for it.
const GAVE_UP: [u16; 5] = [408, 499, 502, 503, 504];

/// Judges a log, of a model with a fault if one is given.
///
/// # Errors
/// It could not have been, or that is not known.
pub fn judge(episodes: &[Episode], mutation: Option<Mutation>) -> Result<Possible, Objection> {
    judge_until(episodes, mutation, Limits::default(), &|| false)
}

/// Judges a log as [`judge`] does, within limits, and until `is_over` stops it: the caller reads the clock. Episodes are judged side by
/// side, on all cores.
///
/// # Errors
/// It could not have been, or that is not known: also if it was stopped.
pub fn judge_until(
    episodes: &[Episode],
    mutation: Option<Mutation>,
    limits: Limits,
    is_over: &(dyn Fn() -> bool + Sync),
) -> Result<Possible, Objection> {
    let judged = side_by_side(episodes, |episode| judge_one(episode, mutation, limits, is_over))?;
    Ok(judged.into_iter().fold(Possible::default(), Possible::and))
}

fn judge_one(
    episode: &Episode,
    mutation: Option<Mutation>,
    limits: Limits,
    is_over: &(dyn Fn() -> bool + Sync),
) -> Result<Possible, Objection> {
    let skipped = episode.lines.iter().filter(|line| is_beside(line)).count();
    let mut possible = Possible { skipped, ..Possible::default() };
    if !is_complete(episode) {
        incomplete::judge(episode, &mut possible)?;
        return Ok(possible);
    }
    let whole = failures::carried_out(episode);
    let episode = whole.as_ref().unwrap_or(episode);
    let judged = Search::new(episode, mutation, limits, is_over).run(episode, &mut possible);
    if matches!(judged, Err(Objection::Undecided { .. })) {
        // What is certain may be impossible all the same.
        incomplete::judge(episode, &mut Possible::default())?;
    }
    judged?;
    Ok(possible)
}

/// A log's lines, without the answers that say nothing, and without requests that were not carried out.
fn certain(lines: &[LogRecord]) -> Cow<'_, [LogRecord]> {
    let is_out = |line: &LogRecord| is_beside(line) || line.reply.as_ref().is_some_and(is_not_queued);
    if !lines.iter().any(|line| is_out(line) || line.reply.as_ref().is_some_and(is_in_doubt)) {
        return Cow::Borrowed(lines);
    }
    let mut lines: Vec<LogRecord> = lines.iter().filter(|line| !is_out(line)).cloned().collect();
    for line in lines.iter_mut().filter(|line| line.reply.as_ref().is_some_and(is_in_doubt)) {
        (line.reply, line.received) = (None, i64::MAX);
    }
    Cow::Owned(lines)
}

pub(super) fn is_success(reply: &Reply) -> bool {
    reply.status == 200 && reply.body.trim_ascii() != b"false"
}

/// Whether an answer does not say if the request was carried out: a server or a proxy gave up.
pub(super) fn is_in_doubt(reply: &Reply) -> bool {
    let is_doubt = || {
        let text = String::from_utf8_lossy(&reply.body);
        IN_DOUBT.iter().any(|doubt| text.contains(doubt))
    };
    GAVE_UP.contains(&reply.status) || reply.status == 500 && is_doubt()
}

/// Whether an answer says that the request never got into the log of the servers: it took too long to queue up for it. One that was passed
/// on by another server is in doubt (C-CON-5), since its text begins with `rpc error`.
pub(super) fn is_not_queued(reply: &Reply) -> bool {
    reply.status == 500 && reply.body.trim_ascii() == NOT_QUEUED.as_bytes()
}

/// Whether a request has changed nothing, by its answer: it was a read, or it was refused. C-LD-8: a transaction that was
/// refused may leave a lock-delay behind, unless it is about keys only.
fn is_idle(line: &LogRecord) -> bool {
    let Some(reply) = &line.reply else { return false };
    let url = &line.question.url;
    let is_refused = reply.status >= 400 || reply.body.trim_ascii() == b"false";
    match line.question.method.as_str() {
        "GET" => true,
        _ if url.starts_with("/v1/txn") => is_refused && matches!(Subject::of(&line.question), Subject::Keys(_)),
        _ => is_refused && (url.starts_with("/v1/kv/") || url.starts_with("/v1/session/")),
    }
}

fn ends_sessions(question: &HttpRequest) -> bool {
    ["/v1/session/destroy/", "/v1/txn", "/v1/catalog/"].iter().any(|start| question.url.starts_with(start))
}

fn takes_locks(question: &HttpRequest) -> bool {
    question.method == "PUT" && (question.url.contains("acquire=") || question.url.starts_with("/v1/txn"))
}
