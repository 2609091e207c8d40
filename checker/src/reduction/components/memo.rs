//! What steps did, by the parts that they depend on.
//!
//! Nearly every step depends on few parts: on the process that something happens to, and on what happens; a fault on the budget
//! and on the server, too, which may notice it; and where responses take no time, on their receivers. It changes no others,
//! sends messages, and states facts. Violations and ghosts are recomputed at each cache hit;
//! the names of the normal form are computed [part by part](super::naming).
//!
//! Faults of the service are not cached, because they may change anything; nor are messages that a cut link may lose.

use std::hash::Hash;

use fencepost_model::fact::Fact;
use fencepost_model::goal::Reached;
use fencepost_model::ids::{ClientId, ProcessId, Tenure};
use fencepost_model::inline_array::InlineArray;
use fencepost_model::inline_vec::InlineVec;
use fencepost_model::monitor::Observed;
use fencepost_model::mutation::{CheckerMutation, Mutation};
use fencepost_model::normal::Normal;
use fencepost_model::scenario::{Cutting, Replies, Scenario};
use fencepost_model::service::Service;
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::world::{Action, Envelope, Fault, Step};

use super::super::names::{OWNERS, Rules};
use super::super::normal_form::{Formed, NormalForm};
use super::super::piece::{Layout, Piece};
use super::super::unheard::Unheard;
use super::arranging::PartArranging;
use super::cache::Cache;
use super::naming::PartNaming;
use super::pool::WorkerPool;
use super::{Collapsed, Successor};

/// The logarithms of how many answers of each kind one of few workers keeps at most.
const STEPS: u32 = 17;
const NAMES: u32 = 15;
const PLACES: u32 = 18;
const MEMORIES: u32 = 14;

/// The logarithm of how many workers are few: more of them keep no more than these do, all together.
const WHOLE: u32 = 3;

/// The logarithm of how many answers one of many workers may keep at least.
const LEAST: u32 = 12;

/// The maximum number of components that a step depends on.
const ROLES: usize = 3;

/// The places of these parts in the world.
type Roles = InlineArray<usize, ROLES>;

/// A step that is remembered sends no more messages than these.
const SENT: usize = 3;

/// What happens.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
enum Cause<P: Service> {
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
    /// A message will arrive once more, by its number.
    Doubles(u32),
    /// Time passes.
    Passes(Ticks),
    /// An operator action.
    Acts(P::OperatorAction),
    /// Something that should not happen, or the end of it.
    Strikes(Fault<P>),
    /// A clock moves.
    Slips(Ticks),
}

/// What a step depends on.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
struct Key<P: Service> {
    /// The parts, and zeros where there are fewer.
    parts: [u32; ROLES],
    /// The tenures that stamp their writes.
    tenures: [u16; 2],
    cause: Cause<P>,
}

/// What a step of the open world depends on, and where in the world that is.
#[derive(Copy, Clone, Debug)]
pub(super) struct Lookup<P: Service> {
    key: Key<P>,
    /// The hash of the key.
    hash: u64,
    /// The places of the parts.
    places: Roles,
    /// The place of the message that arrives or is lost.
    message: Option<usize>,
    shift: Ticks,
}

/// What a step did, before anything got new names.
#[derive(Copy, Clone)]
struct CachedStep {
    /// The parts that it depends on, afterwards.
    after: [u32; ROLES],
    sent: [u32; SENT],
    count: u8,
    /// The place of its facts in [`Memo::facts`].
    facts: u16,
}

/// What steps did.
pub(super) struct Memo<P: Service> {
    is_of_use: bool,
    mutation: Option<Mutation>,
    /// Whether what is remembered depends on every world that is passed.
    looks_at_every_world: bool,
    steps: Cache<Key<P>, CachedStep>,
    /// Low bits of the hashes of keys that missed the cache, at the places that the high bits say: a power of two of them.
    asked: Vec<u32>,
    /// Facts that steps state; none come first.
    facts: Vec<(InlineVec<Fact<P>, 4>, Reached)>,
    /// What is remembered after facts.
    memories: Cache<(u32, u16), u32>,
    naming: PartNaming,
    arranging: PartArranging,
    unheard: Unheard,
    /// Whether a server only answers a message.
    answers: Cache<(u32, u32), bool>,
}

