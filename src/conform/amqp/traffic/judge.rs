//! Whether a log is possible: is there an order in which the broker may have dealt with everything, so that each answer and each delivery
//! is as it was? A method takes effect between the line on which it is sent and that of its answer.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use fencepost_model::mutation::Mutation;
use fencepost_rabbitmq::{Answer, Request};

use super::broker::{Judging, State, Told};
use super::log::{CHANNELS, Event, Happening, Log};
use super::method::{Method, Reply};
use crate::amqp::pair::LINES;

/// The verdict on a log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It is possible; the number of answers and deliveries.
    Possible(usize),
    /// It is not, from a line on.
    Impossible(Flaw),
    /// There are too many orders.
    Undecided {
        /// The line of the file, from 1.
        line: usize,
    },
}

/// The first line of a log with which it is impossible.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flaw {
    /// The line of the file, from 1; behind the last: something is missing at the end.
    pub line: usize,
    /// The reason.
    pub why: String,
}

/// The most states that are looked at.
const STATES_MAX: usize = 60_000;

/// A log, with what belongs together in it.
pub(super) struct Script<'a> {
    pub log: &'a Log,
    /// For each channel, the places of its methods.
    programs: [[Vec<usize>; CHANNELS]; LINES],
    /// For each line, its answer.
    answers: Vec<Option<(usize, Reply)>>,
    /// For each line with `basic.consume`, what was delivered: tag, body, redelivered.
    deliveries: Vec<Vec<(u64, u32, bool)>>,
    /// For each delivery and each cancellation, its consumer, and which of its deliveries it is.
    consumers: Vec<Option<(usize, u16)>>,
    /// For each method, whether its channel ends later.
    ends: Vec<bool>,
    /// For each line with a publish, whether its channel confirms.
    confirms: Vec<bool>,
    /// For each line with `basic.recover`, the last delivery that its channel wrote before the answer.
    recovered: Vec<Option<u64>>,
}

impl<'a> Script<'a> {
    fn new(log: &'a Log) -> Result<Self, Flaw> {
        let count = log.events.len();
        let mut script = Script {
            log,
            programs: Default::default(),
            answers: vec![None; count],
            deliveries: vec![Vec::new(); count],
            consumers: vec![None; count],
            ends: vec![false; count],
            confirms: vec![false; count],
            recovered: vec![None; count],
        };
        // The tags that each channel delivers are 1, 2, 3, …: R-Q-97. Confirms and consumers begin anew with each channel.
        let mut next_tag = [[1_u64; CHANNELS]; LINES];
        let mut confirming = [[true; CHANNELS]; LINES];
        let mut consumers: Vec<(u16, u8, u8, usize)> = Vec::new();
        for (place, event) in log.events.iter().enumerate() {
            let (line, side) = (usize::from(event.connection) - 1, usize::from(event.channel) - 1);
            let flaw = |why: String| Flaw { line: log.line + place + 1, why };
            let mut is_numbered = |tag: u64| {
                let expected = std::mem::replace(&mut next_tag[line][side], tag + 1);
                let why = || flaw(format!("the delivery tag is {tag}, and the channel's next one is {expected}"));
                if tag == expected { Ok(()) } else { Err(why()) }
            };
            let mut consumer_of = |tag: u8, is_over: bool| {
                let is_it = |(of, on, other, _): &(u16, u8, u8, usize)| {
                    (*of, *on, *other) == (event.connection, event.channel, tag)
                };
                let at = consumers.iter().position(is_it);
                let at = at.ok_or_else(|| flaw(format!("the channel has no consumer {tag}")))?;
                Ok(if is_over { consumers.remove(at).3 } else { consumers[at].3 })
            };
            match event.happened {
                Happening::Sent(method) => {
                    script.programs[line][side].push(place);
                    if let Method::Plain(Request::OpenChannel { confirms }) | Method::Reopen { confirms } = method {
                        (next_tag[line][side], confirming[line][side]) = (1, confirms);
                        consumers.retain(|(of, on, ..)| (*of, *on) != (event.connection, event.channel));
                    }
                    script.confirms[place] = confirming[line][side];
                    match method {
                        Method::HangUp | Method::Plain(Request::Close) => script.end(event.connection, None, place),
                        Method::Plain(Request::CloseChannel) | Method::Reopen { .. } => {
                            script.end(event.connection, Some(event.channel), place);
                        }
                        _ => {}
                    }
                    if method == Method::HangUp {
                        (next_tag[line], confirming[line]) = ([1; CHANNELS], [true; CHANNELS]);
                        consumers.retain(|(of, ..)| *of != event.connection);
                    }
                }
                Happening::Answered { to, reply } => {
                    let asked = to - 1;
                    script.answers[asked] = Some((place, reply));
                    let Happening::Sent(method) = log.events[asked].happened else { unreachable!("it was read") };
                    match (method, reply) {
                        (_, Reply::Got { tag, .. }) => is_numbered(tag)?,
                        (_, Reply::Recovered) => script.recovered[asked] = Some(next_tag[line][side] - 1),
                        (Method::Consume { tag, .. }, Reply::ConsumeOk) => {
                            consumers.push((event.connection, event.channel, tag, asked));
                        }
                        (Method::Cancel(tag), Reply::CancelOk) => {
                            let _ = consumer_of(tag, true);
                        }
                        _ => {}
                    }
                    if reply.closes_channel() {
                        script.end(event.connection, Some(event.channel), place);
                        consumers.retain(|(of, on, ..)| (*of, *on) != (event.connection, event.channel));
                    }
                    if reply.ends_connection() {
                        script.end(event.connection, None, place);
                        (next_tag[line], confirming[line]) = ([1; CHANNELS], [true; CHANNELS]);
                        consumers.retain(|(of, ..)| *of != event.connection);
                    }
                }
                Happening::Delivered { consumer, tag, body, redelivered } => {
                    is_numbered(tag)?;
                    let consumer = consumer_of(consumer, false)?;
                    let had = u16::try_from(script.deliveries[consumer].len()).unwrap_or(u16::MAX);
                    script.consumers[place] = Some((consumer, had + 1));
                    script.deliveries[consumer].push((tag, body, redelivered));
                }
                Happening::Cancelled { consumer } => {
                    script.consumers[place] = Some((consumer_of(consumer, true)?, 0));
                }
            }
        }
        Ok(script)
    }

