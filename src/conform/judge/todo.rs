//! What may happen before an answer arrives, the likely first.

use super::search::Search;
use super::state::State;
use super::steps::Candidate;
use super::subject::Subject;
use super::timers::Timers;

impl Search<'_> {
    /// The write with the lowest position that is known, and that has not been carried out.
    pub(super) fn first_of_ranked(&self, state: &State) -> Option<usize> {
        self.ahead().ranked.get(state.next_rank).map(|(_, place)| *place)
    }

    /// What has to be carried out before the next answer arrives: that request, or the write that must come first, because the
    /// answer tells of its position, or of a later one. None where that was not even sent.
    fn target(&self, state: &State) -> Option<usize> {
        let answer = &self.answers[state.at];
        let own = answer.place;
        let seen = self.ahead().index_of(own).unwrap_or(self.ahead().shown[own]);
        let next = self.ahead().ranked.get(state.next_rank);
        match next.filter(|(index, place)| *place != own && *index <= seen) {
            Some((_, place)) => Some(*place).filter(|place| *place < answer.sent),
            None => Some(own),
        }
    }

    fn add(&self, state: &State, requests: impl IntoIterator<Item = usize>, todo: &mut Vec<Candidate>) {
        let until = self.lines[self.answers[state.at].place].received;
        for request in requests {
            todo.extend(self.times(state, request, until).into_iter().map(|now| Candidate::Serve(request, now)));
            todo.extend(self.renewal_in_vain(state, request, until));
        }
    }

    /// Open requests that make a difference to the one that has to be carried out, and the others; by when they were answered.
    fn open(&self, state: &State, target: usize) -> (Vec<usize>, Vec<usize>) {
        let answer = &self.answers[state.at];
        let own = answer.place;
        let is_open = |request: usize| {
            let may_matter = !self.is_idle[request] || self.lines[request].question.method == "GET";
            let is_new = !state.is_done(request) && !self.has_elder_twin(state, request);
            request != target && request != own && may_matter && is_new
        };
        let lost = self.lost_before(state.at).filter(|lost| self.lines[*lost].question.method != "GET");
        let mut open: Vec<usize> = answer.others.iter().copied().chain(lost).filter(|other| is_open(*other)).collect();
        open.retain(|other| self.ahead().rank[*other].is_none_or(|rank| rank == state.next_rank));
        open.sort_by_key(|request| self.lines[*request].received);
        let missing: Vec<Subject> = self.missing(state);
        let is_near = |request: usize| {
            let subject = &self.subjects[request];
            subject.touches(&self.subjects[target]) || missing.iter().any(|missing| subject.touches(missing))
        };
        open.into_iter().partition(|request| is_near(*request))
    }

    /// What may happen before the next answer arrives.
    pub(super) fn todo(&self, state: &State) -> Vec<Candidate> {
        let mut todo: Vec<Candidate> = Vec::new();
        if let Some(planned) = self.planned(state) {
            self.add(state, planned, &mut todo);
            return todo;
        }
        let Some(target) = self.target(state) else { return todo };
        let is_hidden = |request: &usize| {
            self.ahead().rank[*request].is_none() && self.lines[*request].reply.is_some() && !self.is_idle[*request]
        };
        let (near, _) = self.open(state, target);
        // What is replaced at once leaves no trace.
        let (before, after): (Vec<usize>, Vec<usize>) =
            near.into_iter().partition(|request| is_hidden(request) && self.may_hide(state, *request, target));
        self.add(state, before, &mut todo);
        self.add(state, [target], &mut todo);
        let until = self.lines[self.answers[state.at].place].received;
        let Timers { wanted, others, renewals } = self.timers(state, target, until);
        todo.extend(wanted);
        self.add(state, renewals, &mut todo);
        self.add(state, after, &mut todo);
        todo.extend(others);
        todo
    }

    /// What may happen besides, and is unlikely.
    pub(super) fn rest(&self, state: &State) -> Vec<Candidate> {
        let mut todo: Vec<Candidate> = Vec::new();
        let Some(target) = self.target(state).filter(|_| self.plan().is_none()) else { return todo };
        let answer = &self.answers[state.at];
        let own = answer.place;
        let next = self.first_of_ranked(state);
        let (_, far) = self.open(state, target);
        let (first, far): (Vec<usize>, Vec<usize>) = far.into_iter().partition(|request| Some(*request) == next);
        self.add(state, first, &mut todo);
        if target != own {
            self.add(state, [own], &mut todo);
        }
        if !self.is_narrow() || self.subjects[target] == Subject::Store {
            self.add(state, far, &mut todo);
        }
        todo
    }

    /// Whether an unseen write is likely to have come just before one of the same key.
    fn may_hide(&self, state: &State, request: usize, target: usize) -> bool {
        let method = self.lines[request].question.method.as_str();
        let (Subject::Keys(keys), Subject::Keys(_)) = (&self.subjects[request], &self.subjects[target]) else {
            return false;
        };
        let [key] = &keys[..] else { return false };
        let told = state.agent.last_told();
        let Some(coming) = self.ahead().next(key, told) else { return method == "PUT" };
        let present = state.agent.shown(key);
        match method {
            // Another beginning is still to come: the deletion belongs there.
            "DELETE" => present.is_some() && coming.create > told,
            _ => present.is_some() || coming.create != coming.modify,
        }
    }
}