impl<P: Service> Memo<P> {
    /// That of one of several workers. Worlds are divided among them by server; what does not depend on the server is asked by all of them, and
    /// each has room for it.
    pub(super) fn new(scenario: &Scenario<P>, form: &NormalForm, clients: usize, workers: usize) -> Self {
        let share = workers.next_power_of_two().trailing_zeros().saturating_sub(WHOLE);
        let own = |all: u32| all.saturating_sub(share).max(LEAST);
        Memo {
            // A property that the scenario defines may look at anything, messages too.
            is_of_use: clients < usize::from(OWNERS) && !scenario.has_own_promises(),
            mutation: scenario.mutation,
            looks_at_every_world: scenario.looks_at_every_world(),
            steps: Cache::new(own(STEPS)),
            asked: vec![0; 1 << own(STEPS)],
            facts: vec![(InlineVec::new(), Reached(0))],
            memories: Cache::new(own(MEMORIES)),
            naming: PartNaming::new(scenario.mutation, own(NAMES)),
            arranging: PartArranging::new(form, scenario.mutation, clients, own(PLACES)),
            unheard: form.unheard,
            answers: Cache::new(own(MEMORIES)),
        }
    }

    /// Whether clients can change places by the numbers of parts.
    pub(super) fn arranges(&self) -> bool {
        self.is_of_use
    }

    /// Lets clients change places in a world that has the names of the normal form: what that makes of parts is remembered.
    pub(super) fn arrange(&mut self, copies: &mut WorkerPool<P>, layout: &Layout, world: &mut Collapsed) {
        let Collapsed { parts, fingerprint, allowance, partition_key } = world;
        let is_left = self.mutation == Some(CheckerMutation::TakenUnarranged.into());
        if !is_left && self.arranging.arrange(copies, layout, parts) {
            (*fingerprint, *allowance) = copies.identity(layout, parts, || copies.fingerprint(layout, parts));
            *partition_key = copies.partition_key(layout, parts);
        }
    }

