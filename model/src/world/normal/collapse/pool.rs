//! Every part that was met, once, by number. Workers share one pool, so that a number means the same to all of them; each
//! keeps at hand what it has met, and asks the pool for the rest.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use super::super::Normal;
use super::super::names::{Look, Looking, Rules};
use super::super::parts::Part;
use super::super::symmetry::outside;
use super::cache::Cache;
use super::super::piece::Piece;
use crate::protocol::Protocol;

/// The parts of all worlds of a search.
pub struct Pool<P: Protocol>(Mutex<Stock<P>>);

struct Stock<P: Protocol> {
    parts: Vec<Arc<Known<P>>>,
    /// By kind and hash.
    numbers: BTreeMap<(u32, u64), u32>,
}

/// A part, and what is known of it.
pub(super) struct Known<P: Protocol> {
    pub(super) piece: Piece<P>,
    pub(super) head: Head,
}

/// What is known of a part.
#[derive(Copy, Clone, Default)]
pub(super) struct Head {
    pub(super) look: Look,
    pub(super) hash: u64,
    /// Of a client: what can be seen of it by whoever does not know its name.
    pub(super) outside: u64,
}

impl Head {
    pub(super) fn part(&self) -> Part {
        Part::new(self.look, self.hash)
    }
}

impl<P: Protocol> Default for Pool<P> {
    fn default() -> Self {
        Pool(Mutex::new(Stock { parts: Vec::new(), numbers: BTreeMap::new() }))
    }
}

impl<P: Protocol> Pool<P> {
    fn stock(&self) -> MutexGuard<'_, Stock<P>> {
        self.0.lock().expect("nobody panics while he looks something up")
    }

    /// A part by its number.
    pub(super) fn part(&self, number: u32) -> Arc<Known<P>> {
        Arc::clone(&self.stock().parts[number as usize])
    }
}

/// The parts that one worker has met.
pub(super) struct Copies<P: Protocol> {
    pool: Arc<Pool<P>>,
    /// By number, as the pool has them.
    parts: Vec<Option<Arc<Known<P>>>>,
    /// The same of what is looked at most; nothing for those that this worker has not met.
    heads: Vec<Head>,
    numbers: Cache<(u32, u64), u32>,
    pub(super) rules: Rules,
}

/// The logarithm of how many parts are found without asking the pool.
const NUMBERS: u32 = 14;

impl<P: Protocol> Copies<P> {
    pub(super) fn new(pool: &Arc<Pool<P>>, rules: Rules) -> Self {
        let (parts, heads, numbers) = (Vec::new(), Vec::new(), Cache::new(NUMBERS));
        Copies { pool: Arc::clone(pool), parts, heads, numbers, rules }
    }

    /// The number of a part.
    pub(super) fn number(&mut self, mut piece: Piece<P>) -> u32 {
        piece.sort();
        let (kind, hash) = (piece.kind(), piece.hash());
        self.number_by(kind, hash, || piece)
    }

    /// The number of a part of which the hash is known.
    #[inline]
    pub(super) fn number_by(&mut self, kind: u32, hash: u64, piece: impl FnOnce() -> Piece<P>) -> u32 {
        if let Some(number) = self.numbers.get(&(kind, hash)) {
            return number;
        }
        let pool = Arc::clone(&self.pool);
        let mut stock = pool.stock();
        let number = match stock.numbers.get(&(kind, hash)) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(stock.parts.len()).expect("memory is full before");
                stock.parts.push(Arc::new(Known::new(piece(), hash, &self.rules)));
                stock.numbers.insert((kind, hash), number);
                number
            }
        };
        self.keep(number, &stock.parts[number as usize]);
        self.numbers.put((kind, hash), number);
        number
    }

    /// Sees to it that a part is at hand that perhaps another worker has met.
    #[inline]
    pub(super) fn fetch(&mut self, number: u32) {
        if self.parts.get(number as usize).is_none_or(Option::is_none) {
            let part = self.pool.part(number);
            self.keep(number, &part);
        }
    }

    fn keep(&mut self, number: u32, part: &Arc<Known<P>>) {
        let place = number as usize;
        if self.parts.len() <= place {
            self.parts.resize(place + 1, None);
            self.heads.resize(place + 1, Head::default());
        }
        (self.parts[place], self.heads[place]) = (Some(Arc::clone(part)), part.head);
    }

    /// What is known of a part that is at hand.
    #[inline]
    pub(super) fn head(&self, number: u32) -> &Head {
        &self.heads[number as usize]
    }

    /// A part that is at hand.
    #[inline]
    pub(super) fn piece(&self, number: u32) -> &Piece<P> {
        &self.parts[number as usize].as_ref().expect("whoever names it has met it").piece
    }
}

impl<P: Protocol> Known<P> {
    fn new(mut piece: Piece<P>, hash: u64, rules: &Rules) -> Self {
        let mut looking = Looking::new(rules);
        piece.visit(&mut looking);
        let outside = match &piece {
            Piece::Client(client, seat) => outside::<P>(client.place(), seat),
            _ => 0,
        };
        Known { piece, head: Head { look: looking.look, hash, outside } }
    }
}
