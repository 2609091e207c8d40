//! Every part that was met, once, by number. Workers share one pool, so that a number means the same to all of them; each
//! keeps at hand what it has met, and asks the pool for the rest. A part is told from others by its hash, as a world is by its
//! fingerprint, which is made of these hashes: what one takes for the same, the other does, too. In an exact pool parts with the same hash are
//! compared.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex};

use fencepost_model::monitor::Observed;
use fencepost_model::mutation::CheckerMutation;
use fencepost_model::normal::Normal;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::time::Instant;

use super::super::hash::fingerprint;
use super::super::names::{Looking, Occurrences, Rules};
use super::super::parts::Part;
use super::super::piece::{Layout, Piece};
use super::super::subsumption::{Comparable, Subsumption};
use super::super::symmetry::outside;
use super::super::unheard::About;
use super::Collapsed;
use super::cache::Cache;
use crate::engine::Allowance;

/// The parts of all worlds of a search.
pub(crate) struct Pool<P: Service> {
    parts: Vec<Arc<Component<P>>>,
    /// By kind and hash.
    numbers: BTreeMap<(u32, u64), u32>,
    /// Whether parts are compared, and not told from others by their hashes alone.
    is_exact: bool,
    /// After a part, another one of the same kind and hash, if there is one.
    twins: BTreeMap<u32, u32>,
    /// The bits of a hash that count: all, but for a mutant.
    bits: u64,
}

/// A pool that all workers use. To put them on several machines means to send along the parts that the other one has not met.
pub(crate) type SharedPool<P> = Arc<Mutex<Pool<P>>>;

/// A part, and what is known of it.
pub(super) struct Component<P: Service> {
    pub(super) piece: Piece<P>,
    pub(super) head: ComponentSummary,
}

/// What is known of a part.
#[derive(Copy, Clone, Default)]
pub(super) struct ComponentSummary {
    pub(super) look: Occurrences,
    pub(super) hash: u64,
    /// Of a client: the part of its hash that does not depend on its identity.
    pub(super) outside: u64,
    /// Of a message: whose call it is about.
    pub(super) about: About,
    /// The clients that it names: see [`Piece::named`].
    pub(super) named: u64,
}

impl ComponentSummary {
    pub(super) fn part(&self) -> Part {
        Part::new(self.look, self.hash)
    }
}

impl<P: Service> Pool<P> {
    /// An empty pool for the worlds of a scenario; its parts are compared, if that is asked for.
    pub(crate) fn of(scenario: &Scenario<P>, is_exact: bool) -> SharedPool<P> {
        let bits = if scenario.is_mutated(CheckerMutation::PartHashTruncated) { 7 } else { u64::MAX };
        let (parts, numbers, twins) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Arc::new(Mutex::new(Pool { parts, numbers, is_exact, twins, bits }))
    }

    /// The world of which the parts are in this pool.
    pub(crate) fn world(&self, scenario: &Scenario<P>, collapsed: &Collapsed) -> Observed<P> {
        let mut state = scenario.observed();
        // In normal form it is 0, also where time passes in the prefix.
        state.world.now = Instant::START;
        let layout = Layout::of(state.clients.len());
        let (inner, messages) = collapsed.parts.split_at(layout.messages);
        inner.iter().for_each(|number| self.part(*number).piece.put(&mut state));
        state.world.network.fill(messages.iter().filter_map(|number| self.part(*number).piece.message().copied()));
        state
    }

    pub(super) fn part(&self, number: u32) -> &Arc<Component<P>> {
        &self.parts[number as usize]
    }

    /// How many parts there are.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// The number of a part of this kind and hash, which may be a new one.
    pub(super) fn number(&mut self, key: (u32, u64), part: impl FnOnce() -> Component<P>) -> u32 {
        let new = u32::try_from(self.parts.len()).expect("memory is full before");
        let mut number = match self.numbers.entry(key) {
            Entry::Occupied(known) if !self.is_exact => return *known.get(),
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => {
                self.parts.push(Arc::new(part()));
                return *free.insert(new);
            }
        };
        let part = part();
        while self.part(number).piece != part.piece {
            match self.twins.entry(number) {
                Entry::Occupied(twin) => number = *twin.get(),
                Entry::Vacant(free) => {
                    self.parts.push(Arc::new(part));
                    return *free.insert(new);
                }
            }
        }
        number
    }
}

/// The parts that one worker has met.
pub(super) struct WorkerPool<P: Service> {
    pool: SharedPool<P>,
    /// By number, as the pool has them.
    parts: Vec<Option<Arc<Component<P>>>>,
    /// The same of what is looked at most; nothing for those that this worker has not met.
    heads: Vec<ComponentSummary>,
    /// What is compared of them, if worlds are.
    comparable: Vec<Comparable>,
    subsumption: Subsumption,
    numbers: Cache<(u32, u64), u32>,
    is_exact: bool,
    bits: u64,
    pub(super) rules: Rules,
}

/// Why the pool can be locked.
const UNPOISONED: &str = "no worker panics while it holds the pool";

/// The logarithm of how many parts are found without asking the pool.
const NUMBERS: u32 = 20;

