//! States that wait to be expanded: in chunks of bounded size, so that a chunk's memory is given back as soon as it has
//! been expanded, and nothing is ever moved because a list has outgrown its room.

use std::collections::VecDeque;

use fencepost_model::mutation::{CheckerMutation, Mutation};

/// States that wait together, and come out in the order in which they were put in.
pub trait Chunk: Default + Send + 'static {
    /// A state.
    type State;
    /// As much of a state as it takes to expand it.
    type Waiting;

    /// Adds a state at the end.
    fn push(&mut self, state: Self::State);

    /// Takes out the first state.
    fn next(&mut self) -> Option<&Self::Waiting>;

    /// The number of states.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is as large as a chunk should be.
    fn is_full(&self) -> bool;

    /// Loses the last state.
    fn drop_last(&mut self);
}

/// How large a chunk of states as they are may be, in bytes.
const BYTES: usize = 256 * 1024;

/// States as they are.
pub struct PlainChunk<S> {
    states: VecDeque<S>,
    /// What was taken out last.
    current: Option<S>,
}

impl<S> Default for PlainChunk<S> {
    fn default() -> Self {
        PlainChunk { states: VecDeque::new(), current: None }
    }
}

impl<S: Send + 'static> Chunk for PlainChunk<S> {
    type State = S;
    type Waiting = S;

    #[inline]
    fn push(&mut self, state: S) {
        self.states.push_back(state);
    }

    #[inline]
    fn next(&mut self) -> Option<&S> {
        self.current = self.states.pop_front();
        self.current.as_ref()
    }

    fn len(&self) -> usize {
        self.states.len()
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.states.len() * size_of::<S>().max(1) >= BYTES
    }

    fn drop_last(&mut self) {
        self.states.pop_back();
    }
}

/// A queue of states.
pub(super) struct Frontier<C> {
    chunks: VecDeque<C>,
    length: u64,
    /// A mutant: of more than one state, the last one is lost.
    loses_last: bool,
}

impl<C> Default for Frontier<C> {
    fn default() -> Self {
        Frontier { chunks: VecDeque::new(), length: 0, loses_last: false }
    }
}

impl<C: Chunk> Frontier<C> {
    /// An empty one, with this mutant switched on.
    pub(super) fn new(mutation: Option<Mutation>) -> Self {
        Frontier { loses_last: mutation == Some(CheckerMutation::FrontierLosesLast.into()), ..Frontier::default() }
    }

    #[inline]
    pub(super) fn push(&mut self, state: C::State) {
        match self.chunks.back_mut() {
            Some(chunk) if !chunk.is_full() => chunk.push(state),
            _ => {
                let mut chunk = C::default();
                chunk.push(state);
                self.chunks.push_back(chunk);
            }
        }
        self.length += 1;
    }

    /// Takes out the states that were put in first.
    pub(super) fn pop(&mut self) -> Option<C> {
        let mut chunk = self.chunks.pop_front()?;
        self.length -= chunk.len() as u64;
        if self.loses_last && chunk.len() > 1 {
            chunk.drop_last();
        }
        Some(chunk)
    }

    pub(super) fn len(&self) -> u64 {
        self.length
    }
}