    /// A channel, or a connection, ends at a line.
    fn end(&mut self, connection: u16, channel: Option<u8>, until: usize) {
        for (place, event) in self.log.events[..until].iter().enumerate() {
            let is_its = event.connection == connection && channel.is_none_or(|channel| channel == event.channel);
            self.ends[place] |= is_its;
        }
    }

    /// The answer to the method at a place of the log.
    pub(super) fn answer(&self, place: usize) -> Option<Reply> {
        self.answers[place].map(|(_, reply)| reply)
    }

    /// A delivery to the consumer: tag, body, redelivered.
    pub(super) fn delivery(&self, consumer: usize, number: u16) -> Option<(u64, u32, bool)> {
        self.deliveries[consumer].get(usize::from(number)).copied()
    }

    /// Whether there may be deliveries to the consumer that the client has not seen.
    pub(super) fn may_miss(&self, consumer: usize) -> bool {
        !self.log.is_complete || self.ends[consumer]
    }

    /// Whether the client may not have seen this answer, which comes later than others, because its channel has ended.
    pub(super) fn may_lack(&self, place: usize, reply: Option<Reply>) -> bool {
        let is_late = matches!(
            reply,
            Some(
                Reply::Plain(Answer::Confirmed | Answer::Nacked | Answer::Returned { .. })
                    | Reply::ConsumeOk
                    | Reply::CancelOk
            )
        );
        is_late && self.answers[place].is_none() && self.may_miss(place)
    }

    /// Whether `basic.recover` is of a delivery: R-Q-98.
    pub(super) fn recovers(&self, place: usize, tag: u64) -> bool {
        self.recovered[place].is_none_or(|last| tag != 0 && tag <= last)
    }

    /// Whether the channel of a publish confirms.
    pub(super) fn is_confirmed(&self, place: usize) -> bool {
        self.confirms[place]
    }

