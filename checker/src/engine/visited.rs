//! What a worker has seen, whichever way its states are told apart; and a state that may be new.

use super::Space;
use super::antichains::Antichains;
use super::seen::{Seen, WholeStates};

/// A state that may be new.
#[derive(Clone)]
pub(super) struct Candidate<S> {
    pub(super) fingerprint: u64,
    /// The number of the state that it was found from, where paths are kept.
    pub(super) parent: u32,
    pub(super) action: u16,
    pub(super) is_violation: bool,
    pub(super) state: S,
}

/// The states that a worker has seen.
pub(super) enum Visited {
    /// Every state.
    All(Seen),
    /// Every state, complete; and a list for the bytes of one.
    Whole(WholeStates, Vec<u8>),
    /// Those that no other one covers.
    Uncovered(Antichains),
}

impl Visited {
    /// None yet of a space.
    pub(super) fn of<M: Space>(space: &M) -> Self {
        match space.lanes() {
            None if space.is_exact() => Visited::Whole(WholeStates::new(), Vec::new()),
            None => Visited::All(Seen::new(space.mutation())),
            Some(lanes) => Visited::Uncovered(Antichains::new(lanes, space.mutation())),
        }
    }

    /// Looks at the place of a state; see [`Seen::touch`].
    #[inline]
    pub(super) fn touch(&self, fingerprint: u64) -> u8 {
        match self {
            Visited::All(seen) => seen.touch(fingerprint),
            Visited::Whole(states, _) => states.touch(fingerprint),
            Visited::Uncovered(antichains) => antichains.touch(fingerprint),
        }
    }

    /// Adds a state that was found on a level. Returns how many states of the level are no longer to be expanded for it, if it is new.
    #[inline]
    pub(super) fn insert<M: Space>(&mut self, space: &M, candidate: &Candidate<M::State>, level: u64) -> Option<u64> {
        let Candidate { fingerprint, is_violation, state, .. } = candidate;
        match self {
            Visited::All(seen) => seen.insert(*fingerprint, ()).is_none().then_some(0),
            Visited::Whole(states, bytes) => {
                bytes.clear();
                bytes.push(u8::from(*is_violation));
                space.write(state, bytes);
                states.insert(*fingerprint, bytes, 0).is_none().then_some(0)
            }
            Visited::Uncovered(antichains) => antichains.insert(*fingerprint, space.allowance(state), level),
        }
    }
}
