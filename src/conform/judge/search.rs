//! The search for an order that explains a log: depth first, with a memory of states that lead nowhere.
//!
//! Answers are passed as they arrived. A request is carried out when its answer arrives, or before another one that needs it
//! (Wing & Gong; Lowe). It is not permuted if it changes nothing (see `absorb`), nor if answers tell its place (see `ahead`).

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::collections::{BTreeSet, VecDeque};

use fencepost_model::mutation::Mutation;
use fencepost_model::time::Instant;

use super::super::consul::{Agent, Class, Options};
use super::super::log::{Episode, LogRecord};
use super::super::tally::AnswerClass;
use super::super::verdict::{Impossible, Objection};
use super::ahead::Ahead;
use super::arrivals::{Answer, arrivals};
use super::instants::Instants;
use super::passes::Breadth;
use super::path::Paths;
use super::plan::Plan;
use super::state::State;
use super::steps::{Candidate, CandidateOutcome, Why, attempt};
use super::subject::{Changes, Subject};
use super::timers::{last_index, renews};
use super::twins::Twins;
use super::{Limits, certain, ends_sessions, is_idle};

/// After how many answers in a row that came one by one a state is tidied up; a large one less often.
const TIDY_EVERY: usize = 64;

/// After how many steps it is asked whether it is enough.
const LOOK_EVERY: usize = 256;

pub(super) struct Search<'a> {
    pub(super) is_over: &'a (dyn Fn() -> bool + Sync),
    pub(super) mutation: Option<Mutation>,
    pub(super) limits: Limits,
    pub(super) lines: Cow<'a, [LogRecord]>,
    pub(super) lateness: Option<i64>,
    /// The longest that a request took that starts a timer.
    pub(super) slowest: i64,
    /// When answers arrived, in order.
    pub(super) received: Vec<i64>,
    pub(super) subjects: Vec<Subject>,
    /// Which requests may end sessions.
    pub(super) ends: Vec<bool>,
    /// Which requests have changed nothing, by their answers.
    pub(super) is_idle: Vec<bool>,
    /// Which requests have renewed a session, by their answers.
    pub(super) renews: Vec<bool>,
    /// How many answers have arrived with the last that shows the index of the sessions.
    pub(super) last_index: usize,
    pub(super) twins: Twins,
    pub(super) certain: Ahead,
    pub(super) likely: Ahead,
    /// The same as the certain one where no requests are open at the same time: it is looked for only if it is needed.
    pub(super) in_order: OnceCell<Ahead>,
    pub(super) plan: OnceCell<Plan>,
    /// When requests were carried out, in a part of a log.
    pub(super) instants: Option<Instants>,
    /// In which order requests were carried out, if that is asked for.
    pub(super) paths: Option<Paths>,
    /// By request: the log position at which what it reads was changed last.
    pub(super) exact: Vec<Option<u64>>,
    pub(super) breadth: Cell<Breadth>,
    /// Answers, as they arrived.
    pub(super) answers: Vec<Answer>,
    /// By request: the place of its answer among these.
    pub(super) arrival: Vec<usize>,
    /// Requests without an answer, with how many answers had arrived when each was sent.
    pub(super) lost: Vec<(usize, usize)>,
    start: State,
}

/// A choice that may be taken back.
struct Choice {
    state: State,
    /// What may be tried; none: that is not known yet.
    todo: Option<Vec<Candidate>>,
    /// How many steps have been tried.
    tried: usize,
    /// Whether the unlikely steps are among them.
    has_rest: bool,
    /// What the answers are about that did not fit after it.
    conflict: BTreeSet<Subject>,
}

