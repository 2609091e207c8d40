//! What seeds have shown: worlds with everything forgotten but who stands where, and how likely the next seed is to show one
//! that none has shown before.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use fencepost_model::hash::Fingerprinter;
use fencepost_model::ids::ProcessId;
use fencepost_model::process::Client;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::{Action, World};

/// A world in outline: the condition of each client (under permutation), whether the server takes part, how many have the lock by record,
/// which kinds of messages are under way, and whether links are cut.
pub(crate) fn outline<P: Service>(scenario: &Scenario<P>, world: &World<P>) -> u64 {
    let mut clients: Vec<_> = world
        .clients
        .iter()
        .map(|host| (host.condition, host.process.belief().is_inside, host.process.belief().is_waiting))
        .collect();
    clients.sort_unstable();
    let mut messages: Vec<(bool, u64)> = world
        .network
        .iter()
        .map(|envelope| {
            let mut kind = Fingerprinter::default();
            if let Action::Deliver(shape) = Action::Deliver(*envelope).shape() {
                shape.message.hash(&mut kind);
            }
            (envelope.to == ProcessId::Server, kind.finish())
        })
        .collect();
    messages.sort_unstable();
    messages.dedup();
    let owners = P::record(&world.server.process, scenario).owners.len();
    let mut hash = Fingerprinter::default();
    (clients, messages, world.server.condition, owners, world.cuts.is_empty()).hash(&mut hash);
    hash.finish()
}

/// What some seeds have shown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// For each outline: the seed that showed it, as long as it was one alone.
    seen: BTreeMap<u64, Option<u64>>,
    seeds: u64,
}

impl Coverage {
    /// Adds what a seed has shown.
    pub(crate) fn add(&mut self, seed: u64, outlines: &BTreeSet<u64>) {
        self.seeds += 1;
        for outline in outlines {
            self.seen.entry(*outline).and_modify(|alone| *alone = None).or_insert(Some(seed));
        }
    }

    /// How many outlines were seen.
    pub fn outlines(&self) -> usize {
        self.seen.len()
    }

    /// How many seeds were tried, and how many of them showed something that no other seed has shown. The share of the latter
    /// estimates how likely the next seed is to show something new: each seed is taken as if it had come last (Good 1953,
    /// by leaving one out).
    pub fn alone(&self) -> (u64, u64) {
        let seeds: BTreeSet<u64> = self.seen.values().flatten().copied().collect();
        (seeds.len() as u64, self.seeds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_with_the_coverage_of_another_is_no_singleton() {
        let mut coverage = Coverage::default();
        for (seed, outlines) in [(1, vec![10, 11]), (2, vec![10]), (3, vec![10, 12, 13])] {
            coverage.add(seed, &outlines.into_iter().collect());
        }
        assert_eq!((coverage.outlines(), coverage.alone()), (4, (2, 3)));
    }
}
