//! The edges of a state graph, as they are found: of one state after the other. They are read from one end to the other, in either
//! direction, so that they may as well be on disk.
//!
//! ```text
//! of each state   how many edges; of each edge: how far it leads, and its label
//! ```
//!
//! Each is a number in the fewest groups of seven bits (LEB128). States are numbered in the order in which they were found, so most edges
//! lead not far.

use std::ops::ControlFlow;

use crate::engine::StoreError;
use crate::engine::disk::spool::Spool;
use crate::engine::disk::{put_number, take_number};
use crate::engine::steps::{NOWHERE, Steps};

use super::graph::Node;

/// A block is written when it has this number of bytes.
const BLOCK: usize = 64 * 1024;

/// What a block that was verified contains.
const WHOLE: &str = "a block is as it was written";

/// The edges of a graph.
pub(crate) struct EdgeLog {
    spool: Spool,
    /// The first state of each block.
    firsts: Vec<Node>,
    /// The block that is being written.
    block: Vec<u8>,
    states: Node,
    edges: u64,
    /// How many bytes of them are in memory.
    memory: u64,
}

/// The edges of some states that follow one another: where each leads, and its label.
#[derive(Default)]
struct Decoded {
    edges: Vec<(Node, u16)>,
    /// For each state: where its edges end.
    ends: Vec<usize>,
}

impl EdgeLog {
    pub(crate) fn new(spool: Spool) -> Self {
        EdgeLog { spool, firsts: Vec::new(), block: Vec::new(), states: 0, edges: 0, memory: 0 }
    }

    /// How many states have their edges.
    pub(crate) fn len(&self) -> Node {
        self.states
    }

    /// How many edges there are.
    pub(crate) fn edges_len(&self) -> u64 {
        self.edges
    }

    /// How many bytes of edges are in memory.
    pub(crate) fn memory(&self) -> u64 {
        self.memory
    }

    /// Adds the edges of the next state, in the order of its actions.
    ///
    /// # Errors
    /// They are on disk, and cannot be written.
    pub(crate) fn push(&mut self, edges: &[(Node, u16)]) -> Result<(), StoreError> {
        if self.block.is_empty() {
            self.firsts.push(self.states);
        }
        put_number(edges.len() as u64, &mut self.block);
        for (to, label) in edges {
            let distance = i64::from(*to) - i64::from(self.states);
            // The sign is the last bit (zigzag).
            put_number((distance << 1 ^ distance >> 63).cast_unsigned(), &mut self.block);
            put_number(u64::from(*label), &mut self.block);
        }
        self.states += 1;
        self.edges += edges.len() as u64;
        if self.block.len() >= BLOCK { self.finish() } else { Ok(()) }
    }

    /// Writes what is not written yet. Only then all edges can be read.
    ///
    /// # Errors
    /// They are on disk, and cannot be written.
    pub(crate) fn finish(&mut self) -> Result<(), StoreError> {
        if !self.block.is_empty() {
            self.spool.push(&self.block)?;
            self.memory += if self.spool.is_in_memory() { self.block.len() as u64 } else { 0 };
            self.block.clear();
        }
        Ok(())
    }

    fn decode(&self, number: usize, buffer: &mut Vec<u8>, to: &mut Decoded) -> Result<(), StoreError> {
        to.edges.clear();
        to.ends.clear();
        let mut bytes = self.spool.block(number, buffer)?;
        let mut from = self.firsts[number];
        while let Some(count) = take_number(&mut bytes) {
            for _ in 0..count {
                let folded = take_number(&mut bytes).expect(WHOLE);
                let distance = (folded >> 1).cast_signed() ^ -(folded & 1).cast_signed();
                let label = take_number(&mut bytes).and_then(|label| u16::try_from(label).ok()).expect(WHOLE);
                to.edges.push((Node::try_from(i64::from(from) + distance).expect(WHOLE), label));
            }
            to.ends.push(to.edges.len());
            from += 1;
        }
        Ok(())
    }

