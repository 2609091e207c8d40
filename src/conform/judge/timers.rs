//! Sessions that end by themselves: a timer that has fired may have done so long ago, and of many no request takes notice.
//!
//! An order that explains a log is changed here into one of a few, so that only these are looked at. Each change keeps all answers:
//!
//! * *Ends are put off.* The end of a session takes its place right before the next request that tells of it. What comes between does
//!   not: the session holds none of the keys that it is about, and the log position of the end may be any, for no later answer shows it, or
//!   no request between takes one. It may end at the same instant as before, since that may be long ago. Only the ends of others take log positions, too: where
//!   answers show that it changed a key at a lower position than what comes next, it comes first.
//! * *A renewal is in vain where it may be* (C-TTL-5), as soon as it is sent, if timers may fire as late as they like: a session whose
//!   timer has fired lives until its end is applied, like one that was renewed in time, and may end whenever that one may.
//! * *A lock is asked for before a lock-delay begins* (C-LD-9): a request that gets the lock, or is told that the session is unknown, has
//!   passed the leader at an instant without a lock-delay, and does as well if that is the last one before the next lock-delay. One that is refused is
//!   refused all the same if the leader looks at the lock-delay when the log applies it.

#[cfg(test)]
mod tests;

use fencepost_model::ids::SessionId;
use fencepost_model::time::Instant;

use super::super::consul::Class;
use super::super::log::LogRecord;
use super::ahead::Ahead;
use super::arrivals::Answer;
use super::parts::sessions;
use super::search::{Search, note};
use super::state::State;
use super::steps::{Candidate, attempt};
use super::subject::Subject;
use super::{is_success, takes_locks};

const RENEW: &str = "/v1/session/renew/";

/// Ends of sessions that may come before the next answer.
#[derive(Default)]
pub(super) struct Timers {
    /// Those of which the request tells that has to be carried out.
    pub(super) wanted: Vec<Candidate>,
    pub(super) others: Vec<Candidate>,
    /// Renewals that come first: they were answered well.
    pub(super) renewals: Vec<usize>,
}