    /// The next method of a channel, if it was sent before the line. The end of a connection comes after all that was sent before on
    /// its channels, and before all that is sent later.
    fn next(&self, state: &State, line: usize, side: usize, before: usize) -> Option<usize> {
        let next = |side: usize| self.programs[line][side].get(state.rest.next[line][side]).copied();
        let place = next(side).filter(|place| *place < before)?;
        let is_end = |place: usize| {
            matches!(self.log.events[place].happened, Happening::Sent(Method::HangUp | Method::Plain(Request::Close)))
        };
        let waits = |other: usize| other < place && (is_end(other) || is_end(place));
        (0..CHANNELS).filter(|other| *other != side).all(|other| !next(other).is_some_and(waits)).then_some(place)
    }

    /// Whether a state has come to a line, or to the end of the log.
    fn is_met(&self, place: usize, state: &State) -> bool {
        let Some(event) = self.log.events.get(place) else {
            return state.rest.casts.is_empty() && self.is_finished(state);
        };
        match event.happened {
            Happening::Sent(_) => true,
            Happening::Answered { to, .. } => self.is_done(state, to - 1),
            Happening::Delivered { .. } => {
                let (consumer, number) = self.consumers[place].expect("the script knows it");
                state.rest.deliveries.iter().any(|(of, count)| *of == consumer && *count >= number)
            }
            Happening::Cancelled { .. } => {
                let (consumer, _) = self.consumers[place].expect("the script knows it");
                self.is_done(state, consumer) && state.rest.tags.iter().all(|(.., other)| *other != consumer)
            }
        }
    }

    /// Whether every method was carried out.
    fn is_finished(&self, state: &State) -> bool {
        let done = state.rest.next.as_flattened().iter();
        self.programs.as_flattened().iter().zip(done).all(|(program, done)| program.len() == *done)
    }

    /// Whether the method at a place was carried out.
    fn is_done(&self, state: &State, place: usize) -> bool {
        let event = &self.log.events[place];
        let (line, side) = (usize::from(event.connection) - 1, usize::from(event.channel) - 1);
        let at = self.programs[line][side].partition_point(|other| *other < place);
        state.rest.next[line][side] > at && !state.is_open_at(place)
    }
}

/// Holds a log against the machine, or against one with a mutation of the kernel's broker. The search goes to the depth first, what is told
/// to queues before everything else, as in a broker that is not busy; a state that was met at the same line is not looked at again.
pub fn judge(log: &Log, mutation: Option<Mutation>) -> Verdict {
    let script = match Script::new(log) {
        Ok(script) => script,
        Err(flaw) => return Verdict::Impossible(flaw),
    };
    let is_seen = |place: &usize| !matches!(log.events[*place].happened, Happening::Sent(_));
    let mut goals: Vec<usize> = (0..log.events.len()).filter(is_seen).collect();
    let count = goals.len();
    if log.is_complete {
        goals.push(log.events.len());
    }
    let line = |at: usize| log.line + goals[at] + 1;
    let mut seen = Seen::default();
    let mut open = vec![(0, State::new(mutation))];
    let (mut furthest, mut expected) = (0, None);
    while let Some((mut at, state)) = open.pop() {
        while at < goals.len() && script.is_met(goals[at], &state) {
            at += 1;
        }
        if at == goals.len() {
            return Verdict::Possible(count);
        }
        if seen.count >= STATES_MAX {
            return Verdict::Undecided { line: line(furthest) };
        }
        if !seen.insert(at, &state) {
            continue;
        }
        if at > furthest {
            (furthest, expected) = (at, None);
        }
        let event = log.events.get(goals[at]).or(log.events.last());
        let target = match event.map(|event| event.happened) {
            Some(Happening::Answered { to, .. }) => Some(to - 1),
            _ => None,
        };
        let now = event.map_or(0, |event| event.at);
        let judging = Judging { script: &script, now, target, expected: Cell::new(None) };
        open.extend(state.successors(goals[at], &judging).into_iter().map(|next| (at, next)));
        if at == furthest {
            expected = expected.or(judging.expected.get());
        }
    }
    let why = reason(log.events.get(goals[furthest]), expected);
    Verdict::Impossible(Flaw { line: line(furthest), why })
}

/// The states that were met at lines.
#[derive(Default)]
struct Seen {
    count: usize,
    /// By their hash.
    states: BTreeMap<u64, Vec<(usize, State)>>,
}