impl<P: Service> WorkerPool<P> {
    pub(super) fn new(pool: SharedPool<P>, rules: Rules, subsumption: Subsumption) -> Self {
        let (parts, heads, comparable, numbers) = (Vec::new(), Vec::new(), Vec::new(), Cache::new(NUMBERS));
        let (is_exact, bits) = {
            let pool = pool.lock().expect(UNPOISONED);
            (pool.is_exact, pool.bits)
        };
        WorkerPool { pool, parts, heads, comparable, subsumption, numbers, is_exact, bits, rules }
    }

    /// The fingerprint of the world of which these are the parts, all of them at hand.
    #[inline]
    pub(super) fn fingerprint(&self, layout: &Layout, numbers: &[u32]) -> u64 {
        let hash = |number: &u32| self.head(*number).hash;
        let (inner, messages) = (&numbers[..layout.rest], &numbers[layout.messages..]);
        fingerprint(hash(&numbers[layout.rest]), inner.iter().chain(messages).map(hash))
    }

    /// By this worlds are divided among workers: by their server and what is remembered, which most steps leave as they are. Worlds that
    /// cover each other have them in common.
    #[inline]
    pub(super) fn partition_key(&self, layout: &Layout, numbers: &[u32]) -> u32 {
        let hash = |place: usize| self.head(numbers[place]).hash;
        let both = (hash(layout.server) ^ hash(layout.memory).rotate_left(7)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        u32::try_from(both >> u32::BITS).expect("these are the high bits")
    }

    /// By what a search knows the world of which these are the parts: where worlds are compared, its fingerprint without what is compared, and
    /// that; or else its fingerprint.
    #[inline]
    pub(super) fn identity(
        &self,
        layout: &Layout,
        numbers: &[u32],
        fingerprint: impl FnOnce() -> u64,
    ) -> (u64, Allowance) {
        let identity = self.subsumption.lanes().and_then(|_| {
            let part = |place: usize| self.comparable[numbers[place] as usize];
            self.subsumption.identity(layout, numbers.len(), part)
        });
        identity.unwrap_or_else(|| (fingerprint(), Allowance::default()))
    }

    /// The number of a part.
    pub(super) fn number(&mut self, mut piece: Piece<P>) -> u32 {
        piece.sort();
        let (kind, hash) = (piece.kind(), piece.hash());
        self.number_by(kind, hash, || piece.clone())
    }

    /// The number of a part of which the hash is known.
    #[inline]
    pub(super) fn number_by(&mut self, kind: u32, hash: u64, piece: impl Fn() -> Piece<P>) -> u32 {
        let key = (kind, hash & self.bits);
        if let Some(number) = self.numbers.get(&key).filter(|number| self.is_same(*number, &piece)) {
            return number;
        }
        let mut pool = self.pool.lock().expect(UNPOISONED);
        let number = pool.number(key, || Component::new(piece(), hash, &self.rules));
        let part = Arc::clone(pool.part(number));
        drop(pool);
        self.keep(number, part);
        self.numbers.put(key, number);
        number
    }

    /// Whether a part that is at hand is this one, which has the same hash.
    #[inline]
    pub(super) fn is_same(&self, number: u32, piece: impl FnOnce() -> Piece<P>) -> bool {
        !self.is_exact || *self.piece(number) == piece()
    }

    /// Whether parts are compared.
    pub(super) fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Sees to it that a part is at hand that perhaps another worker has met.
    #[inline]
    pub(super) fn fetch(&mut self, number: u32) {
        if self.parts.get(number as usize).is_none_or(Option::is_none) {
            let part = Arc::clone(self.pool.lock().expect(UNPOISONED).part(number));
            self.keep(number, part);
        }
    }

    fn keep(&mut self, number: u32, part: Arc<Component<P>>) {
        let place = number as usize;
        if self.parts.len() <= place {
            self.parts.resize(place + 1, None);
            self.heads.resize(place + 1, ComponentSummary::default());
        }
        if self.subsumption.lanes().is_some() {
            self.comparable.resize(self.parts.len(), Comparable::default());
            self.comparable[place] = self.subsumption.comparable(&part.piece, part.head.hash);
        }
        self.heads[place] = part.head;
        self.parts[place] = Some(part);
    }

    /// What is known of a part that is at hand.
    #[inline]
    pub(super) fn head(&self, number: u32) -> &ComponentSummary {
        &self.heads[number as usize]
    }

    /// A part that is at hand.
    #[inline]
    pub(super) fn piece(&self, number: u32) -> &Piece<P> {
        &self.parts[number as usize].as_ref().expect("only known components are named").piece
    }
}

impl<P: Service> Component<P> {
    pub(super) fn new(mut piece: Piece<P>, hash: u64, rules: &Rules) -> Self {
        let mut looking = Looking::new(rules);
        piece.visit(&mut looking);
        let outside = match &piece {
            Piece::Client(client, host) => outside::<P>(client.place(), host),
            _ => 0,
        };
        let about = piece.message().map_or(About::Other, About::of);
        let named = piece.named();
        Component { piece, head: ComponentSummary { look: looking.look, hash, outside, about, named } }
    }
}
