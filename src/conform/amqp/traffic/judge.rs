//! Whether a log is possible: is there an order in which the broker may have dealt with everything, so that each answer and each delivery
//! is as it was? A method takes effect between the line on which it is sent and that of its answer.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use fencepost_model::mutation::Mutation;

use super::log::{Event, Happening, Log};
use super::method::Reply;
use super::script::Script;
use super::state::{Judging, State};
use crate::amqp::class::Class;

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

/// The most states that are looked at in one search.
const STATES_MAX: usize = 60_000;

/// How often the search is tried in another order, if it meets that limit. A wrong guess early in a log is found out only at its end, and most
/// orders do not begin with it.
const SEARCHES_MAX: u64 = 12;

/// Holds a log against the machine, or against one with a mutation of the kernel's broker. The search goes to the depth first, what is told
/// to queues before everything else, as in a broker that is not busy; a state that was met at the same line is not looked at again.
pub fn judge(log: &Log, mutation: Option<Mutation>) -> Verdict {
    explain(log, mutation).0
}

/// The same, with what no answer shows, and has come up in the order that was found.
pub(super) fn explain(log: &Log, mutation: Option<Mutation>) -> (Verdict, Vec<Class>) {
    let script = match Script::new(log) {
        Ok(script) => script,
        Err(flaw) => return (Verdict::Impossible(flaw), Vec::new()),
    };
    let is_seen = |place: &usize| !matches!(log.events[*place].happened, Happening::Sent(_));
    let mut goals: Vec<usize> = (0..log.events.len()).filter(is_seen).collect();
    let count = goals.len();
    if log.is_complete {
        goals.push(log.events.len());
    }
    let mut searches = (0..SEARCHES_MAX).map(|order| search(&script, &goals, count, mutation, order));
    let mut last = searches.next().expect("there is one");
    while matches!(last.0, Verdict::Undecided { .. })
        && let Some(next) = searches.next()
    {
        last = next;
    }
    last
}

/// One search, in an order of its own.
fn search(
    script: &Script<'_>,
    goals: &[usize],
    count: usize,
    mutation: Option<Mutation>,
    order: u64,
) -> (Verdict, Vec<Class>) {
    let log = script.log;
    let line = |at: usize| log.line + goals[at] + 1;
    let mut seen = Seen::default();
    let mut random = order;
    let mut open = vec![(0, State::new(mutation))];
    let (mut furthest, mut expected, mut overdue) = (0, None, None);
    while let Some((mut at, state)) = open.pop() {
        while at < goals.len() && script.is_met(goals[at], &state) {
            at += 1;
        }
        if at == goals.len() {
            return (Verdict::Possible(count), state.noted);
        }
        if seen.count >= STATES_MAX {
            return (Verdict::Undecided { line: line(furthest) }, Vec::new());
        }
        if !seen.insert(at, &state) {
            continue;
        }
        if at > furthest {
            (furthest, expected, overdue) = (at, None, None);
        }
        let event = log.events.get(goals[at]).or(log.events.last());
        let target = match event.map(|event| event.happened) {
            Some(Happening::Answered { to, .. }) => Some(to - 1),
            _ => None,
        };
        let now = event.map_or(0, |event| event.at);
        let judging = Judging { script, now, target, expected: Cell::new(None), overdue: Cell::new(None) };
        let mut successors = state.successors(goals[at], &judging);
        if order > 0 {
            shuffle(&mut successors, &mut random);
        }
        open.extend(successors.into_iter().map(|next| (at, next)));
        if at == furthest {
            expected = expected.or(judging.expected.get());
            overdue = overdue.or(judging.overdue.get());
        }
    }
    let why = reason(log.events.get(goals[furthest]), expected, overdue);
    (Verdict::Impossible(Flaw { line: line(furthest), why }), Vec::new())
}

/// Exchanges neighbours at random: what is likely stays near the end.
fn shuffle(states: &mut [State], random: &mut u64) {
    for at in 1..states.len() {
        // Knuth's linear congruential generator.
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if (*random >> 33).is_multiple_of(3) {
            states.swap(at - 1, at);
        }
    }
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
fn reason(event: Option<&Event>, expected: Option<Option<Reply>>, overdue: Option<u16>) -> String {
    if let (None, Some(connection)) = (expected, overdue) {
        return format!(
            "connection {connection} was silent for so long that the broker has dropped it, and what it had is back (R-Q-44, R-Q-45)"
        );
    }
    match event.map(|event| event.happened) {
        Some(Happening::Answered { reply, .. }) => match expected {
            Some(expected) => format!("the broker said {reply:?}, and the model says {expected:?}"),
            None => format!("the broker said {reply:?}, and no order of what was sent explains it"),
        },
        Some(Happening::Delivered { body, .. }) => format!("message {body} cannot be the consumer's next one"),
        Some(Happening::Cancelled { .. }) => "the consumer's queue is there".to_owned(),
        Some(Happening::Lost(_)) => {
            "the broker ends a connection after two to three heartbeat intervals without a byte, or when it is stopped \
             (R-Q-44, R-Q-58)"
                .to_owned()
        }
        Some(Happening::Restarted { .. }) => "no order of what was sent before the restart explains it".to_owned(),
        Some(Happening::Sent(_)) | None => "a message should have been delivered, and was not".to_owned(),
    }
}
