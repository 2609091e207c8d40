//! Whether a log is possible: whether the model could have given those answers, in some order of requests that overlap, with
//! timers that fire at any time after they may, and with log entries that are applied some time after the leader looked at
//! the lock-delay (C-LD-9). What is kept is the set of all states that the server may be in.

use super::consul::{Agent, Class, Hint, Options, Question, Reply, Sleep};
use fencepost_model::ids::SessionId;
use fencepost_model::mutation::Mutation;
use fencepost_model::time::Instant;

use super::log::{Episode, Line};
use super::verdict::{Impossible, Objection, Possible};

/// More states than this, and the log says too little.
const STATES_MAX: usize = 20_000;

/// More comparisons of states than this for one answer, and the log says too little: it bounds the time.
const COMPARISONS_MAX: usize = 20_000_000;

/// Answers that do not say whether the request was carried out, or will be. C-CON-5, C-CON-6, C-CON-8.
const IN_DOUBT: [&str; 4] = ["No cluster leader", "rpc error", "leadership lost", "EOF"];

/// A state that the server may be in.
#[derive(Clone, PartialEq)]
struct State {
    agent: Agent,
    /// Sessions whose timer has fired and whose end is not applied, with since when it may have.
    doomed: Vec<(SessionId, i64)>,
    /// Requests that it has carried out and whose answers have not arrived.
    done: Vec<usize>,
    /// Requests that the leader has let pass, and the log has not applied. C-LD-9.
    passed: Vec<usize>,
}

/// Judges a log, of a model with a fault if one is given.
///
/// # Errors
/// It could not have been, or that is not known.
pub fn judge(episodes: &[Episode], mutation: Option<Mutation>) -> Result<Possible, Objection> {
    judge_until(episodes, mutation, &|| false)
}

/// Judges a log as [`judge`] does, until `is_over` says that it is enough.
///
/// # Errors
/// It could not have been, or that is not known: also if it was stopped.
pub fn judge_until(
    episodes: &[Episode],
    mutation: Option<Mutation>,
    is_over: &dyn Fn() -> bool,
) -> Result<Possible, Objection> {
    let mut possible = Possible::default();
    for episode in episodes {
        Judge::new(episode, mutation, is_over).run(&mut possible)?;
    }
    Ok(possible)
}

struct Judge<'a> {
    is_over: &'a dyn Fn() -> bool,
    lines: Vec<Line>,
    states: Vec<State>,
    /// Requests that have been sent and not been answered.
    open: Vec<usize>,
    lateness: Option<i64>,
}

impl<'a> Judge<'a> {
    fn new(episode: &Episode, mutation: Option<Mutation>, is_over: &'a dyn Fn() -> bool) -> Self {
        let options = Options { mutation, ..episode.options };
        let agent = Agent::new(&episode.node, options);
        let start = State { agent, doomed: Vec::new(), done: Vec::new(), passed: Vec::new() };
        let mut lines = episode.lines.clone();
        for line in lines.iter_mut().filter(|line| line.reply.as_ref().is_some_and(is_in_doubt)) {
            (line.reply, line.received) = (None, i64::MAX);
        }
        Judge { is_over, lines, states: vec![start], open: Vec::new(), lateness: episode.lateness }
    }

    fn run(mut self, possible: &mut Possible) -> Result<(), Objection> {
        let mut events: Vec<(i64, bool, usize)> = Vec::new();
        for (place, line) in self.lines.iter().enumerate() {
            events.push((line.sent, false, place));
            if line.reply.is_some() {
                events.push((line.received, true, place));
            }
        }
        events.sort_unstable();
        for (_, is_answer, place) in events {
            if !is_answer {
                self.open.push(place);
                continue;
            }
            self.answer(place, possible)?;
            self.open.retain(|open| *open != place);
            possible.lines += 1;
            possible.widest = possible.widest.max(self.states.len());
        }
        Ok(())
    }