    /// What the action's step depends on, if that is little enough.
    pub(super) fn question(
        &self,
        scenario: &Scenario<P>,
        action: &Action<P>,
        opened: &Collapsed,
        last: &Formed<P>,
    ) -> Option<Lookup<P>> {
        let is = |mutation: CheckerMutation| self.mutation == Some(mutation.into());
        let is_lossy = scenario.network.cuts == Cutting::Drop && !is(CheckerMutation::KeyIgnoresLossyCuts);
        if !self.is_of_use || is_lossy && !last.cuts.is_empty() {
            return None;
        }
        let layout = Layout::of(last.clients.len());
        let place = |envelope: &Envelope<P>| last.network.place(envelope);
        let number = |place: usize| opened.parts[layout.messages + place];
        let alone = |place: usize| Roles::from_iter([place]);
        let held = |place: usize| last.monitor.ghosts.held.get(place).copied().unwrap_or_default();
        let (mut message, mut shift, mut sender) = (None, Ticks::ZERO, None);
        let (places, cause) = match *action {
            Action::Command { client, command } => (alone(client.place()), Cause::Asks(command)),
            Action::Wake { process, timer } => (alone(layout.place(process)), Cause::Wakes(timer)),
            Action::Choose { process, option } => (alone(layout.place(process)), Cause::Chooses(option)),
            Action::Deliver(envelope) => {
                let (arrives, to) = (place(&envelope)?, layout.place(envelope.to));
                message = Some(arrives);
                let hears_at_once =
                    scenario.network.replies != Replies::Travel && !is(CheckerMutation::KeyIgnoresCaller);
                let caller = envelope.from.client().filter(|_| hears_at_once);
                let places = caller.map_or(alone(to), |caller| Roles::from_iter([to, caller.place(), layout.rest]));
                (places, Cause::Arrives(number(arrives)))
            }
            Action::Advance(ticks) => {
                shift = ticks;
                (alone(layout.server), Cause::Passes(ticks))
            }
            Action::Lose(envelope) => {
                message = Some(place(&envelope)?);
                (alone(layout.rest), Cause::Loses)
            }
            Action::Duplicate(envelope) => {
                sender = Some(layout.place(envelope.from));
                (alone(layout.rest), Cause::Doubles(number(place(&envelope)?)))
            }
            Action::Operator(action) => (Roles::from_iter([layout.server, layout.rest]), Cause::Acts(action)),
            Action::Slip { process, by } => (Roles::from_iter([layout.place(process), layout.rest]), Cause::Slips(by)),
            Action::Fault(fault) => {
                let struck = match fault {
                    Fault::Crash(client) | Fault::Restart(client) => client.place(),
                    Fault::Pause(process) | Fault::Resume(process) => layout.place(process),
                    Fault::Cut(_) if is_lossy => return None,
                    Fault::Cut(_) | Fault::Heal(_) => layout.server,
                    Fault::RestartResource => layout.place(ProcessId::Resource),
                    Fault::Service(_) => return None,
                };
                (Roles::from_iter([struck, layout.server, layout.rest]), Cause::Strikes(fault))
            }
        };
        let mut parts = [0; ROLES];
        parts.iter_mut().zip(places.iter()).for_each(|(part, place)| *part = opened.parts[*place]);
        let second = places.get(1).copied().map(held).unwrap_or_default();
        let [first, second] = [held(sender.unwrap_or(places[0])), second].map(|Tenure(number)| u16::try_from(number));
        let tenures = [first.ok()?, second.ok()?];
        let tenures = if is(CheckerMutation::KeyIgnoresTenures) { Default::default() } else { tenures };
        if is(CheckerMutation::KeyIgnoresParts) {
            parts[1..].fill(0);
        }
        let key = Key { parts, tenures, cause };
        Some(Lookup { hash: Cache::<_, CachedStep>::hash(&key), key, places, message, shift })
    }

    /// Looks at the place of an answer, so that it is at hand when it is asked for. Returns some of what is there.
    #[inline]
    pub(super) fn touch(&self, question: &Lookup<P>) -> bool {
        self.steps.touch(question.hash)
    }

    /// Where the step leads, if what it did is remembered.
    pub(super) fn answer(
        &mut self,
        scenario: &Scenario<P>,
        copies: &mut WorkerPool<P>,
        opened: &Collapsed,
        last: &mut Formed<P>,
        action: &Action<P>,
        question: &Lookup<P>,
    ) -> Option<Successor> {
        let outcome = match (self.steps.get_by(question.hash, &question.key), question.key.cause) {
            (Some(outcome), _) => outcome,
            (None, Cause::Passes(ticks)) => self.pass(copies, question, ticks),
            (None, _) => return None,
        };
        let layout = Layout::of(last.clients.len());
        let mut list = opened.parts.clone();
        question.places.iter().zip(outcome.after).for_each(|(place, after)| list[*place] = after);
        if let Some(place) =
            question.message.filter(|_| self.mutation != Some(CheckerMutation::LookupKeepsMessage.into()))
        {
            list.remove(layout.messages + place);
        }
        outcome.sent[..usize::from(outcome.count)].iter().for_each(|sent| list.push(*sent));
        let mut is_violation = false;
        let is_slip =
            matches!(action, Action::Slip { .. }) && self.mutation != Some(CheckerMutation::LookupSlipUnjudged.into());
        let is_silent = self.mutation == Some(CheckerMutation::LookupUnjudged.into());
        if !is_silent && (outcome.facts > 0 || self.looks_at_every_world || is_slip) {
            let state = &mut last.state;
            is_violation = self.judge(scenario, copies, opened, state, (action, question, &outcome), &mut list);
        }
        self.leave_out(copies, &layout, &mut list);
        let parts: &mut [u32] = &mut list;
        self.naming.name(copies, &layout, parts, outcome.count > 0, question.shift)?;
        self.arranging.arrange(copies, &layout, parts);
        let (fingerprint, allowance) = copies.identity(&layout, parts, || copies.fingerprint(&layout, parts));
        let reached = self.facts[usize::from(outcome.facts)].1;
        let stays = self.mutation == Some(CheckerMutation::PartitionOfPredecessor.into());
        let partition_key = if stays { opened.partition_key } else { copies.partition_key(&layout, &list) };
        Some(Successor { to: Collapsed { parts: list, fingerprint, allowance, partition_key }, reached, is_violation })
    }

