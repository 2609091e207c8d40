//! Requests that changed nothing: reads, and changes that were refused. Whichever order explains a log, one that has such a
//! request at the first state that its answer fits explains it, too: so they are carried out there, and are never permuted.

use super::super::consul::Class;
use super::search::Search;
use super::state::State;
use super::steps::attempt;
use super::subject::Changes;

impl Search<'_> {
    /// Carries out the open requests that fit and change nothing: those that were sent since the answer before, and those
    /// to which the changes make a difference.
    pub(super) fn absorb(
        &self,
        state: &mut State,
        at: usize,
        changes: Option<&Changes>,
        note: &mut dyn FnMut(usize, Class),
    ) {
        let Some(answer) = self.answers.get(at) else { return };
        let seen = std::mem::replace(&mut state.seen, answer.sent);
        let early = std::mem::take(&mut state.early);
        let open = &answer.others;
        let new = if changes.is_some() { 0 } else { open.partition_point(|request| *request < seen) };
        let is_due = |request: usize| {
            self.is_idle[request]
                && !self.is_planned(request)
                && !state.is_done(request)
                && (request >= seen
                    || early.binary_search(&request).is_ok()
                    || changes.is_some_and(|changes| self.subjects[request].is_changed(changes)))
        };
        let own = Some(answer.place).filter(|own| *own >= seen || changes.is_some());
        let due: Vec<usize> = open[new..].iter().copied().chain(own).filter(|request| is_due(*request)).collect();
        let until = self.lines[answer.place].received;
        for request in due {
            if let Some(class) = self.absorbed(state, request, until) {
                state.finish(request);
                self.float(state, request);
                note(request, class);
            }
        }
        state.early.sort_unstable();
    }

    /// What a request that changes nothing is answered, if it fits.
    fn absorbed(&self, state: &mut State, request: usize, until: i64) -> Option<Class> {
        let line = &self.lines[request];
        if self.ahead().rank[request].is_some() || !state.agent.may_answer(&line.question, line.reply.as_ref()?) {
            return None;
        }
        self.instant(state, request)?;
        let has_passed = state.passed.binary_search(&request).is_ok();
        let times = self.times(state, request, until);
        if line.question.method != "GET" {
            return times.into_iter().filter(|now| !self.is_overdue(state, *now)).find_map(|now| {
                let mut after = state.clone();
                let class = attempt(&mut after, line, now, has_passed).ok()?;
                // What leaves a trace all the same is a step like others.
                (!after.agent.has_other_traces(&state.agent)).then_some(class)
            });
        }
        let told = state.agent.told();
        for now in times {
            if self.is_overdue(state, now) {
                continue;
            }
            let class = attempt(state, line, now, has_passed).ok();
            let is_new = state.agent.told() != told;
            let may_be = class.is_some() && self.may_be_told(state, &told, None) && self.are_created_in_time(state);
            if may_be && (!is_new || self.is_narrow()) {
                return class;
            }
            if is_new {
                state.agent.untell(told.clone());
            }
            if class.is_some() && !may_be {
                state.early.push(request);
                return None;
            }
        }
        None
    }
}
