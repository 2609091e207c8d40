//! What steps did, by the parts that they depend on.
//!
//! A step of one process depends on that process and on what happens to it, and on nothing else: on the message, the deadline,
//! the wish. It changes that process, sends messages, and states facts. Which promises the facts break, and what is remembered
//! of them, is found anew from the world each time; so are the names of the normal form, part by part.
//!
//! Whatever does more than that, or looks at more, is not remembered: faults, operators, slips, what is heard at once, what is
//! lost at a cut, and scenarios in which time passing is judged by the whole world.

use super::super::names::{Look, Looking, Names, Rewriting, OWNERS, Rules, Small};
use super::super::parts::fingerprint;
use super::super::symmetry::{Symmetry, traces};
use super::super::{Formed, Normal, NormalForm};
use super::cache::Cache;
use super::super::piece::{Layout, Piece};
use super::pool::Copies;
use super::{Collapsed, Taken};
use crate::fact::Fact;
use crate::goal::Reached;
use crate::ids::{ProcessId, Tenure};
use crate::list::List;
use crate::protocol::Protocol;
use crate::scenario::{Cutting, Replies, Scenario};
use crate::time::{Instant, Ticks};
use crate::world::{Action, Step};

/// The logarithms of how many answers of each kind are kept at most.
const STEPS: u32 = 15;
const NAMES: u32 = 14;
const MEMORIES: u32 = 12;

/// A step that is remembered sends no more messages than these.
const SENT: usize = 2;

/// What happens to a part of a world.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
enum Cause<P: Protocol> {
    /// A message arrives, by its number.
    Arrives(u32),
    /// A deadline has come.
    Wakes(P::Timer),
    /// A user asks for something.
    Asks(P::Command),
    /// Something is chosen.
    Chooses(u8),
    /// A message is lost.
    Loses,
    /// Time passes.
    Passes(Ticks),
}

/// What a step depends on.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
struct Key<P: Protocol> {
    /// The part that it happens to.
    part: u32,
    /// With this tenure what it sends is stamped.
    tenure: Tenure,
    cause: Cause<P>,
}

/// What a step of the open world depends on, and where in the world that is.
#[derive(Copy, Clone)]
pub(super) struct Question<P: Protocol> {
    key: Key<P>,
    acting: usize,
    /// The place of the message that arrives or is lost.
    message: Option<usize>,
    shift: Ticks,
}

/// What a step did, before anything got new names.
#[derive(Copy, Clone)]
struct Outcome {
    /// The part that it happened to, afterwards.
    after: u32,
    sent: [u32; SENT],
    count: u8,
    /// The place of its facts in [`Memo::facts`].
    facts: u32,
}

/// What steps did.
pub(super) struct Memo<P: Protocol> {
    is_of_use: bool,
    steps: Cache<Key<P>, Outcome>,
    /// Facts that steps state; none come first.
    facts: Vec<(List<Fact<P>, 4>, Reached)>,
    /// What is remembered after facts.
    memories: Cache<(u32, u32), u32>,
    /// What parts are called anew.
    names: Cache<(u32, Small, Ticks), u32>,
    symmetry: Symmetry,
    /// What parts have of clients.
    traces: Cache<(u32, usize), u64>,
    /// Parts after clients have changed places.
    places: Cache<(u32, u64), u32>,
}

impl<P: Protocol> Memo<P> {
    pub(super) fn new(scenario: &Scenario<P>, form: &NormalForm, clients: usize) -> Self {
        Memo {
            is_of_use: clients < usize::from(OWNERS) && !scenario.looks_at_every_world(),
            symmetry: form.symmetry.clone(),
            steps: Cache::new(STEPS),
            facts: vec![(List::new(), Reached(0))],
            memories: Cache::new(MEMORIES),
            names: Cache::new(NAMES),
            traces: Cache::new(NAMES),
            places: Cache::new(NAMES),
        }
    }

