//! States that wait to be expanded: in chunks of bounded size, so that a chunk's memory is given back as soon as it has
//! been expanded, and nothing is ever moved because a list has outgrown its room.

use std::collections::VecDeque;

use fencepost_model::mutation::{CheckerMutation, Mutation};

/// How large a chunk may be, in bytes.
const CHUNK: usize = 256 * 1024;

/// A queue of states.
pub(super) struct Frontier<S> {
    chunks: VecDeque<Vec<S>>,
    length: u64,
    /// A mutant: of more than one state, the last one is lost.
    loses_last: bool,
}

impl<S> Default for Frontier<S> {
    fn default() -> Self {
        Frontier { chunks: VecDeque::new(), length: 0, loses_last: false }
    }
}

impl<S> Frontier<S> {
    /// An empty one, with this mutant switched on.
    pub(super) fn new(mutation: Option<Mutation>) -> Self {
        Frontier { loses_last: mutation == Some(CheckerMutation::FrontierLosesLast.into()), ..Frontier::default() }
    }

    /// How many states fit into a chunk.
    fn room() -> usize {
        (CHUNK / size_of::<S>().max(1)).max(1)
    }

    #[inline]
    pub(super) fn push(&mut self, state: S) {
        match self.chunks.back_mut() {
            Some(chunk) if chunk.len() < Self::room() => chunk.push(state),
            _ => self.chunks.push_back(vec![state]),
        }
        self.length += 1;
    }

    /// Takes out the states that were put in first.
    pub(super) fn pop(&mut self) -> Option<Vec<S>> {
        let mut chunk = self.chunks.pop_front()?;
        self.length -= chunk.len() as u64;
        if self.loses_last && chunk.len() > 1 {
            chunk.pop();
        }
        Some(chunk)
    }

    pub(super) fn len(&self) -> u64 {
        self.length
    }
}
