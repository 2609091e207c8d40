//! States as bytes: so that what sorts and writes them is compiled once, and not for each service.

use std::ops::Range;
use std::sync::Arc;
use std::thread;

use fencepost_model::mutation::Mutation;

use super::Stored;
use super::candidate::{CandidateHead, Candidates};
use crate::engine::{Marks, Space, Transition};

/// A list of encoded states.
#[derive(Default)]
pub(super) struct EncodedStates {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl EncodedStates {
    pub(super) fn push(&mut self, state: &[u8]) {
        self.bytes.extend(state);
        self.ends.push(self.bytes.len());
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, place: usize) -> &[u8] {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[place]]
    }
}

/// What some states lead to.
#[derive(Default)]
pub(super) struct Expanded {
    pub(super) candidates: Candidates,
    pub(super) transitions: u64,
    pub(super) marks: Marks,
}

/// A space of which the states are bytes.
pub(super) trait ErasedSpace {
    fn mutation(&self) -> Option<Mutation>;

    fn starts(&self) -> Candidates;

    /// What states lead to, in their order; the first of them has this place in its level.
    fn expand(&mut self, states: &EncodedStates, first: u64) -> Result<Vec<Expanded>, String>;

    /// Whether a state by itself breaks a promise. Asked once for each state.
    fn is_broken(&self, state: &[u8]) -> Result<bool, String>;

    fn parts(&self) -> u64;

    fn write_parts(&self, parts: Range<u64>, to: &mut Vec<u8>) -> Result<(), String>;

    fn read_parts(&self, bytes: &[u8]) -> Result<(), String>;

    fn counters(&self) -> Vec<u64>;

    fn restore(&self, counters: &[u64]);
}

/// A space, and the threads that expand its states.
pub(super) struct EncodedSpace<M: Stored> {
    space: Arc<M>,
    threads: Vec<ExpandingThread<M>>,
}

/// What one thread needs.
struct ExpandingThread<M: Stored> {
    scratch: M::Scratch,
    /// Fingerprints of candidates that this thread has found lately. It goes through states in order, so to find one of them again is to
    /// find it later.
    recent: Vec<u64>,
}

/// The part of the buffers that remembers recent fingerprints.
const RECENT: usize = 4;

/// Fewer states are expanded by one thread: to start others would take longer.
const FEW: usize = 64;

/// What a file says is no state.
const DAMAGED: &str = "the store contains a state that is none";

impl<M: Stored> EncodedSpace<M> {
    pub(super) fn new(space: &Arc<M>, workers: usize, room: usize) -> Self {
        let recent = (room / RECENT / workers / size_of::<u64>() / 2).max(8).next_power_of_two();
        let thread = |_| ExpandingThread { scratch: M::Scratch::default(), recent: vec![0; recent] };
        EncodedSpace { space: Arc::clone(space), threads: (0..workers).map(thread).collect() }
    }
}

/// The word by which a state is remembered. What breaks a promise is a state of its own, as in the search in memory.
fn fingerprint<M: Space>(space: &M, state: &M::State, is_violation: bool) -> u64 {
    (space.fingerprint(state) ^ u64::from(is_violation)).max(1)
}

impl<M: Stored> ExpandingThread<M> {
    fn expand(
        &mut self,
        space: &M,
        states: &EncodedStates,
        part: Range<usize>,
        first: u64,
    ) -> Result<Expanded, String> {
        let ExpandingThread { scratch, recent } = self;
        let shift = u64::BITS - recent.len().trailing_zeros();
        let mut expanded = Expanded::default();
        for place in part {
            let parent = first + place as u64;
            let state = space.waiting(space.decode(states.get(place)).ok_or(DAMAGED)?);
            let Expanded { candidates, transitions, marks } = &mut expanded;
            space.expand(&state, scratch, |transition| {
                let Transition { action, state, is_violation, marks: shown } = transition;
                marks.add(shown);
                *transitions += 1;
                let fingerprint = fingerprint(space, &state, is_violation);
                let place = usize::try_from(fingerprint >> shift).expect("few bits are left");
                if std::mem::replace(&mut recent[place], fingerprint) != fingerprint {
                    let head = CandidateHead { fingerprint, parent, action, is_violation };
                    candidates.push(head, |to| space.encode(&state, to));
                }
            })?;
        }
        Ok(expanded)
    }
}

impl<M: Stored> ErasedSpace for EncodedSpace<M> {
    fn mutation(&self) -> Option<Mutation> {
        self.space.mutation()
    }

    fn starts(&self) -> Candidates {
        let mut candidates = Candidates::default();
        for (place, state) in self.space.starts().into_iter().enumerate() {
            let fingerprint = fingerprint(&*self.space, &state, false);
            let action = u16::try_from(place).expect("there are few starts");
            let head = CandidateHead { fingerprint, parent: 0, action, is_violation: false };
            candidates.push(head, |to| self.space.encode(&state, to));
        }
        candidates
    }

    fn expand(&mut self, states: &EncodedStates, first: u64) -> Result<Vec<Expanded>, String> {
        let space = &*self.space;
        let count = states.len();
        if count < FEW || self.threads.len() == 1 {
            return Ok(vec![self.threads[0].expand(space, states, 0..count, first)?]);
        }
        let each = count.div_ceil(self.threads.len());
        thread::scope(|scope| {
            let part = |(place, own): (usize, _)| (own, (place * each).min(count)..((place + 1) * each).min(count));
            let threads: Vec<_> = self
                .threads
                .iter_mut()
                .enumerate()
                .map(part)
                .map(|(own, part)| scope.spawn(move || ExpandingThread::expand(own, space, states, part, first)))
                .collect();
            let end = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().expect("a panic of the model is caught");
            // All threads have ended before the first failure is told.
            threads.into_iter().map(end).collect::<Vec<_>>().into_iter().collect()
        })
    }

    fn is_broken(&self, state: &[u8]) -> Result<bool, String> {
        Ok(self.space.is_broken(&self.space.decode(state).ok_or(DAMAGED)?))
    }

    fn parts(&self) -> u64 {
        self.space.parts()
    }

    fn write_parts(&self, parts: Range<u64>, to: &mut Vec<u8>) -> Result<(), String> {
        self.space.write_parts(parts, to)
    }

    fn read_parts(&self, bytes: &[u8]) -> Result<(), String> {
        self.space.read_parts(bytes)
    }

    fn counters(&self) -> Vec<u64> {
        self.space.counters()
    }

    fn restore(&self, counters: &[u64]) {
        self.space.restore(counters);
    }
}
