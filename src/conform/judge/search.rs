//! The search for an order that explains a log: depth first, with a memory of states that lead nowhere.
//!
//! An answer that changes nothing is taken where it arrives, or where it would be lost otherwise, and never elsewhere: whatever
//! order explains the log, one that has it there does, too. So reads are not permuted, nor are requests that were refused.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use fencepost_model::mutation::Mutation;
use fencepost_model::time::Instant;

use super::super::consul::{Agent, Class, Options};
use super::super::log::{Episode, Line};
use super::super::verdict::{Impossible, Objection, Possible};
use super::order::{Subject, changes, ranks};
use super::state::State;
use super::steps::{Outcome, Step, answered_too_early, answered_too_late, attempt, slept_through};
use super::{Limits, certain, ends_sessions, takes_locks};

/// After how many answers in a row that came one by one a state is tidied up; a large one less often.
const TIDY_EVERY: usize = 64;

/// After how many steps it is asked whether it is enough.
const LOOK_EVERY: usize = 256;

pub(super) struct Search<'a> {
    is_over: &'a dyn Fn() -> bool,
    limits: Limits,
    pub(super) lines: Vec<Line>,
    pub(super) lateness: Option<i64>,
    /// The longest that a request took that starts a timer.
    pub(super) slowest: i64,
    /// When answers arrived, in order.
    pub(super) received: Vec<i64>,
    subjects: Vec<Subject>,
    /// Which requests may end sessions.
    pub(super) ends: Vec<bool>,
    pub(super) ranks: Vec<Option<u64>>,
    /// Whether only the likely orders are looked at: what is told later of log positions is believed, and what makes no
    /// difference to an answer waits for its own.
    pub(super) is_narrow: Cell<bool>,
    /// Which log positions writes gave to keys, and when they were answered.
    changes: BTreeMap<String, Vec<(u64, i64)>>,
    /// Answers, as they arrived.
    answers: Vec<Answer>,
    /// Requests without an answer, with how many answers had arrived when each was sent.
    lost: Vec<(usize, usize)>,
    start: State,
}

/// The answer to a request arrives: by now it has been carried out.
struct Answer {
    place: usize,
    /// Other requests that have been sent, and are answered later.
    others: Vec<usize>,
    /// When the oldest of all these was sent.
    oldest: i64,
}

/// When an open request is tried, beside the one whose answer arrives.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    /// Its log position is told to be lower.
    Before,
    /// It may make a difference.
    Near,
    /// It makes none but to log positions.
    Far,
}

/// A choice that may be taken back.
struct Choice {
    /// Before which answer.
    at: usize,
    state: State,
    /// How many steps have been tried.
    tried: usize,
}

