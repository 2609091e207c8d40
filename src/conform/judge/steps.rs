//! What a request, or a timer, may make of a state.

use fencepost_model::ids::SessionId;
use fencepost_model::time::Instant;

use serde_json::Value;

use super::super::consul::{Class, Hint, Reply};
use super::super::log::LogRecord;
use super::is_success;
use super::search::Search;
use super::state::State;

/// Something that may happen next.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Candidate {
    /// A request is carried out, at an instant.
    Serve(usize, i64),
    /// A session is renewed in vain at an instant: since another one, its timer has fired, and its end is not applied. C-TTL-5.
    RenewInVain(usize, i64, (SessionId, i64)),
    /// The end of a session is applied, at an instant. C-TTL-4.
    Expire(SessionId, i64),
}

/// What came of a step.
#[allow(clippy::large_enum_variant, reason = "there is one at a time, and it is taken apart at once")]
pub(super) enum CandidateOutcome {
    /// Another state; whether it differs from the one before in more than in what has been carried out.
    Next { state: State, class: Option<Class>, has_effect: bool },
    /// It cannot have been: that had to be answered.
    Differs(Class, String),
    /// It cannot have been at that time.
    Never,
    /// The model does not have what is asked for.
    Beyond(String),
}

impl Search<'_> {
    pub(super) fn take(&self, state: &State, step: Candidate) -> CandidateOutcome {
        match step {
            Candidate::Serve(_, now) if self.is_overdue(state, now) => CandidateOutcome::Never,
            Candidate::Serve(request, now) => self.serve(state, request, now),
            Candidate::RenewInVain(_, now, _) if self.is_overdue(state, now) => CandidateOutcome::Never,
            Candidate::RenewInVain(request, now, (session, since)) => {
                let mut fired = state.clone();
                fired.decide_expiry(session, since);
                self.note_step(&mut fired, None, Vec::new());
                self.serve(&fired, request, now)
            }
            Candidate::Expire(session, at) => {
                let mut next = state.clone();
                self.let_pass(&mut next);
                next.agent.expire(session, Instant::at(at));
                next.expiring.retain(|(expiring, _)| *expiring != session);
                if !self.is_plausible(state, &next, None) {
                    return CandidateOutcome::Never;
                }
                self.note_step(&mut next, None, Vec::new());
                CandidateOutcome::Next { state: next, class: None, has_effect: true }
            }
        }
    }

    /// Notes what has happened, where that is kept.
    pub(super) fn note_step(&self, state: &mut State, request: Option<usize>, changed: Vec<String>) {
        if let Some(paths) = &self.paths {
            paths.note(state, request, state.reached, changed);
        }
    }

    fn serve(&self, state: &State, request: usize, now: i64) -> CandidateOutcome {
        let line = &self.lines[request];
        let rank = self.ahead().rank[request];
        if rank.is_some_and(|rank| rank != state.next_rank) {
            return CandidateOutcome::Never;
        }
        let Some(reached) = self.instant(state, request) else { return CandidateOutcome::Never };
        let mut next = state.clone();
        next.reached = reached;
        let has_passed = state.passed.binary_search(&request).is_ok();
        next.finish(request);
        if self.ends[request] {
            self.let_pass(&mut next);
        }
        let told = next.agent.told();
        let mut is_bound = rank.is_some();
        match attempt(&mut next, line, now, has_passed) {
            Ok(class) => {
                next.next_rank += usize::from(rank.is_some());
                let index = self.ahead().index_of(request);
                let is_told = index.is_none_or(|index| next.agent.tell(index));
                if !is_told || !self.may_be_told(&next, &told, index) {
                    return CandidateOutcome::Never;
                }
                // A read binds log positions, and does nothing else; a refused change of a key does nothing at all.
                let has_effect = match line.question.method.as_str() {
                    "GET" => next.agent.told() != told,
                    _ => !self.is_idle[request],
                };
                if has_effect && !self.is_plausible(state, &next, Some(request)) {
                    return CandidateOutcome::Never;
                }
                // What is shown has been changed.
                let (old, new) = (&state.agent, &next.agent);
                if rank.is_some() && !new.has_other_sessions(old) && new.changed_keys(old).is_empty() {
                    return CandidateOutcome::Never;
                }
                if self.is_likely() && has_effect {
                    match self.likely_creation(state, &next, request) {
                        Ok(None) => {}
                        Ok(Some(index)) if next.agent.tell(index) => {
                            let from = self.instants.as_ref().map_or(i64::MIN, |known| known.clock.not_before(index));
                            next.reached = next.reached.max(from);
                            is_bound = true;
                        }
                        _ => return CandidateOutcome::Never,
                    }
                }
                if !self.settle(&mut next, request, is_bound) || !self.keeps_instants(state, &mut next, request) {
                    return CandidateOutcome::Never;
                }
                if self.paths.is_some() {
                    let changed = next.agent.changed_keys(&state.agent);
                    self.note_step(&mut next, Some(request), changed);
                }
                CandidateOutcome::Next { state: next, class: Some(class), has_effect }
            }
            Err(Why::Differs(class, why)) => CandidateOutcome::Differs(class, why),
            Err(Why::Beyond(why)) => CandidateOutcome::Beyond(why),
        }
    }

    /// The instants at which a request makes a difference in a state, until one.
    pub(super) fn times(&self, state: &State, request: usize, until: i64) -> Vec<i64> {
        let line = &self.lines[request];
        let (early, late) = (line.sent, line.received.min(until));
        let has_delays = || state.agent.lock_delays().iter().any(|delay| *delay > 0);
        let depends = early < late && (state.agent.delay_count() > 0 || self.ends[request] && has_delays());
        if depends { self.instants(state, early, late) } else { vec![early] }
    }

    /// Instants that stand for all in between: both ends, and where a lock-delay that begins then is over just as an answer
    /// arrives.
    pub(super) fn instants(&self, state: &State, early: i64, late: i64) -> Vec<i64> {
        let mut instants = Vec::new();
        for delay in state.agent.lock_delays() {
            let from = self.received.partition_point(|at| *at <= early.saturating_add(delay));
            let ends = self.received[from..].iter().take_while(|at| **at < late.saturating_add(delay));
            instants.extend(ends.map(|at| at.saturating_sub(delay)));
        }
        instants.sort_unstable();
        instants.dedup();
        // The ends are the likely ones.
        instants.retain(|at| *at != early && *at != late);
        instants.splice(0..0, if early == late { vec![early] } else { vec![early, late] });
        instants
    }

    /// Whether a timer should have fired long ago. A timer that was started while a request was on its way may have been
    /// started later than is assumed.
    pub(super) fn is_overdue(&self, state: &State, now: i64) -> bool {
        let Some(lateness) = self.lateness else { return false };
        let due = state.agent.expirable(Instant::at(now)).into_iter().filter_map(|(_, since)| since);
        due.chain(state.expiring.iter().map(|(_, since)| *since)).any(|since| self.is_late(since, lateness, now))
    }

    pub(super) fn is_late(&self, since: i64, lateness: i64, now: i64) -> bool {
        since.saturating_add(lateness).saturating_add(self.slowest) < now
    }
}