    /// Goes through all states from the first on, until it is told to stop.
    ///
    /// # Errors
    /// The edges are on disk, and cannot be read.
    pub(crate) fn forward(
        &self,
        mut each: impl FnMut(Node, &[(Node, u16)]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let (mut buffer, mut decoded) = (Vec::new(), Decoded::default());
        for number in 0..self.firsts.len() {
            self.decode(number, &mut buffer, &mut decoded)?;
            let mut first = 0;
            for (from, end) in (self.firsts[number]..).zip(&decoded.ends) {
                if each(from, &decoded.edges[first..*end]).is_break() {
                    return Ok(());
                }
                first = *end;
            }
        }
        Ok(())
    }

    /// Goes through all states from the last one back.
    ///
    /// # Errors
    /// The edges are on disk, and cannot be read.
    pub(crate) fn backward(&self, mut each: impl FnMut(Node, &[(Node, u16)])) -> Result<(), StoreError> {
        let (mut buffer, mut decoded) = (Vec::new(), Decoded::default());
        for number in (0..self.firsts.len()).rev() {
            self.decode(number, &mut buffer, &mut decoded)?;
            let mut from = self.firsts[number] + Node::try_from(decoded.ends.len()).expect(WHOLE);
            let mut rest = &decoded.edges[..];
            for first in decoded.ends.iter().rev().skip(1).copied().chain([0]) {
                let (before, edges) = rest.split_at(first);
                from -= 1;
                each(from, edges);
                rest = before;
            }
        }
        Ok(())
    }

    /// The way by which a state was found first, as places of edges. It is a shortest one.
    ///
    /// # Errors
    /// The edges are on disk, and cannot be read.
    pub(crate) fn way_to(&self, node: Node) -> Result<Vec<u16>, StoreError> {
        let mut steps = Steps::default();
        // That to the initial state has no edge.
        steps.push(NOWHERE, 0);
        let (mut found, mut last) = (1, (NOWHERE, 0));
        self.forward(|from, edges| {
            for (place, (to, _)) in (0..).zip(edges) {
                if *to != found {
                    continue;
                }
                found += 1;
                steps.push(from, place);
                last = (from, place);
                if found > node {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(if node == 0 { Vec::new() } else { steps.path(last.0, last.1).split_off(1) })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Edges of this number of states, numbered as a search finds them; more than a block.
    fn edges(states: Node) -> Vec<Vec<(Node, u16)>> {
        let mut next = 1;
        let mut word: u64 = 7;
        (0..states)
            .map(|_| {
                let mut edges = Vec::new();
                for place in 0..4_u16 {
                    word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let is_new = next < states && (word >> 60 < 6 || place == 3);
                    let to = if is_new { next } else { Node::try_from((word >> 33) % u64::from(next)).unwrap() };
                    next += Node::from(is_new);
                    edges.push((to, place * 100));
                }
                edges
            })
            .collect()
    }

    fn log(edges: &[Vec<(Node, u16)>]) -> EdgeLog {
        let mut log = EdgeLog::new(Spool::Memory(Vec::new()));
        edges.iter().for_each(|edges| log.push(edges).unwrap());
        log.finish().unwrap();
        log
    }

    #[test]
    fn edges_are_read_in_both_directions() {
        let edges = edges(20_000);
        let log = log(&edges);
        assert!(log.firsts.len() > 2);
        assert_eq!((log.len(), log.edges_len()), (20_000, 80_000));
        let (mut there, mut back) = (Vec::new(), Vec::new());
        log.forward(|from, edges| {
            there.push((from, edges.to_vec()));
            ControlFlow::Continue(())
        })
        .unwrap();
        log.backward(|from, edges| back.push((from, edges.to_vec()))).unwrap();
        back.reverse();
        assert!(there == (0..).zip(edges).collect::<Vec<_>>());
        assert!(there == back);
    }

    #[test]
    fn a_way_is_the_shortest_and_the_first_of_them() {
        let edges = edges(20_000);
        let log = log(&edges);
        // Breadth first, by the edges themselves.
        let mut came: Vec<Option<(Node, u16)>> = vec![None; edges.len()];
        let mut queue = VecDeque::from([0]);
        while let Some(from) = queue.pop_front() {
            for (place, (to, _)) in (0..).zip(&edges[from as usize]) {
                if *to != 0 && came[*to as usize].is_none() {
                    came[*to as usize] = Some((from, place));
                    queue.push_back(*to);
                }
            }
        }
        for node in [0, 1, 2, 77, 4_711, 19_999] {
            let (mut way, mut at) = (Vec::new(), node);
            while let Some((from, place)) = came[at as usize] {
                way.push(place);
                at = from;
            }
            way.reverse();
            assert_eq!(log.way_to(node).unwrap(), way, "{node}");
        }
    }
}