/// Why the search has not got further than to an answer.
#[derive(Default)]
struct Obstacle {
    at: usize,
    why: Option<(Class, String)>,
    beyond: Option<String>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        episode: &Episode,
        mutation: Option<Mutation>,
        limits: Limits,
        is_over: &'a dyn Fn() -> bool,
    ) -> Self {
        let lines = certain(&episode.lines);
        let mut agent = Agent::new(&episode.node, Options { mutation, ..episode.options });
        agent.meet(lines.iter().map(|line| &line.question));
        let (answers, lost) = answers(&lines);
        let is_concurrent = answers.iter().any(|answer| !answer.others.is_empty());
        let ranks = if is_concurrent { ranks(&lines) } else { vec![None; lines.len()] };
        let starts_timer = |line: &&Line| {
            let url = &line.question.url;
            line.reply.is_some() && (url.starts_with("/v1/session/create") || url.starts_with("/v1/session/renew/"))
        };
        let slowest = lines.iter().filter(starts_timer).map(|line| line.received - line.sent).max().unwrap_or(0);
        let mut received: Vec<i64> = lines.iter().map(|line| line.received).filter(|at| *at < i64::MAX).collect();
        received.sort_unstable();
        Search {
            is_over,
            limits,
            lateness: episode.lateness,
            slowest,
            received,
            subjects: lines.iter().map(Subject::of_line).collect(),
            ends: lines.iter().map(|line| ends_sessions(&line.question)).collect(),
            changes: changes(&lines, &ranks),
            ranks,
            is_narrow: Cell::new(is_concurrent),
            answers,
            lost,
            start: State::new(agent),
            lines,
        }
    }

    /// Looks for an order that explains every answer: among the likely ones, then among all.
    pub(super) fn run(self, possible: &mut Possible) -> Result<(), Objection> {
        for Answer { place, .. } in &self.answers {
            self.must_be_in_time(&self.lines[*place])?;
        }
        if self.is_narrow.get() {
            let narrow = Limits { states: self.limits.states / 4, ..self.limits };
            match self.search(narrow, possible) {
                Ok(()) => return Ok(()),
                // What the model does not have, and who says that it is enough, are no matter of order.
                Err(objection) if (self.is_over)() => return Err(objection),
                Err(_) => self.is_narrow.set(false),
            }
        }
        self.search(self.limits, possible)
    }

    fn search(&self, limits: Limits, possible: &mut Possible) -> Result<(), Objection> {
        let mut choices = VecDeque::from([Choice { at: 0, state: self.start.clone(), tried: 0 }]);
        let mut known: BTreeSet<(usize, u128)> = BTreeSet::new();
        let mut classes: Vec<Option<Class>> = vec![None; self.lines.len()];
        let mut obstacle = Obstacle::default();
        let mut has_dropped = false;
        let mut steps = 0_usize;
        while let Some(mut choice) = choices.pop_back() {
            if choice.tried == 0 && !self.advance(&mut choice, &mut classes, &mut obstacle, &mut steps)? {
                continue;
            }
            let Some(answer) = self.answers.get(choice.at) else {
                return self.explained(&classes, known.len(), possible);
            };
            let line = self.lines[answer.place].number;
            if choice.tried == 0 {
                choice.state.agent.settle(Instant::at(answer.oldest));
                if !known.insert((choice.at, choice.state.fingerprint())) {
                    continue;
                }
            }
            if known.len() > limits.states {
                let why = format!("more than {} states were looked at", limits.states);
                return Err(Objection::Undecided { line: self.stuck(obstacle.at), why });
            }
            let todo = self.todo(&choice);
            let Some(step) = todo.get(choice.tried).copied() else { continue };
            steps += 1;
            if steps.is_multiple_of(LOOK_EVERY) && (self.is_over)() {
                let why = "the judgement was stopped".to_owned();
                return Err(Objection::Undecided { line: self.stuck(obstacle.at), why });
            }
            let place = answer.place;
            let outcome = self.take(&choice.state, step);
            let of = if let Step::Serve(request, _) = step { Some(request) } else { None };
            match outcome {
                Outcome::Next { state, class, has_effect: false } if of != Some(place) => {
                    // It changes nothing: it may as well have been carried out.
                    note(&mut classes, of, class);
                    choice.state = state;
                    let is_its = |step: &Step| matches!(step, Step::Serve(request, _) if Some(*request) == of);
                    choice.tried = todo.iter().position(is_its).unwrap_or(choice.tried);
                    choices.push_back(choice);
                }
                Outcome::Next { state, class, has_effect } => {
                    note(&mut classes, of, class);
                    let mut next = Choice { at: choice.at, state, tried: 0 };
                    let is_write = |request: &usize| has_effect && self.lines[*request].question.method != "GET";
                    let later = of.filter(is_write).and_then(|request| {
                        let states = (&mut choice.state, &mut next.state);
                        self.after_reads(states, step, request, answer)
                    });
                    if has_effect {
                        choice.tried += 1;
                        choices.push_back(choice);
                    }
                    let at = next.at;
                    choices.push_back(next);
                    choices.extend(later.map(|state| Choice { at, state, tried: 0 }));
                    if choices.len() > limits.choices {
                        choices.pop_front();
                        has_dropped = true;
                    }
                }
                other => {
                    if let (Outcome::Beyond(why), true) = (&other, of == Some(place)) {
                        return Err(Objection::Undecided { line, why: why.clone() });
                    }
                    obstacle.meet(choice.at, other, of == Some(place));
                    choice.tried += 1;
                    choices.push_back(choice);
                }
            }
        }
        let line = self.stuck(obstacle.at);
        if let Some(why) = obstacle.beyond {
            return Err(Objection::Undecided { line, why });
        }
        if has_dropped {
            let why = format!("more than {} choices would have to be taken back", limits.choices);
            return Err(Objection::Undecided { line, why });
        }
        let (rule, why) = match obstacle.why {
            Some((class, why)) => (Some((class.rule(), class.text())), why),
            None => (None, "no order of the requests explains it".to_owned()),
        };
        Err(Objection::Impossible(Impossible { line, rule, why }))
    }

    /// Passes all answers that leave no choice. False: one of them cannot have been.
    fn advance(
        &self,
        choice: &mut Choice,
        classes: &mut [Option<Class>],
        obstacle: &mut Obstacle,
        steps: &mut usize,
    ) -> Result<bool, Objection> {
        let mut untidy = 0;
        while let Some(Answer { place, others, .. }) = self.answers.get(choice.at) {
            obstacle.reach(choice.at);
            let state = &mut choice.state;
            if state.forget(*place) {
                choice.at += 1;
                continue;
            }
            let line = &self.lines[*place];
            let is_alone = others.is_empty() && self.lost_before(choice.at).all(|lost| state.is_done(lost));
            if !is_alone || !self.is_timeless(state, line) {
                break;
            }
            let has_passed = state.passed.binary_search(place).is_ok();
            match attempt(state, line, line.sent, has_passed) {
                Ok(class) => note(classes, Some(*place), Some(class)),
                Err(super::steps::Why::Differs(class, why)) => {
                    obstacle.meet(choice.at, Outcome::Differs(class, why), true);
                    return Ok(false);
                }
                Err(super::steps::Why::Beyond(why)) => {
                    return Err(Objection::Undecided { line: line.number, why });
                }
            }
            state.passed.retain(|passed| passed != place);
            choice.at += 1;
            untidy += 1;
            *steps += 1;
            if untidy >= TIDY_EVERY.max(state.agent.told_count()) {
                untidy = 0;
                state.agent.settle(Instant::at(line.received));
                if (self.is_over)() {
                    let why = "the judgement was stopped".to_owned();
                    return Err(Objection::Undecided { line: line.number, why });
                }
            }
        }
        obstacle.reach(choice.at);
        Ok(true)
    }

    /// Whether it makes no difference when a request is carried out, and no timer may have fired by then.
    fn is_timeless(&self, state: &State, line: &Line) -> bool {
        state.doomed.is_empty()
            && state.agent.expirable(Instant::at(line.received)).is_empty()
            && (line.sent == line.received || state.agent.delay_count() == 0 && !ends_sessions(&line.question))
    }

    /// What may happen before an answer arrives, the likely first; at least as much as is to be tried next.
    fn todo(&self, choice: &Choice) -> Vec<Step> {
        let (answer, state) = (&self.answers[choice.at], &choice.state);
        let (place, until) = (answer.place, self.lines[answer.place].received);
        let open = answer.others.iter().copied().chain(self.lost_before(choice.at));
        let mut waiting: Vec<usize> = open.filter(|request| !state.is_done(*request)).collect();
        // Writes whose log position is told to be lower, then this one, then what may make a difference to it.
        let turn = |request: usize| match (self.ranks[request], self.ranks[place]) {
            (Some(rank), Some(mine)) if rank % 2 == 0 && rank < mine => Turn::Before,
            (Some(rank), Some(mine)) if rank > mine => Turn::Far,
            _ if self.subjects[request].touches(&self.subjects[place]) => Turn::Near,
            _ => Turn::Far,
        };
        let mut todo = Vec::new();
        let serve = |request: usize, todo: &mut Vec<Step>| {
            todo.extend(self.times(state, request, until).into_iter().map(|now| Step::Serve(request, now)));
        };
        let serve_all = |wanted: Turn, todo: &mut Vec<Step>| {
            let mut requests: Vec<usize> = waiting.iter().copied().filter(|request| turn(*request) == wanted).collect();
            let by_rank = |request: usize| self.ranks[request].filter(|_| wanted == Turn::Before);
            requests.sort_by_key(|request| (by_rank(*request), self.lines[*request].received));
            requests.into_iter().for_each(|request| serve(request, todo));
            todo.len() > choice.tried
        };
        if serve_all(Turn::Before, &mut todo) {
            return todo;
        }
        serve(place, &mut todo);
        if todo.len() > choice.tried || serve_all(Turn::Near, &mut todo) {
            return todo;
        }
        let timers = self.timers(state, until);
        let may_expire = !timers.is_empty();
        todo.extend(timers);
        if todo.len() > choice.tried || !self.is_narrow.get() && serve_all(Turn::Far, &mut todo) {
            return todo;
        }
        // C-LD-9: while a lock-delay may begin, the leader may have let a request pass.
        waiting.push(place);
        let endings = waiting.iter().filter(|request| self.ends[**request]).count();
        for request in waiting.iter().copied().filter(|request| takes_locks(&self.lines[*request].question)) {
            let is_new = state.passed.binary_search(&request).is_err();
            if is_new && (may_expire || endings > usize::from(self.ends[request])) {
                todo.extend(self.times(state, request, until).into_iter().map(|now| Step::Pass(request, now)));
            }
        }
        todo
    }

    /// Open reads of what is about to be written. Those that fit and tell nothing new are carried out in both states, before
    /// the write and after it. If others are told to be older than the write, what comes of it after them is returned, too.
    fn after_reads(
        &self,
        (before, after): (&mut State, &mut State),
        step: Step,
        write: usize,
        answer: &Answer,
    ) -> Option<State> {
        let until = self.lines[answer.place].received;
        let mut older = Vec::new();
        for request in answer.others.iter().copied() {
            let is_read = self.lines[request].question.method == "GET" && !before.is_done(request);
            if request == write || !is_read || !self.subjects[request].touches(&self.subjects[write]) {
                continue;
            }
            let is_older = match (self.ranks[request], self.ranks[write]) {
                (Some(seen), Some(mine)) if seen > mine => continue,
                (Some(_), Some(_)) => true,
                _ => false,
            };
            for now in self.times(before, request, until) {
                match self.take(before, Step::Serve(request, now)) {
                    Outcome::Next { has_effect: false, .. } => {
                        before.finish(request);
                        after.finish(request);
                        break;
                    }
                    Outcome::Next { .. } if is_older => {
                        older.push(Step::Serve(request, now));
                        break;
                    }
                    _ => {}
                }
            }
        }
        let mut state: Option<State> = None;
        for read in older {
            if let Outcome::Next { state: next, .. } = self.take(state.as_ref().unwrap_or(before), read) {
                state = Some(next);
            }
        }
        match self.take(&state?, step) {
            Outcome::Next { state, .. } => Some(state),
            _ => None,
        }
    }

    fn lost_before(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        self.lost.iter().take_while(move |(_, sent)| *sent <= at).map(|(place, _)| *place)
    }

    /// The line of the answer that the search has not got past.
    fn stuck(&self, at: usize) -> usize {
        self.answers.get(at).map_or(0, |answer| self.lines[answer.place].number)
    }

    fn must_be_in_time(&self, line: &Line) -> Result<(), Objection> {
        let waits = "a read waits until its index is passed, or its time is up";
        let early = answered_too_early(line).map(|why| ("C-BLK-1", waits, why));
        let late = || {
            let why = answered_too_late(line, self.lateness)?;
            Some(("C-BLK-2", "a read that waits is answered when its time is up", why))
        };
        let slept = || {
            let Subject::Key(key) = Subject::of(&line.question) else { return None };
            let why = slept_through(line, self.changes.get(&key)?, self.lateness)?;
            Some(("C-BLK-5", "a read that waits is answered when its key changes", why))
        };
        let Some((rule, says, why)) = early.or_else(late).or_else(slept) else { return Ok(()) };
        Err(Objection::Impossible(Impossible { line: line.number, rule: Some((rule, says)), why }))
    }

    fn explained(&self, classes: &[Option<Class>], states: usize, possible: &mut Possible) -> Result<(), Objection> {
        for Answer { place, .. } in &self.answers {
            classes[*place].into_iter().for_each(|class| possible.tally.count(class));
        }
        possible.lines += self.answers.len();
        possible.states += states;
        Ok(())
    }
}

