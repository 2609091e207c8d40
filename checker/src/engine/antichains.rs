//! The states that one worker has seen, where some cover others: of those with the same fingerprint an antichain, the ones that none covers.
//!
//! A state is covered if one with the same fingerprint and in no lane a smaller [`Allowance`] was found on its level or before; it is not
//! expanded then. Which states of a level are covered does not depend on the order in which they arrive: one that comes after a state that
//! covers it is not added, and one that comes before is taken out. A state of an earlier level, which is expanded already or will be, stays.

use fencepost_model::mutation::Mutation;

use super::allowance::{Allowance, Lanes};
use super::seen::Seen;

/// The number of states that are kept together. The lists never move, so they need no spare capacity.
const CHUNK: usize = 1 << 14;

/// What stands for no further state with the same fingerprint.
const NONE: u32 = u32::MAX;

/// The level of what was taken out.
const NOWHERE: u32 = u32::MAX;

/// The states that no other one covers.
pub(super) struct Antichains {
    lanes: Lanes,
    /// For each fingerprint the number of the first state.
    first: Seen<u32>,
    states: Vec<Vec<Member>>,
}

#[derive(Copy, Clone)]
struct Member {
    allowance: Allowance,
    level: u32,
    /// The number of another state with the same fingerprint.
    next: u32,
}

impl Antichains {
    /// None, yet.
    pub(super) fn new(lanes: Lanes, mutation: Option<Mutation>) -> Self {
        Antichains { lanes, first: Seen::new(mutation), states: Vec::new() }
    }

    /// Looks at the home of a fingerprint; see [`Seen::touch`].
    #[inline]
    pub(super) fn touch(&self, fingerprint: u64) -> u8 {
        self.first.touch(fingerprint)
    }

    /// Adds a state that was found on a level, the latest so far, unless one covers it; and takes out those of the level that it covers.
    /// Returns how many these are, if it is added.
    pub(super) fn insert(&mut self, fingerprint: u64, allowance: Allowance, level: u64) -> Option<u64> {
        let level = u32::try_from(level).expect("levels are fewer than states");
        let number = self.states.last().map_or(0, |last| (self.states.len() - 1) * CHUNK + last.len());
        let number = u32::try_from(number).expect("memory is full before");
        let member = Member { allowance, level, next: NONE };
        let Some(first) = self.first.insert(fingerprint, number) else {
            self.push(member);
            return Some(0);
        };
        if self.chain(first).any(|(_, other)| self.lanes.covers(other.allowance, allowance)) {
            return None;
        }
        let is_covered = |other: &Member| other.level == level && self.lanes.covers(allowance, other.allowance);
        let covered: Vec<u32> =
            self.chain(first).filter(|(_, other)| is_covered(other)).map(|(place, _)| place).collect();
        for place in &covered {
            self.member(*place).level = NOWHERE;
        }
        // What was taken out makes room.
        match covered.first() {
            Some(place) => {
                let next = self.member(*place).next;
                *self.member(*place) = Member { next, ..member };
            }
            None => {
                let last = self.last(first);
                self.member(last).next = number;
                self.push(member);
            }
        }
        Some(covered.len() as u64)
    }

    /// Whether a state that was added has not been taken out.
    pub(super) fn contains(&self, fingerprint: u64, allowance: Allowance) -> bool {
        let first = self.first.get(fingerprint);
        first.is_some_and(|first| self.chain(first).any(|(_, other)| other.allowance == allowance))
    }

    fn push(&mut self, member: Member) {
        match self.states.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push(member),
            _ => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(member);
                self.states.push(chunk);
            }
        }
    }

    fn member(&mut self, number: u32) -> &mut Member {
        &mut self.states[number as usize / CHUNK][number as usize % CHUNK]
    }

    /// The numbers of all with the same fingerprint, also of those that were taken out.
    fn links(&self, first: u32) -> impl Iterator<Item = (u32, Member)> + '_ {
        let mut number = first;
        std::iter::from_fn(move || {
            let (place, here) = (number as usize, number);
            let member = *self.states.get(place / CHUNK).filter(|_| number != NONE)?.get(place % CHUNK)?;
            number = member.next;
            Some((here, member))
        })
    }

    /// Those with the same fingerprint, with their numbers.
    fn chain(&self, first: u32) -> impl Iterator<Item = (u32, Member)> + '_ {
        self.links(first).filter(|(_, member)| member.level != NOWHERE)
    }

    fn last(&self, first: u32) -> u32 {
        self.links(first).last().map_or(first, |(number, _)| number)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::{prop_assert_eq, proptest};

    use super::*;

    /// A fingerprint and two lanes.
    type State = (u64, u64, u64);

    proptest! {
        /// On each level remain those that none of their level or before covers, in whichever order they arrive.
        #[test]
        fn what_remains_of_a_level_does_not_depend_on_the_order(
            levels in vec(vec((0..6_u64, 0..4_u64, 0..4_u64), 0..24), 1..5), turn in 0..24_usize
        ) {
            let (word, print) = (|state: &State| Allowance(state.1 | state.2 << 3), |state: &State| (state.0 + 1) << 58);
            let covers = |by: &State, state: &State| by.0 == state.0 && by.1 >= state.1 && by.2 >= state.2;
            let mut kept: BTreeSet<State> = BTreeSet::new();
            let mut sets = [0, turn].map(|turn| (turn, Antichains::new(Lanes::of_width(3), None)));
            for (level, states) in (0..).zip(&levels) {
                let is_new = |state: &&State| {
                    !kept.iter().any(|by| covers(by, state)) && !states.iter().any(|by| by != *state && covers(by, state))
                };
                let new: BTreeSet<State> = states.iter().filter(is_new).copied().collect();
                for (turn, set) in &mut sets {
                    let mut states = states.clone();
                    let turn = *turn % states.len().max(1);
                    states.rotate_left(turn);
                    let (mut added, mut taken_out) = (0, 0);
                    for state in &states {
                        let covered = set.insert(print(state), word(state), level);
                        added += u64::from(covered.is_some());
                        taken_out += covered.unwrap_or_default();
                    }
                    prop_assert_eq!(added - taken_out, new.len() as u64);
                }
                kept.extend(new);
                for (_, set) in &sets {
                    for state in states {
                        prop_assert_eq!(set.contains(print(state), word(state)), kept.contains(state));
                    }
                }
            }
        }
    }
}
