//! Component tables: worlds as lists of numbers. The worlds of a search are many combinations of few different parts: millions of worlds may have
//! no more than ninety states of a client in them. So each part is kept once, and a world is remembered by the numbers of its
//! parts (collapse compression: Holzmann, "State compression in Spin", 1997). What a step does depends on few parts, too, and
//! is remembered by their numbers (transition caching: Blom, van de Pol and Weber, "LTSmin", CAV 2010); most steps of a search
//! are never taken, but looked up.
//!
//! ```text
//! pool       every part that was met, by number
//! memo       what steps did, by the parts that they depend on
//! naming     what parts are called in normal form
//! arranging  what parts become when interchangeable clients change places
//! cache      what was asked lately and answered
//! packed     worlds that wait to be expanded
//! stored     worlds and parts as bytes, for a search on disk
//! ```

mod arranging;
mod cache;
mod memo;
mod naming;
mod packed;
mod pool;
mod stored;

use fencepost_model::goal::Reached;
use fencepost_model::inline_vec::InlineVec;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::Action;

use self::memo::{Lookup, Memo};
pub(crate) use self::packed::PackedChunk;
use self::pool::WorkerPool;
pub(crate) use self::pool::{Pool, SharedPool};
use super::hash::hash_of;
use super::normal_form::{Formed, NormalForm};
use super::piece::{Layout, Piece};
use super::subsumption::Subsumption;
use crate::engine::Allowance;

/// The numbers of a world's parts: clients, server, what is remembered, cuts and budgets, messages.
pub(crate) type Numbers = InlineVec<u32, 12>;

/// A world in normal form, as the numbers that its parts have in a [`Pool`]: it means something beside that pool only.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Collapsed {
    parts: Numbers,
    fingerprint: u64,
    allowance: Allowance,
    partition_key: u32,
}

impl Collapsed {
    /// By this worlds are divided among workers, until they have arrived.
    pub(crate) fn partition_key(&self) -> u32 {
        self.partition_key
    }

    /// The numbers of its parts, for a law.
    #[cfg(feature = "stateright")]
    pub(crate) fn parts(&self) -> &Numbers {
        &self.parts
    }

    /// That of the world in normal form; without what is compared, where some worlds cover others.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// What is compared.
    pub(crate) fn allowance(&self) -> Allowance {
        self.allowance
    }
}

/// Where a step leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Successor {
    /// To this world.
    pub(crate) to: Collapsed,
    /// What it reaches.
    pub(crate) reached: Reached,
    /// Whether it breaks a promise.
    pub(crate) is_violation: bool,
}

/// Takes steps of a search: opens a world, and says where its actions lead.
pub(crate) struct Stepper<P: Service> {
    copies: WorkerPool<P>,
    memo: Memo<P>,
    /// What the steps of the open world depend on that will be taken.
    questions: Vec<Option<Lookup<P>>>,
    opened: Collapsed,
    /// The world that is open.
    last: Formed<P>,
    /// A world that was like it before the last step that was taken in full, if there was one.
    next: Formed<P>,
    is_next_near: bool,
}

impl<P: Service> Stepper<P> {
    /// For the worlds of a scenario, some of which may cover others, and one of this number of workers; the one at the start is open.
    pub(crate) fn new(
        scenario: &Scenario<P>,
        form: &NormalForm,
        pool: SharedPool<P>,
        subsumption: Subsumption,
        workers: usize,
    ) -> Self {
        let mut copies = WorkerPool::new(pool, form.rules, subsumption);
        let last = form.form(scenario.observed());
        let opened = collapse(&mut copies, &last, None);
        let memo = Memo::new(scenario, form, last.clients.len(), workers);
        Stepper { copies, memo, questions: Vec::new(), opened, next: last.clone(), last, is_next_near: false }
    }

    /// The numbers of the parts of any world in normal form.
    pub(crate) fn collapse(&mut self, world: &Formed<P>) -> Collapsed {
        collapse(&mut self.copies, world, None)
    }

    /// Opens the world of which these are the parts.
    pub(crate) fn open(&mut self, numbers: &Numbers) -> &Formed<P> {
        let Formed { state, parts } = &mut self.last;
        let layout = Layout::of(state.clients.len());
        for (place, number) in numbers.iter().enumerate() {
            if self.opened.parts.get(place) == Some(number) {
                continue;
            }
            self.copies.fetch(*number);
            self.copies.piece(*number).put(state);
            if place < layout.rest {
                let head = self.copies.head(*number);
                parts.put(place, head.part(), head.outside);
            }
        }
        let messages = &numbers[layout.messages..];
        if *messages != self.opened.parts[layout.messages..] {
            state
                .world
                .network
                .fill(messages.iter().filter_map(|number| self.copies.piece(*number).message().copied()));
            parts.put_messages(layout.server, messages.iter().map(|number| self.copies.head(*number).part()));
        }
        self.opened.parts.clone_from(numbers);
        (self.opened.fingerprint, self.opened.allowance) = {
            let fingerprint = || self.copies.fingerprint(&layout, numbers);
            self.copies.identity(&layout, numbers, fingerprint)
        };
        self.opened.partition_key = self.copies.partition_key(&layout, numbers);
        parts.rest(self.opened.fingerprint);
        self.is_next_near = false;
        self.questions.clear();
        &self.last
    }