    /// Leaves out the messages without a reaction.
    fn leave_out(&mut self, copies: &WorkerPool<P>, layout: &Layout, parts: &mut InlineVec<u32, 12>) {
        if self.unheard.is_none() || self.mutation == Some(CheckerMutation::LookupKeepsUnheard.into()) {
            return;
        }
        let mut place = layout.messages;
        while let Some(number) = parts.get(place).copied() {
            let head = copies.head(number);
            let of_client = |client: ClientId| copies.head(parts[client.place()]).look;
            let known = &mut self.answers;
            let answers = || {
                let question = (parts[layout.server], number);
                known.get(&question).unwrap_or_else(|| {
                    let (Piece::Server(server), Some(envelope)) =
                        (copies.piece(question.0), copies.piece(number).message())
                    else {
                        unreachable!("each part has its place");
                    };
                    let answers = self.unheard.only_answers(&server.process, envelope);
                    known.put(question, answers);
                    answers
                })
            };
            if self.unheard.contains(head.about, &head.look, of_client, answers) {
                parts.remove(place);
            } else {
                place += 1;
            }
        }
    }

    /// Whether the step breaks a promise; puts what is remembered of it among the parts. For that the world shows what the step
    /// did, but for messages, which no promise is about.
    fn judge(
        &mut self,
        scenario: &Scenario<P>,
        copies: &mut WorkerPool<P>,
        opened: &Collapsed,
        state: &mut Observed<P>,
        (action, question, outcome): (&Action<P>, &Lookup<P>, &CachedStep),
        parts: &mut [u32],
    ) -> bool {
        let layout = Layout::of(state.clients.len());
        let passes = matches!(action, Action::Advance(_));
        if !passes {
            outcome.after[..question.places.len()].iter().for_each(|after| copies.piece(*after).put(state));
        }
        state.world.now += question.shift;
        let facts = &self.facts[usize::from(outcome.facts)].0;
        let Observed { world, monitor } = &mut *state;
        let is_violation = !monitor.judge(scenario, action, facts, world).is_empty();
        if self.mutation == Some(CheckerMutation::LookupForgetsFacts.into()) {
            // The mutant: the monitor is left as it was.
        } else if self.looks_at_every_world {
            monitor.remember(scenario, action, facts, world);
            parts[layout.memory] = copies.number(Piece::at(state, layout.memory));
            copies.piece(opened.parts[layout.memory]).put(state);
        } else if outcome.facts > 0 {
            parts[layout.memory] = self.remember(scenario, copies, parts[layout.memory], outcome.facts);
        }
        state.world.now = Instant::START;
        if !passes {
            question.places.iter().for_each(|place| copies.piece(opened.parts[*place]).put(state));
        }
        is_violation
    }

    /// Time passes: the server forgets what is meaningless by then.
    fn pass(&mut self, copies: &mut WorkerPool<P>, question: &Lookup<P>, ticks: Ticks) -> CachedStep {
        let ticks =
            if self.mutation == Some(CheckerMutation::LookupSettlesNothing.into()) { Ticks::ZERO } else { ticks };
        let piece = settled(&copies.rules, copies.piece(question.key.parts[0]).clone(), ticks);
        let outcome = CachedStep { after: [copies.number(piece), 0, 0], sent: [0; SENT], count: 0, facts: 0 };
        self.steps.put(question.key, outcome);
        outcome
    }