impl Search<'_> {
    /// The ends of sessions that may come before the next answer, as far as an open request tells of them.
    pub(super) fn timers(&self, state: &State, target: usize, until: i64) -> Timers {
        let mut timers = Timers::default();
        let (mut told, mut untold) = (Vec::new(), Vec::new());
        for (session, since) in state.agent.expirable(Instant::at(until)) {
            let began = since.or_else(|| state.since(session));
            let keys = state.agent.keys_of(session);
            let name = state.agent.session_name(session);
            let has_position = !keys.is_empty() || state.at < self.last_index;
            let tells = |request: &usize| self.tells_of_end(*request, state.at, (name, &keys), has_position);
            let is_overdue =
                self.lateness.zip(began).is_some_and(|(lateness, since)| self.is_late(since, lateness, until));
            match self.undone(state).find(tells).or(is_overdue.then_some(target)) {
                Some(by) => {
                    let is_wanted = by == target || tells(&target);
                    told.push((session, began, keys, is_wanted));
                }
                None => untold.push((session, began, keys)),
            }
        }
        if !told.is_empty() && untold.iter().any(|(_, _, keys)| !keys.is_empty()) {
            // Up to here answers show what comes next.
            let ends = told.iter().filter_map(|(_, _, keys, _)| self.next_change(state, keys));
            let position = ends.chain([self.position_of(target)]).max().unwrap_or_default();
            let comes_first = |keys: &[String]| self.next_change(state, keys).is_some_and(|change| change <= position);
            let first = untold.into_iter().filter(|(_, _, keys)| comes_first(keys));
            told.extend(first.map(|(session, began, keys)| (session, began, keys, true)));
        }
        for (session, began, keys, is_wanted) in told {
            let name = state.agent.session_name(session);
            let first = self.undone(state).filter(|request| self.renews[*request] && self.names(*request, name));
            let first: Vec<usize> = first.collect();
            if !first.is_empty() {
                timers.renewals.extend(first.into_iter().filter(|request| *request != target));
                continue;
            }
            // Without keys, there is no lock-delay that begins then.
            let instants =
                if keys.is_empty() { vec![until] } else { self.instants(state, began.unwrap_or(until), until) };
            let ends = instants.into_iter().map(|at| Candidate::Expire(session, at));
            if is_wanted { timers.wanted.extend(ends) } else { timers.others.extend(ends) }
        }
        timers
    }

    /// What answers show of log positions, also where requests come one after the other.
    fn positions_shown(&self) -> &Ahead {
        if self.certain.is_empty() { self.in_order.get_or_init(|| Ahead::of(&self.lines)) } else { self.ahead() }
    }

    /// The log position that the answer to a request shows, or that of the request; 0 if neither is known.
    fn position_of(&self, request: usize) -> u64 {
        let shown = self.positions_shown();
        shown.index_of(request).unwrap_or(shown.shown[request])
    }

    /// The lowest log position at which answers show that one of these keys has changed, and not by a write that is known.
    fn next_change(&self, state: &State, keys: &[String]) -> Option<u64> {
        let (shown, told) = (self.positions_shown(), state.agent.last_told());
        let changes = keys.iter().filter_map(|key| shown.next(key, told)).map(|version| version.modify);
        changes.filter(|change| !shown.is_ranked(*change)).min()
    }

    /// Whether a session may have ended of which the answer tells that arrives next, while no other request is open.
    pub(super) fn may_end_unseen(&self, state: &State, until: i64) -> bool {
        let ends = state.agent.expirable(Instant::at(until));
        if ends.is_empty() || self.lateness.is_some() {
            return !ends.is_empty();
        }
        let Some(Answer { place, .. }) = self.answers.get(state.at) else { return false };
        ends.into_iter().any(|(session, _)| {
            let (keys, name) = (state.agent.keys_of(session), state.agent.session_name(session));
            let has_position = !keys.is_empty() || state.at < self.last_index;
            self.tells_of_end(*place, state.at, (name, &keys), has_position)
        })
    }

    /// Whether a request tells of the end of a session that holds some keys: it may have to come before that request.
    fn tells_of_end(&self, request: usize, at: usize, (name, keys): (&str, &[String]), has_position: bool) -> bool {
        let line = &self.lines[request];
        let url = &line.question.url;
        // It takes a log position, which comes after that of the end or before.
        if has_position && !self.is_idle[request] && !self.renews[request] {
            return true;
        }
        if url.starts_with("/v1/session/destroy/") {
            return false;
        }
        match &self.subjects[request] {
            Subject::Much => return true,
            Subject::Sessions => return line.question.method == "GET",
            subject if !keys.is_empty() && subject.touches(&Subject::Keys(keys.to_vec())) => return true,
            _ => {}
        }
        // A client that is told that a session has ended is told so from then on: it may as well be when that answer arrives.
        let is_refused = line.reply.as_ref().is_some_and(|reply| reply.status >= 400);
        let is_next = self.answers.get(at).is_some_and(|answer| answer.place == request);
        (url.starts_with("/v1/txn") || is_refused && is_next) && self.names(request, name)
    }

    /// Whether a request names a session.
    fn names(&self, request: usize, session: &str) -> bool {
        let line = &self.lines[request];
        let renewed = line.question.url.strip_prefix(RENEW).map(|id| id.split('?').next().unwrap_or_default());
        renewed.is_some_and(|id| id.eq_ignore_ascii_case(session))
            || sessions(line).iter().any(|id| id.eq_ignore_ascii_case(session))
    }

    /// Requests that may be carried out before the next answer arrives, or then.
    fn undone<'s>(&'s self, state: &'s State) -> impl Iterator<Item = usize> + 's {
        let (others, own) = self
            .answers
            .get(state.at)
            .map_or((&[][..], None), |Answer { place, others, .. }| (&others[..], Some(*place)));
        let open = others.iter().copied().chain(self.lost_before(state.at));
        open.filter(|request| !state.is_done(*request)).chain(own)
    }

    /// Carries out the open renewals that may be in vain.
    pub(super) fn renew_in_vain(&self, state: &mut State, classes: &mut [Option<Class>]) {
        if self.lateness.is_some() {
            return;
        }
        let Some(Answer { place, others, .. }) = self.answers.get(state.at) else { return };
        let (until, own) = (self.lines[*place].received, *place);
        for request in others.iter().copied().chain([own]).filter(|request| self.renews[*request]) {
            if state.is_done(request) {
                continue;
            }
            let ends = state.agent.expirable(Instant::at(until.min(self.lines[request].received)));
            let is_renewed = |(session, _): &(SessionId, _)| self.names(request, state.agent.session_name(*session));
            let Some((session, since)) = ends.into_iter().find(is_renewed) else { continue };
            let mut after = state.clone();
            if let Some(since) = since {
                after.decide_expiry(session, since);
                self.note_step(&mut after, None, Vec::new());
            }
            let line = &self.lines[request];
            if let Ok(class) = attempt(&mut after, line, line.sent, false) {
                after.finish(request);
                *state = after;
                self.float(state, request);
                note(classes, Some(request), Some(class));
            }
        }
    }

    /// The same as a step that is taken or not, where a timer fires in time.
    pub(super) fn renewal_in_vain(&self, state: &State, request: usize, until: i64) -> Option<Candidate> {
        if !self.renews[request] || self.lateness.is_none() {
            return None;
        }
        let line = &self.lines[request];
        let now = until.min(line.received);
        let ends = state.agent.expirable(Instant::at(now));
        let (session, since) =
            ends.into_iter().find(|(session, _)| self.names(request, state.agent.session_name(*session)))?;
        Some(Candidate::RenewInVain(request, line.sent, (session, since?)))
    }

    /// C-LD-9: before a lock-delay may begin, the leader lets all open requests pass that it can, and that need it.
    pub(super) fn let_pass(&self, state: &mut State) {
        if state.agent.lock_delays().iter().all(|delay| *delay <= 0) {
            return;
        }
        let Some(answer) = self.answers.get(state.at) else { return };
        let until = self.lines[answer.place].received;
        let passing: Vec<usize> = self
            .undone(state)
            .filter(|request| {
                let line = &self.lines[*request];
                let now = Instant::at(line.received.min(until));
                !state.is_done(*request)
                    && needs_to_pass(line)
                    && !state.passed.contains(request)
                    && state.agent.lets_pass(&line.question, now)
            })
            .collect();
        state.passed.extend(passing);
        state.passed.sort_unstable();
    }
}