    /// What the action's step depends on, if that is little enough.
    pub(super) fn question(
        &self,
        scenario: &Scenario<P>,
        action: &Action<P>,
        opened: &Collapsed,
        last: &Formed<P>,
    ) -> Option<Question<P>> {
        let is_lossy = scenario.network.cuts == Cutting::Drop && !last.cuts.is_empty();
        if !self.is_of_use || is_lossy {
            return None;
        }
        let layout = Layout::of(last.clients.len());
        let (acting, message, cause) = match *action {
            Action::Command { client, command } => (client.place(), None, Cause::Asks(command)),
            Action::Wake { process, timer } => (layout.place(process), None, Cause::Wakes(timer)),
            Action::Choose { process, option } => (layout.place(process), None, Cause::Chooses(option)),
            Action::Advance(ticks) => (layout.server, None, Cause::Passes(ticks)),
            Action::Lose(envelope) => (layout.rest, Some(last.network.place(&envelope)?), Cause::Loses),
            Action::Deliver(envelope) => {
                if scenario.network.replies != Replies::Travel && envelope.from.client().is_some() {
                    return None;
                }
                let place = last.network.place(&envelope)?;
                (layout.place(envelope.to), Some(place), Cause::Arrives(opened.parts[layout.messages + place]))
            }
            Action::Operator(_) | Action::Duplicate(_) | Action::Fault(_) | Action::Slip { .. } => return None,
        };
        let tenure = last.ghosts.held.get(acting).copied().unwrap_or_default();
        let shift = if let Action::Advance(ticks) = action { *ticks } else { Ticks::ZERO };
        Some(Question { key: Key { part: opened.parts[acting], tenure, cause }, acting, message, shift })
    }

    /// Where the step leads, if what it did is remembered.
    pub(super) fn answer(
        &mut self,
        scenario: &Scenario<P>,
        copies: &mut Copies<P>,
        opened: &Collapsed,
        last: &mut Formed<P>,
        action: &Action<P>,
        question: &Question<P>,
    ) -> Option<Taken> {
        let outcome = match (self.steps.get(&question.key), question.key.cause) {
            (Some(outcome), _) => outcome,
            (None, Cause::Passes(ticks)) => self.pass(copies, question, ticks),
            (None, _) => return None,
        };
        let layout = Layout::of(last.clients.len());
        let mut parts = opened.parts.clone();
        parts[question.acting] = outcome.after;
        if let Some(place) = question.message {
            parts.remove(layout.messages + place);
        }
        outcome.sent[..usize::from(outcome.count)].iter().for_each(|sent| parts.push(*sent));
        let is_breach = outcome.facts > 0 && {
            let facts = &self.facts[outcome.facts as usize].0;
            copies.piece(outcome.after).put(&mut last.world);
            let breaches = scenario.judge(&last.world, action, facts);
            copies.piece(opened.parts[question.acting]).put(&mut last.world);
            parts[layout.memory] = self.remember(scenario, copies, parts[layout.memory], outcome.facts);
            !breaches.is_empty()
        };
        self.name(copies, &layout, &mut parts, outcome.count > 0, question.shift)?;
        self.arrange(copies, &layout, &mut parts);
        let hash = |place: usize| copies.head(parts[place]).hash;
        let others = (0..parts.len()).filter(|place| *place != layout.rest);
        let fingerprint = fingerprint(hash(layout.rest), others.map(hash));
        let reached = self.facts[outcome.facts as usize].1;
        Some(Taken { to: Collapsed { parts, fingerprint }, reached, is_breach })
    }

    /// Time passes: the server forgets what is meaningless by then.
    fn pass(&mut self, copies: &mut Copies<P>, question: &Question<P>, ticks: Ticks) -> Outcome {
        let piece = settled(&copies.rules, copies.piece(question.key.part).clone(), ticks);
        let outcome = Outcome { after: copies.number(piece), sent: [0; SENT], count: 0, facts: 0 };
        self.steps.put(question.key, outcome);
        outcome
    }

    /// What is remembered after facts.
    fn remember(
        &mut self,
        scenario: &Scenario<P>,
        copies: &mut Copies<P>,
        memory: u32,
        facts: u32,
    ) -> u32 {
        if let Some(known) = self.memories.get(&(memory, facts)) {
            return known;
        }
        let Piece::Memory(resource, mut ghosts) = copies.piece(memory).clone() else {
            unreachable!("what is remembered has its place");
        };
        let watched = scenario.watched();
        self.facts[facts as usize].0.iter().for_each(|fact| ghosts.remember(Instant::START, fact, watched));
        let after = copies.number(Piece::Memory(resource, ghosts));
        self.memories.put((memory, facts), after);
        after
    }

    /// Gives the parts of a world the names of the normal form, and restores the order of messages; `None` if there are
    /// numbers that are not small.
    fn name(
        &mut self,
        copies: &mut Copies<P>,
        layout: &Layout,
        parts: &mut [u32],
        has_new_messages: bool,
        shift: Ticks,
    ) -> Option<()> {
        let mut all = Look::default();
        parts.iter().for_each(|number| all.join(&copies.head(*number).look));
        if all.has_large {
            return None;
        }
        let beyond = all.small.beyond();
        let mut may_be_unsorted = has_new_messages;
        if all.is_affected(&beyond, shift) {
            for (place, number) in parts.iter_mut().enumerate() {
                if copies.head(*number).look.is_affected(&beyond, shift) {
                    *number = self.rename(copies, *number, &all.small, shift);
                    may_be_unsorted |= place >= layout.messages;
                }
            }
        }
        if may_be_unsorted {
            sort(copies, &mut parts[layout.messages..]);
        }
        Some(())
    }