impl Seen {
    /// False: the state was met at the line before.
    fn insert(&mut self, at: usize, state: &State) -> bool {
        let mut hasher = DefaultHasher::new();
        (at, state).hash(&mut hasher);
        let alike = self.states.entry(hasher.finish()).or_default();
        let is_new = !alike.iter().any(|(other_at, other)| *other_at == at && other == state);
        if is_new {
            alike.push((at, state.clone()));
            self.count += 1;
        }
        is_new
    }
}

/// What keeps a line from being possible; no line: the end of the log.
fn reason(event: Option<&Event>, expected: Option<Option<Reply>>) -> String {
    match event.map(|event| event.happened) {
        Some(Happening::Answered { reply, .. }) => match expected {
            Some(expected) => format!("the broker said {reply:?}, and the model says {expected:?}"),
            None => format!("the broker said {reply:?}, and no order of what was sent explains it"),
        },
        Some(Happening::Delivered { body, .. }) => format!("message {body} cannot be the consumer's next one"),
        Some(Happening::Cancelled { .. }) => "the consumer's queue is there".to_owned(),
        Some(Happening::Sent(_)) | None => "a message should have been delivered, and was not".to_owned(),
    }
}

impl State {
    /// Whether what was sent at a place has not arrived, or its channel or its connection is not over.
    fn is_open_at(&self, place: usize) -> bool {
        self.rest.casts.iter().any(|cast| cast.what == Told::Publish(place))
            || self.rest.leaving.iter().any(|leaving| leaving.place == place)
            || self.rest.ending.iter().any(|(_, other)| *other == place)
    }

    /// Whether a channel is telling its queues that it ends, and does nothing else.
    fn is_leaving(&self, connection: u16, channel: u8) -> bool {
        self.rest.leaving.iter().any(|leaving| {
            let id = leaving.channel;
            (id.connection, id.channel) == (connection, channel)
        })
    }

    /// Everything that the broker may do next, what is likely last.
    fn successors(&self, before: usize, judging: &Judging<'_>) -> Vec<State> {
        let mut next = Vec::new();
        let changed = |apply: &dyn Fn(&mut State)| {
            let mut state = self.clone();
            apply(&mut state);
            state
        };
        for at in 0..self.rest.queues.len() {
            if self.rest.queues[at].first_may_expire(judging.now) {
                next.push(changed(&|state| state.rest.queues[at].drop_first()));
            }
        }
        let awaited = judging.target.map(|place| &judging.script.log.events[place]);
        let mut last = Vec::new();
        for line in 0..LINES {
            for side in 0..CHANNELS {
                let Some(place) = judging.script.next(self, line, side, before) else { continue };
                let event = &judging.script.log.events[place];
                if self.is_leaving(event.connection, event.channel) {
                    continue;
                }
                let is_awaited =
                    awaited.is_some_and(|other| (other.connection, other.channel) == (event.connection, event.channel));
                let states = self.clone().perform(place, judging);
                if is_awaited { last.extend(states) } else { next.extend(states) }
            }
        }
        next.extend(last);
        next.extend((0..self.rest.unnoticed.len()).map(|at| changed(&|state| state.notice(at))));
        next.extend((0..self.rest.dying.len()).map(|at| changed(&|state| state.die(at))));
        for (at, (_, consumer)) in self.rest.cancelled.iter().enumerate() {
            if !self.is_leaving(consumer.channel.connection, consumer.channel.channel) {
                next.extend(self.clone().notice_cancelled(at, judging));
            }
        }
        next.extend(self.removals(judging.now).into_iter().map(|action| changed(&|state| state.remove(action))));
        for (at, (id, name)) in self.rest.downs.iter().enumerate() {
            let mut state = self.clone();
            state.rest.downs.remove(at);
            next.extend(state.end_at(*id, *name, judging));
        }
        for (at, leaving) in self.rest.leaving.iter().enumerate() {
            for queue in 0..leaving.untold.len() {
                next.extend(self.clone().tell_end(at, queue, judging));
            }
        }
        for (at, cast) in self.rest.casts.iter().enumerate() {
            if self.rest.casts[..at].iter().all(|earlier| cast.overtakes(earlier)) {
                next.extend(self.clone().hear(at, judging));
            }
        }
        next
    }
}