impl Obstacle {
    /// The search has got to an answer.
    fn reach(&mut self, at: usize) {
        if at > self.at {
            *self = Obstacle { at, ..Obstacle::default() };
        }
    }

    /// Something did not fit there.
    fn meet(&mut self, at: usize, outcome: Outcome, is_its_own: bool) {
        if at != self.at {
            return;
        }
        match outcome {
            Outcome::Differs(class, why) if is_its_own => self.why = self.why.take().or(Some((class, why))),
            Outcome::Beyond(why) => self.beyond = Some(why),
            _ => {}
        }
    }
}

fn note(classes: &mut [Option<Class>], request: Option<usize>, class: Option<Class>) {
    if let Some(request) = request {
        classes[request] = class.or(classes[request]);
    }
}

/// Answers as they arrived, and requests without one.
fn answers(lines: &[Line]) -> (Vec<Answer>, Vec<(usize, usize)>) {
    let mut events: Vec<(i64, bool, usize)> = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        events.push((line.sent, false, place));
        if line.reply.is_some() {
            events.push((line.received, true, place));
        }
    }
    events.sort_unstable();
    let (mut answers, mut lost, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let mut lost_since = i64::MAX;
    for (at, is_answer, place) in events {
        if !is_answer {
            match lines[place].reply {
                Some(_) => open.push(place),
                None => {
                    lost_since = lost_since.min(at);
                    lost.push((place, answers.len()));
                }
            }
            continue;
        }
        let oldest = open.iter().map(|open: &usize| lines[*open].sent).min().unwrap_or(at).min(lost_since);
        open.retain(|open| *open != place);
        answers.push(Answer { place, others: open.clone(), oldest });
    }
    (answers, lost)
}
