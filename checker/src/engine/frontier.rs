//! States that wait to be expanded: in chunks of bounded size, so that a chunk's memory is given back as soon as it has
//! been expanded, and nothing is ever moved because a list has outgrown its room.

use std::collections::VecDeque;

/// How large a chunk may be, in bytes.
const CHUNK: usize = 256 * 1024;

/// A queue of states.
pub(super) struct Frontier<S> {
    chunks: VecDeque<Vec<S>>,
    length: u64,
}

impl<S> Default for Frontier<S> {
    fn default() -> Self {
        Frontier { chunks: VecDeque::new(), length: 0 }
    }
}

impl<S> Frontier<S> {
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
        let chunk = self.chunks.pop_front()?;
        self.length -= chunk.len() as u64;
        Some(chunk)
    }

    pub(super) fn len(&self) -> u64 {
        self.length
    }
}