    /// The answer to a request arrives: by now it has been carried out.
    fn answer(&mut self, place: usize, possible: &mut Possible) -> Result<(), Objection> {
        let line = self.lines[place].number;
        if let Some(why) = answered_too_early(&self.lines[place]) {
            let rule = Some(("C-BLK-1", "a read waits until its index is passed, or its time is up"));
            return Err(Objection::Impossible(Impossible { line, rule, why }));
        }
        let mut ready: Vec<State> = Vec::new();
        let mut work = std::mem::take(&mut self.states);
        let mut seen = Vec::new();
        let mut first = None;
        let mut class = None;
        let mut beyond = None;
        let mut comparisons = 0;
        while let Some(mut state) = work.pop() {
            if (self.is_over)() {
                return Err(Objection::Undecided { line, why: "the judgement was stopped".to_owned() });
            }
            if let Some(done) = state.done.iter().position(|done| *done == place) {
                state.done.remove(done);
                if !ready.contains(&state) {
                    ready.push(state);
                }
                continue;
            }
            for open in self.open.iter().copied().filter(|open| !state.done.contains(open)) {
                self.carry_out(&state, open, self.lines[place].received, &mut |outcome| match outcome {
                    Ok((next, of)) => {
                        if open == place {
                            class = class.or(of);
                        }
                        comparisons += work.len() + seen.len();
                        if !work.contains(&next) && !seen.contains(&next) {
                            work.push(next);
                        }
                    }
                    Err(Why::Beyond(why)) => beyond = Some(why),
                    Err(Why::Differs(class, why)) if open == place => first = first.take().or(Some((class, why))),
                    Err(Why::Differs(..)) => {}
                });
            }
            seen.push(state);
            if ready.len() + work.len() > STATES_MAX || comparisons > COMPARISONS_MAX {
                return Err(Objection::Undecided { line, why: too_many() });
            }
        }
        if let Some(why) = beyond {
            return Err(Objection::Undecided { line, why });
        }
        if let Some(class) = class {
            possible.tally.count(class);
        }
        if ready.is_empty() {
            let (rule, why) = match first {
                Some((class, why)) => (Some((class.rule(), class.text())), why),
                None => (None, "no order of the requests explains it".to_owned()),
            };
            return Err(Objection::Impossible(Impossible { line, rule, why }));
        }
        let oldest = self.open.iter().filter(|open| **open != place).map(|open| self.lines[*open].sent).min();
        let oldest = oldest.unwrap_or(self.lines[place].received);
        for mut state in ready {
            state.agent.settle(Instant::at(oldest));
            if !self.states.contains(&state) {
                self.states.push(state);
            }
        }
        Ok(())
    }

    /// Every way in which an open request may be carried out in a state, until an instant.
    fn carry_out(&self, state: &State, place: usize, until: i64, each: &mut dyn FnMut(Step)) {
        let line = &self.lines[place];
        let (early, late) = (line.sent, line.received.min(until));
        let has_passed = state.passed.contains(&place);
        let may_pass = takes_locks(&line.question) && !has_passed && self.may_end_sessions(state, place, late);
        for now in self.instants(state, (early, late)) {
            let Some(all) = self.timers(state, now) else { return each(Err(Why::Beyond(too_many()))) };
            for mut next in all {
                if self.is_overdue(&next, now) {
                    continue;
                }
                if may_pass && next.agent.lets_pass(&line.question, Instant::at(now)) {
                    let mut waiting = next.clone();
                    waiting.passed.push(place);
                    each(Ok((waiting, None)));
                }
                next.passed.retain(|passed| *passed != place);
                next.done.push(place);
                each(attempt(next, line, Instant::at(now), has_passed));
            }
            if !depends_on_time(state, line, (early, late)) {
                // Whatever may happen later may happen after the earlier instant, too.
                break;
            }
        }
    }

    /// Instants that stand for all in between: both ends, and where a lock-delay that begins then is over just as an answer arrives.
    fn instants(&self, state: &State, (early, late): (i64, i64)) -> Vec<i64> {
        let mut instants = vec![early, late];
        for delay in state.agent.lock_delays() {
            let begins = self.lines.iter().map(|line| line.received - delay);
            instants.extend(begins.filter(|begin| early < *begin && *begin < late));
        }
        instants.sort_unstable();
        instants.dedup();
        instants
    }

    /// What a state may have become by itself by an instant: any timers that may have fired have, or have not yet, and what
    /// they sent into the log has been applied, or has not yet (C-TTL-4, C-TTL-5). None: these are too many states.
    fn timers(&self, state: &State, now: i64) -> Option<Vec<State>> {
        let mut all = vec![state.clone()];
        for (session, since) in state.agent.expirable(Instant::at(now)) {
            for other in all.clone() {
                if all.len() > STATES_MAX {
                    return None;
                }
                if let Some(since) = since {
                    let mut doomed = other.clone();
                    doomed.agent.doom(session);
                    doomed.doomed.push((session, since));
                    all.push(doomed);
                }
                for at in self.instants(state, (since.unwrap_or(now), now)) {
                    let mut ended = other.clone();
                    ended.agent.expire(session, Instant::at(at));
                    ended.doomed.retain(|(doomed, _)| *doomed != session);
                    all.push(ended);
                }
            }
        }
        Some(all)
    }