    /// The fingerprint of the world that is open, and what it has left.
    pub(crate) fn identity(&self) -> (u64, Allowance) {
        (self.opened.fingerprint, self.opened.allowance)
    }

    /// Whether a world is the one that is open; those of an exact pool are compared by their parts.
    pub(crate) fn is_open(&self, world: &Collapsed) -> bool {
        match self.copies.is_exact() {
            true => world.parts == self.opened.parts,
            false => (world.fingerprint, world.allowance) == self.identity(),
        }
    }

    /// The world that is open.
    pub(crate) fn opened(&self) -> &Formed<P> {
        &self.last
    }

    /// Says which actions of the open world will be taken, in order. Looks at the places of all that is remembered of them, which waits for
    /// memory once.
    pub(crate) fn ask<'a>(&mut self, scenario: &Scenario<P>, actions: impl IntoIterator<Item = &'a Action<P>>) {
        let Stepper { memo, opened, last, questions, .. } = self;
        questions.clear();
        questions.extend(actions.into_iter().map(|action| memo.question(scenario, action, opened, last)));
        let touched = questions.iter().flatten().fold(false, |sum, question| sum ^ memo.touch(question));
        std::hint::black_box(touched);
    }

    /// Where an action of the open world leads: the one that was named at this place.
    pub(crate) fn step(
        &mut self,
        scenario: &Scenario<P>,
        form: &NormalForm,
        (place, action): (usize, &Action<P>),
    ) -> Successor {
        let Stepper { copies, memo, opened, last, questions, .. } = self;
        let question = questions[place];
        let known = question.and_then(|question| memo.answer(scenario, copies, opened, last, action, &question));
        known.unwrap_or_else(|| self.take(scenario, form, action, question.as_ref()))
    }

    /// Takes the step in full, and remembers what it did if it is one of those of which that can be said. Clients change places as numbers of
    /// parts: what an order of clients makes of a part depends on that part alone, and is remembered from other worlds.
    fn take(
        &mut self,
        scenario: &Scenario<P>,
        form: &NormalForm,
        action: &Action<P>,
        question: Option<&Lookup<P>>,
    ) -> Successor {
        let Stepper { copies, memo, opened, last, next, is_next_near, .. } = self;
        if *is_next_near {
            next.undo(last);
        } else {
            next.clone_from(last);
        }
        *is_next_near = true;
        let step = next.state_mut().step(scenario, action);
        if let Some(question) = question {
            memo.learn(scenario, copies, last, next, question, &step);
        }
        let is_to_be_arranged = match memo.arranges() {
            true => form.renew_in_place(next, last, &step.touched),
            false => {
                form.renew(next, last, &step.touched);
                false
            }
        };
        let mut to = collapse(copies, next, Some(opened));
        if is_to_be_arranged {
            memo.arrange(copies, &Layout::of(last.clients.len()), &mut to);
        }
        Successor { to, reached: scenario.reached(&step.facts), is_violation: !step.violations.is_empty() }
    }
}

/// The numbers of a world's parts, most of which are those of the world before it, if there is one.
fn collapse<P: Service>(copies: &mut WorkerPool<P>, formed: &Formed<P>, before: Option<&Collapsed>) -> Collapsed {
    let Formed { state, parts } = formed;
    let layout = Layout::of(state.clients.len());
    let rest = hash_of((&state.cuts, state.left));
    let hashes = parts.hashes().take(layout.rest).chain([rest]).chain(parts.hashes().skip(layout.rest));
    let number = |(place, hash)| {
        let known = before.and_then(|before| before.parts.get(place)).copied();
        let is_same =
            |known: &u32| copies.head(*known).hash == hash && copies.is_same(*known, || Piece::at(state, place));
        let same = known.filter(is_same);
        same.unwrap_or_else(|| copies.number_by(layout.kind(place), hash, || Piece::at(state, place)))
    };
    let numbers: Numbers = hashes.enumerate().map(number).collect();
    let (fingerprint, allowance) = copies.identity(&layout, &numbers, || formed.fingerprint());
    let partition_key = copies.partition_key(&layout, &numbers);
    Collapsed { parts: numbers, fingerprint, allowance, partition_key }
}
