//! Random graphs as spaces, for tests.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use super::cluster::{Heard, Portable, Told};
use super::disk::{Stored, put_number, take_number};
use super::{Marks, Paths, PlainChunk, SearchPlan, SearchResult, Space, Transition, search};
use crate::limits::{Limits, Unsupervised};

/// A random graph. Its states are numbers that are given out as they are met, as those of parts of worlds.
pub(super) struct Maze {
    seed: u64,
    /// How many nodes it has.
    nodes: u64,
    /// How far an edge leads at most.
    span: u64,
    /// One edge of this many breaks a promise, and one node of twice as many.
    broken: Option<u64>,
    /// The nodes that were met, by number, and their numbers.
    met: Mutex<(Vec<u64>, BTreeMap<u64, u32>)>,
    /// How many states were expanded.
    pub(super) expanded: AtomicU64,
    /// Counts states that are new.
    pub(super) counted: AtomicU64,
}

pub(super) fn mix(words: &[u64]) -> u64 {
    words.iter().fold(0x243f_6a88_85a3_08d3, |state, word| {
        let product = u128::from(state ^ word) * 0x9e37_79b9_7f4a_7c15_u128;
        (product as u64 ^ (product >> 64) as u64).wrapping_add(0x9e37_79b9_7f4a_7c15)
    })
}

impl Maze {
    pub(super) fn new(seed: u64, nodes: u64, span: u64, broken: Option<u64>) -> Arc<Self> {
        let (met, expanded, counted) = (Mutex::default(), AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Maze { seed, nodes, span, broken, met, expanded, counted })
    }

    /// The same without what was met.
    pub(super) fn anew(&self) -> Arc<Self> {
        Maze::new(self.seed, self.nodes, self.span, self.broken)
    }

    fn number(&self, node: u64) -> u32 {
        let (nodes, numbers) = &mut *self.met.lock().unwrap();
        *numbers.entry(node).or_insert_with(|| {
            nodes.push(node);
            nodes.len() as u32 - 1
        })
    }

    fn node(&self, number: u32) -> u64 {
        self.met.lock().unwrap().0[number as usize]
    }
}

impl Space for Maze {
    type State = u32;
    type Chunk = PlainChunk<u32>;
    type Scratch = ();

    fn starts(&self) -> Vec<u32> {
        [0, 1, 0].map(|node| self.number(node)).into()
    }

    fn fingerprint(&self, state: &u32) -> u64 {
        mix(&[self.node(*state)])
    }

    fn is_broken(&self, state: &u32) -> bool {
        self.counted.fetch_add(self.node(*state), Relaxed);
        self.broken.is_some_and(|broken| mix(&[self.seed, 7, self.node(*state)]).is_multiple_of(2 * broken))
    }

    fn expand(&self, state: &u32, _: &mut (), mut found: impl FnMut(Transition<u32>)) -> Result<(), String> {
        self.expanded.fetch_add(1, Relaxed);
        let node = self.node(*state);
        for action in 0..1 + (mix(&[self.seed, node]) % 4) as u16 {
            let word = mix(&[self.seed, node, u64::from(action)]);
            let to = (node + word % self.span) % self.nodes;
            let is_violation = self.broken.is_some_and(|broken| mix(&[word]).is_multiple_of(broken));
            let marks = Marks { reached: 1 << (word % 61), kinds: 1 << (word % 59) };
            found(Transition { action, state: self.number(to), is_violation, marks });
        }
        Ok(())
    }
}

impl Stored for Maze {
    fn encode(&self, state: &u32, to: &mut Vec<u8>) {
        to.extend(state.to_le_bytes());
    }

    fn decode(&self, bytes: &[u8]) -> Option<u32> {
        bytes.try_into().ok().map(u32::from_le_bytes)
    }

    fn waiting(&self, state: u32) -> u32 {
        state
    }

    fn parts(&self) -> u64 {
        self.met.lock().unwrap().0.len() as u64
    }

    fn write_parts(&self, parts: Range<u64>, to: &mut Vec<u8>) -> Result<(), String> {
        parts.for_each(|number| to.extend(self.node(number as u32).to_le_bytes()));
        Ok(())
    }

    fn read_parts(&self, bytes: &[u8]) -> Result<(), String> {
        bytes.chunks(8).for_each(|node| {
            self.number(u64::from_le_bytes(node.try_into().unwrap()));
        });
        Ok(())
    }

    fn counters(&self) -> Vec<u64> {
        vec![self.counted.load(Relaxed)]
    }

    fn restore(&self, counters: &[u64]) {
        self.counted.store(counters[0], Relaxed);
    }
}

impl Portable<u32> for Maze {
    fn pack(&self, state: &u32, told: &mut Told, parts: &mut Vec<u8>, to: &mut Vec<u8>) -> Result<(), String> {
        let (place, is_new) = told.place(*state);
        if is_new {
            parts.extend(self.node(*state).to_le_bytes());
        }
        put_number(place.into(), to);
        Ok(())
    }

    fn learn(&self, parts: &[u8], heard: &mut Heard) -> Result<(), String> {
        for part in parts.chunks(8) {
            heard.push(self.number(u64::from_le_bytes(part.try_into().map_err(|_| "eight bytes are a node")?)));
        }
        Ok(())
    }

    fn unpack(&self, mut bytes: &[u8], heard: &Heard) -> Option<u32> {
        heard.number(take_number(&mut bytes)?)
    }

    fn counters(&self) -> Vec<u64> {
        vec![self.counted.load(Relaxed)]
    }

    fn add(&self, counters: &[u64]) {
        self.counted.fetch_add(counters[0], Relaxed);
    }
}

pub(super) fn plan(workers: usize) -> SearchPlan {
    SearchPlan { workers, limits: Limits::default(), supervisor: Arc::new(Unsupervised), paths: Paths::Noted }
}

/// What the search in memory comes to, and what the space counts.
pub(super) fn expected(maze: &Maze) -> (SearchResult, u64) {
    let maze = maze.anew();
    let result = search(&maze, &plan(1)).unwrap();
    (result, maze.counted.load(Relaxed))
}

/// Two mazes: one without a violation, and one with.
pub(super) fn mazes() -> [Arc<Maze>; 2] {
    [Maze::new(3, 700, 90, None), Maze::new(4, 700, 40, Some(211))]
}