    /// Whether a lock-delay may begin while a request is on its way.
    fn may_end_sessions(&self, state: &State, place: usize, until: i64) -> bool {
        let mut others = self.open.iter().filter(|open| **open != place && !state.done.contains(open));
        others.any(|open| ends_sessions(&self.lines[*open].question))
            || !state.agent.expirable(Instant::at(until)).is_empty()
    }

    /// Whether a timer should have fired long ago.
    fn is_overdue(&self, state: &State, now: i64) -> bool {
        let Some(lateness) = self.lateness else { return false };
        let due = state.agent.expirable(Instant::at(now)).into_iter().filter_map(|(_, since)| since);
        due.chain(state.doomed.iter().map(|(_, since)| *since)).any(|since| since.saturating_add(lateness) < now)
    }
}

/// A state in which the request has been carried out, with what it answered, or in which it has been let pass.
type Step = Result<(State, Option<Class>), Why>;

/// Why a request was not answered so in a state.
enum Why {
    /// This had to be answered.
    Differs(Class, String),
    /// The model does not have what is asked for.
    Beyond(String),
}

fn attempt(mut state: State, line: &Line, now: Instant, has_passed: bool) -> Step {
    let success = line.reply.as_ref().map(is_success);
    let hint = Hint { success, has_passed };
    let expected = state.agent.ask(&line.question, now, hint).map_err(|overflow| Why::Beyond(overflow.to_string()))?;
    // A path that nobody has is refused by both; one that only the agent has may change what it stores.
    if expected.class == Class::NoSuchPath && line.reply.as_ref().is_none_or(|reply| reply.status != 404) {
        return Err(Why::Beyond(format!("the model does not have {}", line.question.url)));
    }
    if let Some(reply) = &line.reply {
        state.agent.accept(&expected, reply).map_err(|why| Why::Differs(expected.class, why))?;
    }
    Ok((state, Some(expected.class)))
}

fn too_many() -> String {
    format!("more than {STATES_MAX} states are possible: the log says too little")
}

fn is_success(reply: &Reply) -> bool {
    reply.status == 200 && reply.body.trim_ascii() != b"false"
}

fn is_in_doubt(reply: &Reply) -> bool {
    let text = String::from_utf8_lossy(&reply.body);
    reply.status == 500 && IN_DOUBT.iter().any(|doubt| text.contains(doubt))
}

/// Whether it makes a difference when exactly a request is carried out.
fn depends_on_time(state: &State, line: &Line, (early, late): (i64, i64)) -> bool {
    let at = |now| {
        let mut agent = state.agent.clone();
        let expected = agent.ask(&line.question, Instant::at(now), Hint::default());
        (agent, expected)
    };
    early != late && (!state.agent.expirable(Instant::at(late)).is_empty() || at(early) != at(late))
}

/// C-BLK-1, C-BLK-2: a read with an index that is answered at that index, or a lower one, has waited for its time.
fn answered_too_early(line: &Line) -> Option<String> {
    let Sleep { index, at_least } = Sleep::of(&line.question)?;
    let told = line.reply.as_ref().filter(|reply| line.is_timed && matches!(reply.status, 200 | 404))?.index?;
    // Logs round.
    let waited = line.received - line.sent + 1_000_000;
    let seconds = |nanoseconds: i64| nanoseconds / 1_000_000_000;
    (told <= index && waited < at_least).then(|| {
        format!(
            "answered at index {told}, which does not pass {index}, after {} of {} seconds",
            seconds(waited),
            seconds(at_least)
        )
    })
}

fn ends_sessions(question: &Question) -> bool {
    ["/v1/session/destroy/", "/v1/txn", "/v1/catalog/"].iter().any(|start| question.url.starts_with(start))
}

fn takes_locks(question: &Question) -> bool {
    question.method == "PUT" && (question.url.contains("acquire=") || question.url.starts_with("/v1/txn"))
}