    /// What is remembered after facts.
    fn remember(&mut self, scenario: &Scenario<P>, copies: &mut WorkerPool<P>, memory: u32, facts: u16) -> u32 {
        if let Some(known) = self.memories.get(&(memory, facts)) {
            return known;
        }
        let Piece::Memory(resource, mut monitor) = copies.piece(memory).clone() else {
            unreachable!("what is remembered has its place");
        };
        monitor.remember_facts(scenario, Instant::START, &self.facts[usize::from(facts)].0);
        let after = copies.number(Piece::Memory(resource, monitor));
        self.memories.put((memory, facts), after);
        after
    }

    /// Whether the question was asked before, and lately. Where worlds are made of many parts, most are asked only once; to
    /// remember these would cost more than it saves.
    fn is_repeated(&mut self, question: &Lookup<P>) -> bool {
        let place = usize::try_from(question.hash >> (u64::BITS - self.asked.len().trailing_zeros()))
            .expect("few bits are left");
        let low = u32::try_from(question.hash & u64::from(u32::MAX)).expect("these are the low bits");
        std::mem::replace(&mut self.asked[place], low) == low
    }

    /// Remembers what a step did that was taken in full, if it is one of which that can be said. The world has not been brought
    /// into form since.
    pub(super) fn learn(
        &mut self,
        scenario: &Scenario<P>,
        copies: &mut WorkerPool<P>,
        last: &Formed<P>,
        next: &Observed<P>,
        question: &Lookup<P>,
        step: &Step<P>,
    ) {
        let layout = Layout::of(last.clients.len());
        let is_own = |place: usize| question.places.contains(&place);
        let is_touched = |process: &ProcessId| is_own(layout.place(*process));
        if !self.is_repeated(question) {
            return;
        }
        if !step.dropped.is_empty() || step.sent.len() > SENT || !step.touched.iter().all(is_touched) {
            return;
        }
        debug_assert!(
            (0..layout.messages).all(|place| {
                let is_memory = place == layout.memory && (!step.facts.is_empty() || self.looks_at_every_world);
                is_own(place) || is_memory || Piece::at(next, place) == Piece::at(last, place)
            }),
            "a step has changed more than it should depend on: {question:?}"
        );
        let mut after = [0; ROLES];
        for (number, place) in after.iter_mut().zip(question.places.iter()) {
            *number = copies.number(match Piece::at(next, *place) {
                // What is remembered of the facts is told by them.
                Piece::Memory(resource, _) => Piece::Memory(resource, last.monitor.clone()),
                piece => settled(&copies.rules, piece, Ticks::ZERO),
            });
        }
        let mut sent = [0; SENT];
        for (number, envelope) in sent.iter_mut().zip(&step.sent) {
            *number = copies.number(Piece::Message(*envelope));
        }
        let known = self.facts.iter().position(|(facts, _)| *facts == step.facts);
        let facts = known.unwrap_or(self.facts.len());
        let count = u8::try_from(step.sent.len()).expect("they are few");
        let Ok(number) = u16::try_from(facts) else { return };
        if facts == self.facts.len() {
            self.facts.push((step.facts.clone(), scenario.reached(&step.facts)));
        }
        self.steps.put(question.key, CachedStep { after, sent, count, facts: number });
    }
}

/// The same part after so much time; a server forgets what is meaningless from then on.
fn settled<P: Service>(rules: &Rules, mut piece: Piece<P>, ticks: Ticks) -> Piece<P> {
    if let Piece::Server(host) = &mut piece {
        let clock = Instant::START + ticks + host.skew;
        host.process.settle(clock - rules.horizon.back);
    }
    piece
}