/// Why a request was not answered so in a state.
pub(super) enum Why {
    /// This had to be answered.
    Differs(Class, String),
    /// The model does not have what is asked for.
    Beyond(String),
}

pub(super) fn attempt(state: &mut State, line: &LogRecord, now: i64, has_passed: bool) -> Result<Class, Why> {
    let success = line.reply.as_ref().map(is_success);
    let stale = line.reply.as_ref().map_or(0, |reply| stale(&line.question.url, reply));
    let hint = Hint { success, has_passed, stale };
    state.agent.turn_to(line.details.agent.as_deref());
    let expected = state.agent.ask(&line.question, Instant::at(now), hint);
    let expected = expected.map_err(|overflow| Why::Beyond(overflow.to_string()))?;
    // Both refuse an unknown path; one that only the agent has may change what it stores.
    if expected.class == Class::NoSuchPath && line.reply.as_ref().is_none_or(|reply| reply.status != 404) {
        return Err(Why::Beyond(format!("the model does not have {}", line.question.url)));
    }
    if let Some(reply) = &line.reply {
        state.agent.accept(&expected, reply).map_err(|why| Why::Differs(expected.class, why))?;
    }
    Ok(expected.class)
}

/// Which operations of a transaction an answer calls stale, a bit for each: it has no more than 64. C-TXN-1.
fn stale(url: &str, reply: &Reply) -> u64 {
    if !url.starts_with("/v1/txn") || reply.status == 200 {
        return 0;
    }
    let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    let errors = answer["Errors"].as_array().into_iter().flatten();
    let stale = errors.filter(|error| error["What"].as_str().is_some_and(|what| what.ends_with("index is stale")));
    stale
        .filter_map(|error| error["OpIndex"].as_u64().filter(|place| *place < 64))
        .fold(0, |all, place| all | 1 << place)
}