/// An order that explains every answer.
pub(super) struct Explained {
    pub(super) classes: Vec<Option<Class>>,
    /// How many states led nowhere.
    pub(super) states: usize,
    /// What the server was in at the end.
    pub(super) state: State,
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
        episode: &'a Episode,
        mutation: Option<Mutation>,
        limits: Limits,
        is_over: &'a (dyn Fn() -> bool + Sync),
    ) -> Self {
        let lines = certain(&episode.lines);
        let options = Options { mutation, ..episode.options };
        let mut agent = Agent::new(&episode.node, options).with_agents(&episode.nodes);
        agent.meet(lines.iter().map(|line| &line.question));
        let (answers, lost) = arrivals(&lines);
        let is_concurrent = answers.iter().any(|answer| !answer.others.is_empty());
        let starts_timer = |line: &&LogRecord| {
            let url = &line.question.url;
            line.reply.is_some() && (url.starts_with("/v1/session/create") || url.starts_with("/v1/session/renew/"))
        };
        let slowest = lines.iter().filter(starts_timer).map(|line| line.received - line.sent).max().unwrap_or(0);
        let mut received: Vec<i64> = lines.iter().map(|line| line.received).filter(|at| *at < i64::MAX).collect();
        received.sort_unstable();
        let mut arrival = vec![usize::MAX; lines.len()];
        answers.iter().enumerate().for_each(|(at, answer)| arrival[answer.place] = at);
        let exact: Vec<Option<u64>> = lines.iter().map(exact).collect();
        let certain = if is_concurrent { Ahead::of(&lines) } else { Ahead::none(lines.len()) };
        // What a log tells of its order is asked only where that is open: it takes a look at all of it.
        let likely = if is_concurrent { certain.with_guesses(&lines, &exact) } else { certain.clone() };
        let first = if likely.ranked == certain.ranked { Breadth::Likely } else { Breadth::Guessing };
        Search {
            is_over,
            limits,
            lateness: episode.lateness,
            slowest,
            received,
            subjects: lines.iter().map(Subject::of_line).collect(),
            ends: lines.iter().map(|line| ends_sessions(&line.question)).collect(),
            is_idle: lines.iter().map(is_idle).collect(),
            renews: lines.iter().map(renews).collect(),
            last_index: last_index(&lines, &answers),
            twins: if is_concurrent { Twins::of(&lines, &certain, &arrival) } else { Twins::none(lines.len()) },
            likely,
            certain,
            in_order: OnceCell::new(),
            plan: OnceCell::new(),
            instants: None,
            paths: None,
            mutation,
            exact,
            breadth: Cell::new(if is_concurrent { first } else { Breadth::All }),
            answers,
            arrival,
            lost,
            start: State::new(agent),
            lines,
        }
    }

    /// What the server was in at the beginning.
    pub(super) fn start(&self) -> State {
        self.start.clone()
    }

    pub(super) fn search(&self, limits: Limits) -> Result<Explained, Objection> {
        let mut choices = VecDeque::from([Choice::new(self.start.clone())]);
        let mut known: BTreeSet<(usize, u128)> = BTreeSet::new();
        let mut classes: Vec<Option<Class>> = vec![None; self.lines.len()];
        let mut obstacle = Obstacle::default();
        let (mut has_dropped, mut steps) = (false, 0_usize);
        while let Some(mut choice) = choices.pop_back() {
            let mut todo = match choice.todo.take() {
                Some(todo) => todo,
                None => {
                    if !self.advance(&mut choice.state, &mut classes, &mut obstacle, &mut steps)? {
                        choice.conflict.extend(self.wanted(&choice.state));
                        blame(&mut choices, choice);
                        continue;
                    }
                    if choice.state.at == self.answers.len() {
                        return Ok(Explained { classes, states: known.len(), state: choice.state });
                    }
                    if !known.is_empty() && known.contains(&self.key(&mut choice.state)) {
                        choice.conflict.extend(self.wanted(&choice.state));
                        blame(&mut choices, choice);
                        continue;
                    }
                    self.todo(&choice.state)
                }
            };
            loop {
                let skipped =
                    todo.iter().skip(choice.tried.max(1)).take_while(|step| !self.may_help(&choice, &todo, **step));
                let skipped = if choice.tried == 0 { 0 } else { skipped.count() };
                choice.tried += skipped;
                if choice.tried < todo.len() || choice.has_rest {
                    break;
                }
                choice.has_rest = true;
                todo.extend(self.rest(&choice.state));
            }
            let Some(step) = todo.get(choice.tried).copied() else {
                known.insert(self.key(&mut choice.state));
                if known.len() > limits.states {
                    let why = format!("more than {} states were looked at", limits.states);
                    return Err(Objection::Undecided { line: self.stuck(obstacle.at), why });
                }
                choice.conflict.extend(self.wanted(&choice.state));
                blame(&mut choices, choice);
                continue;
            };
            steps += 1;
            if steps.is_multiple_of(LOOK_EVERY) && (self.is_over)() {
                return Err(self.is_stopped(self.stuck(obstacle.at)));
            }
            let place = self.answers[choice.state.at].place;
            choice.tried += 1;
            let outcome = self.take(&choice.state, step);
            let of = match step {
                Candidate::Serve(request, _) | Candidate::RenewInVain(request, ..) => Some(request),
                Candidate::Expire(..) => None,
            };
            match outcome {
                CandidateOutcome::Next { state: mut next, class, has_effect } => {
                    note(&mut classes, of, class);
                    let changes = changes(&choice.state, &next);
                    self.absorb(&mut next, choice.state.at, Some(&changes), &mut |request, class| {
                        note(&mut classes, Some(request), Some(class));
                    });
                    if has_effect {
                        choice.todo = Some(todo);
                        choices.push_back(choice);
                    }
                    choices.push_back(Choice::new(next));
                    if choices.len() > limits.choices {
                        choices.pop_front();
                        has_dropped = true;
                    }
                }
                other => {
                    if let (CandidateOutcome::Beyond(why), true) = (&other, of == Some(place)) {
                        return Err(Objection::Undecided { line: self.lines[place].number, why: why.clone() });
                    }
                    obstacle.meet(choice.state.at, other, of == Some(place));
                    choice.todo = Some(todo);
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
            None => (None, "no linearization of the requests produces it".to_owned()),
        };
        Err(Objection::Impossible(Impossible { line, rule, why }))
    }

    /// Passes all answers that leave no choice. False: one of them cannot have been.
    fn advance(
        &self,
        state: &mut State,
        classes: &mut [Option<Class>],
        obstacle: &mut Obstacle,
        steps: &mut usize,
    ) -> Result<bool, Objection> {
        while let Some(Answer { place, others, oldest, .. }) = self.answers.get(state.at) {
            obstacle.reach(state.at);
            if state.untidy >= TIDY_EVERY.max(state.agent.told_count()) {
                state.untidy = 0;
                state.agent.settle(Instant::at(*oldest));
                if (self.is_over)() {
                    return Err(self.is_stopped(self.lines[*place].number));
                }
            }
            self.keep_to_plan(state);
            self.renew_in_vain(state, classes);
            if state.forget(*place) {
                state.at += 1;
                state.untidy += 1;
                continue;
            }
            let line = &self.lines[*place];
            let is_alone = others.is_empty() && self.lost_before(state.at).all(|lost| state.is_done(lost));
            if !is_alone || !self.is_timeless(state, line) || self.ahead().rank[*place].is_some() {
                self.absorb(state, state.at, None, &mut |request, class| note(classes, Some(request), Some(class)));
                if state.is_done(*place) {
                    continue;
                }
                break;
            }
            let has_passed = state.passed.binary_search(place).is_ok();
            let before = self.paths.as_ref().map(|_| state.clone());
            match self.instant(state, *place) {
                Some(reached) => state.reached = reached,
                None => return Ok(false),
            }
            match attempt(state, line, line.sent, has_passed) {
                Ok(class) => note(classes, Some(*place), Some(class)),
                Err(Why::Differs(class, why)) => {
                    obstacle.meet(state.at, CandidateOutcome::Differs(class, why), true);
                    return Ok(false);
                }
                Err(Why::Beyond(why)) => {
                    return Err(Objection::Undecided { line: line.number, why });
                }
            }
            if let Some(before) = before {
                if !self.settle(state, *place, false) || !self.keeps_instants(&before, state, *place) {
                    return Ok(false);
                }
                let changed = state.agent.changed_keys(&before.agent);
                self.note_step(state, Some(*place), changed);
            }
            state.passed.retain(|passed| passed != place);
            (state.seen, state.at) = (self.answers[state.at].sent, state.at + 1);
            state.untidy += 1;
            *steps += 1;
        }
        obstacle.reach(state.at);
        Ok(true)
    }

    /// Whether it makes no difference when a request is carried out, and no timer that it would notice may have fired by then.
    fn is_timeless(&self, state: &State, line: &LogRecord) -> bool {
        !self.may_end_unseen(state, line.received)
            && (line.sent == line.received || state.agent.delay_count() == 0 && !ends_sessions(&line.question))
    }

    /// What the answer that arrives next is about, and the write that is known to come first.
    fn wanted(&self, state: &State) -> Vec<Subject> {
        let own = self.answers.get(state.at).map(|answer| answer.place);
        let requests = own.into_iter().chain(self.first_of_ranked(state));
        requests.map(|request| self.subjects[request].clone()).collect()
    }

    /// Whether another step than the one taken may make a difference to what did not fit. Only the likely ones are tried.
    fn may_help(&self, choice: &Choice, todo: &[Candidate], step: Candidate) -> bool {
        let touches = |step: Candidate, subject: &Subject| match step {
            Candidate::Serve(request, _) | Candidate::RenewInVain(request, ..) => {
                self.subjects[request].touches(subject)
            }
            Candidate::Expire(..) => true,
        };
        let Some(last) = choice.tried.checked_sub(1).map(|last| todo[last]) else { return true };
        !self.is_narrow()
            || choice.conflict.is_empty()
            || choice.conflict.iter().any(|subject| touches(step, subject) || touches(last, subject))
    }

    /// What tells a state apart, and after which answer.
    fn key(&self, state: &mut State) -> (usize, u128) {
        let oldest = self.answers.get(state.at).map_or(i64::MAX, |answer| answer.oldest);
        state.untidy = 0;
        state.agent.settle(Instant::at(oldest));
        (state.at, state.fingerprint())
    }

    pub(super) fn lost_before(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        self.lost.iter().take_while(move |(_, sent)| *sent <= at).map(|(place, _)| *place)
    }

    /// The line of the answer that the search has not got past.
    fn stuck(&self, at: usize) -> usize {
        self.answers.get(at).map_or(0, |answer| self.lines[answer.place].number)
    }

    fn is_stopped(&self, line: usize) -> Objection {
        Objection::Undecided { line, why: "the judgement was stopped".to_owned() }
    }
}

impl Choice {
    fn new(state: State) -> Choice {
        Choice { state, todo: None, tried: 0, has_rest: false, conflict: BTreeSet::new() }
    }
}

/// C-KV-20, C-KV-21, C-SES-17: what the index of a read of keys or sessions tells.
fn exact(line: &LogRecord) -> Option<u64> {
    let url = &line.question.url;
    let is_read = line.question.method == "GET" && (url.starts_with("/v1/kv/") || url.starts_with("/v1/session/"));
    line.reply.as_ref().filter(|reply| is_read && matches!(reply.status, 200 | 404))?.index
}

/// What did not fit after a choice is what did not fit after the one before.
fn blame(choices: &mut VecDeque<Choice>, choice: Choice) {
    if let Some(before) = choices.back_mut() {
        before.conflict.extend(choice.conflict);
    }
}

/// What a step has changed.
fn changes(before: &State, after: &State) -> Changes {
    let (old, new) = (&before.agent, &after.agent);
    let others = new.delay_count() != old.delay_count() || after.expiring != before.expiring;
    Changes { keys: new.changed_keys(old), sessions: new.has_other_sessions(old), others }
}

impl Obstacle {
    /// The search has got to an answer.
    fn reach(&mut self, at: usize) {
        if at > self.at {
            *self = Obstacle { at, ..Obstacle::default() };
        }
    }

    /// Something did not fit there.
    fn meet(&mut self, at: usize, outcome: CandidateOutcome, is_its_own: bool) {
        if at != self.at {
            return;
        }
        match outcome {
            CandidateOutcome::Differs(class, why) if is_its_own => self.why = self.why.take().or(Some((class, why))),
            CandidateOutcome::Beyond(why) => self.beyond = Some(why),
            _ => {}
        }
    }
}

pub(super) fn note(classes: &mut [Option<Class>], request: Option<usize>, class: Option<Class>) {
    if let Some(request) = request {
        classes[request] = class.or(classes[request]);
    }
}