    /// Lets interchangeable clients stand in the order of what can be seen of them.
    fn arrange(&mut self, copies: &mut Copies<P>, layout: &Layout, parts: &mut [u32]) {
        if self.symmetry.is_none() {
            return;
        }
        let held = copies.piece(parts[layout.memory]).held();
        let outside = |place: usize| copies.head(parts[place]).outside ^ u64::from(held[place].0);
        let known = &mut self.traces;
        let mut trace = |number: u32, place: usize| match known.get(&(number, place)) {
            Some(trace) => trace,
            None => {
                let trace = copies.piece(number).trace(place);
                known.put((number, place), trace);
                trace
            }
        };
        let traces = |place| traces(layout, parts.len(), |part| trace(parts[part], place));
        let Some(order) = self.symmetry.order(layout.server, outside, traces) else { return };
        let word = order.iter().rev().fold(0, |word, place| word << 4 | u64::from(*place));
        for number in parts.iter_mut() {
            *number = match self.places.get(&(*number, word)) {
                Some(arranged) => arranged,
                None => {
                    let mut piece = copies.piece(*number).clone();
                    piece.arrange(&order);
                    let arranged = copies.number(piece);
                    self.places.put((*number, word), arranged);
                    arranged
                }
            };
        }
        let before: List<u32, 6> = parts[..layout.server].iter().copied().collect();
        for (place, other) in order.iter().enumerate() {
            parts[place] = before[usize::from(*other)];
        }
        sort(copies, &mut parts[layout.messages..]);
    }

    fn rename(&mut self, copies: &mut Copies<P>, number: u32, all: &Small, shift: Ticks) -> u32 {
        let question = (number, all.of_kinds_in(&copies.head(number).look.small), shift);
        if let Some(known) = self.names.get(&question) {
            return known;
        }
        let names = Names::new(*all, Looking::new(&copies.rules), shift);
        let mut piece = copies.piece(number).clone();
        piece.visit(&mut Rewriting::new(&names, &copies.rules));
        let renamed = copies.number(piece);
        self.names.put(question, renamed);
        renamed
    }

    /// Remembers what a step did that was taken in full, if it is one of which that can be said. The world has not been brought
    /// into form since.
    pub(super) fn learn(
        &mut self,
        copies: &mut Copies<P>,
        last: &Formed<P>,
        next: &Formed<P>,
        question: &Question<P>,
        step: &Step<P>,
    ) {
        let layout = Layout::of(last.clients.len());
        let is_own = |process: &ProcessId| layout.place(*process) == question.acting;
        if !step.dropped.is_empty() || step.sent.len() > SENT || !step.touched.iter().all(is_own) {
            return;
        }
        let after = match Piece::at(&next.world, question.acting) {
            // What it remembers of the facts is told by them.
            Piece::Memory(resource, _) => Piece::Memory(resource, last.ghosts.clone()),
            piece => settled(&copies.rules, piece, Ticks::ZERO),
        };
        let mut sent = [0; SENT];
        for (number, envelope) in sent.iter_mut().zip(&step.sent) {
            *number = copies.number(Piece::Message(*envelope));
        }
        let known = self.facts.iter().position(|(facts, _)| *facts == step.facts);
        let facts = known.unwrap_or_else(|| {
            self.facts.push((step.facts.clone(), Reached::by(&step.facts)));
            self.facts.len() - 1
        });
        let (after, count) = (copies.number(after), u8::try_from(step.sent.len()).expect("they are few"));
        let facts = u32::try_from(facts).expect("memory is full before");
        self.steps.put(question.key, Outcome { after, sent, count, facts });
    }
}

/// Restores the order of messages.
fn sort<P: Protocol>(copies: &Copies<P>, messages: &mut [u32]) {
    messages.sort_by(|one, other| copies.piece(*one).message().cmp(&copies.piece(*other).message()));
}

/// The same part after so much time; a server forgets what is meaningless from then on.
fn settled<P: Protocol>(rules: &Rules, mut piece: Piece<P>, ticks: Ticks) -> Piece<P> {
    if let Piece::Server(seat) = &mut piece {
        let clock = Instant::START + ticks + seat.skew;
        seat.process.settle(clock - rules.back);
    }
    piece
}