impl State {
    /// Since when the timer of a session may have fired that has.
    fn since(&self, session: SessionId) -> Option<i64> {
        self.expiring.iter().find(|(expiring, _)| *expiring == session).map(|(_, since)| *since)
    }
}

/// Whether a session was renewed, by the answer.
pub(super) fn renews(line: &LogRecord) -> bool {
    line.question.method == "PUT"
        && line.question.url.starts_with(RENEW)
        && line.reply.as_ref().is_some_and(|reply| reply.status == 200)
}

/// How many answers have arrived with the last that shows the index of the sessions.
pub(super) fn last_index(lines: &[LogRecord], answers: &[Answer]) -> usize {
    let shows = |answer: &Answer| {
        let LogRecord { question, reply, .. } = &lines[answer.place];
        let is_read = question.method == "GET" && question.url.starts_with("/v1/session/");
        is_read && reply.as_ref().is_some_and(|reply| reply.index.is_some())
    };
    answers.iter().rposition(shows).map_or(0, |last| last + 1)
}

/// Whether a request has been carried out by the log, or may have been, and cares for lock-delays: one that was refused may as well not
/// have passed.
fn needs_to_pass(line: &LogRecord) -> bool {
    let Some(reply) = &line.reply else { return takes_locks(&line.question) };
    let is_delayed = || String::from_utf8_lossy(&reply.body).contains("due to lock delay");
    takes_locks(&line.question) && (is_success(reply) || reply.status >= 400 && !is_delayed())
}
