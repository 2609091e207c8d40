//! A witness says how a world becomes the one that stands for it: which clients change places, by how much instants are moved back, and which
//! numbers get others. It is carried out here, by the visitors of the kernel, and must leave alone all that a process can notice: who is
//! alike, the order of numbers, and where only identity counts, which of them are the same.

use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::monitor::{ByKind, NumberKind, Numbers, Observed, Renaming};
use fencepost_model::normal::{Normal, Visitor};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::world::Horizon;

use crate::certificate::CertifiedWitness;

/// Whether clients may change places so: none does, or they start alike, run the same program, are treated alike by the service and by the
/// clocks, and no promise about endless executions follows each of them.
pub(crate) fn may_change_places<S: Service>(scenario: &Scenario<S>, start: &Observed<S>, order: &[usize]) -> bool {
    let mut places = order.to_vec();
    places.sort_unstable();
    let is_alike = |(place, from): (usize, &usize)| {
        let (one, other) = (ClientId::of(place), ClientId::of(*from));
        one == other || scenario.treats_alike(one, other)
    };
    let is_order = || places.into_iter().eq(0..start.clients.len()) && order.iter().enumerate().all(is_alike);
    order.is_empty() || is_order() && !is_endless(scenario) && start.arranged(order) == *start
}

/// Whether a promise is about endless executions.
pub(crate) fn is_endless<S: Service>(scenario: &Scenario<S>) -> bool {
    scenario.promises.iter().any(|promise| promise.property.is_about_endless_runs(promise.bound))
}

/// Applies a witness to a world.
///
/// # Errors
/// It changes more than names; what, as a sentence.
pub(crate) fn apply<S: Service>(
    witness: &CertifiedWitness,
    horizon: Horizon,
    state: &mut Observed<S>,
) -> Result<(), String> {
    let (passed, shift) = (state.world.now - Instant::START, witness.renaming.shift);
    if passed != shift {
        return Err(format!("the witness moves instants back by {shift}, and {passed} passed"));
    }
    if !witness.order.is_empty() {
        *state = state.arranged(&witness.order);
    }
    let oldest = state.world.clock(ProcessId::Server) - horizon.back;
    state.world.server.process.settle(oldest);
    let mut renamer = Renamer { witness: &witness.renaming, renamed: Vec::new() };
    let mut visitor = ByKind::new(&mut renamer, horizon);
    state.world.visit(&mut visitor);
    visitor.scope(None, Ticks::ZERO);
    state.monitor.visit(&mut visitor);
    state.world.now = Instant::START;
    state.world.sort();
    state.monitor.sort();
    renamer.verdict()
}

/// Gives a world the names of a witness, and remembers all numbers that it saw.
struct Renamer<'a> {
    witness: &'a Renaming,
    /// What a number counts among, the number, its new name.
    renamed: Vec<(NumberKind, u32, u32)>,
}

impl Renamer<'_> {
    /// Whether the names are as good as the numbers were.
    fn verdict(mut self) -> Result<(), String> {
        self.renamed.sort_unstable();
        self.renamed.dedup();
        let of = |wanted: NumberKind| self.renamed.iter().filter(move |(kind, ..)| *kind == wanted);
        for (kind, from, to) in &self.renamed {
            let refused = |what: &str| Err(format!("the witness calls {kind:?} {from} {to}: {what}"));
            let is_identity = match kind {
                NumberKind::Counter(client) if of(NumberKind::Call(*client)).any(|(.., call)| call > to) => {
                    return refused("a call has a larger number, so the next call would not be new");
                }
                NumberKind::Counter(_) => continue,
                NumberKind::Call(client) => of(NumberKind::Counter(*client)).next().is_some(),
                _ => false,
            };
            let is_wrong = |(_, other, name): &&(NumberKind, u32, u32)| match is_identity {
                true => (other == from) != (name == to),
                false => other.cmp(from) != name.cmp(to),
            };
            if *to == 0 || of(*kind).any(|other| is_wrong(&other)) {
                return refused("it is a number of something else, or the order changes");
            }
        }
        Ok(())
    }
}

impl Numbers for Renamer<'_> {
    fn instant(&mut self, at: Instant, floor: Instant) -> Instant {
        (at - self.witness.shift).max(floor)
    }

    fn number(&mut self, kind: NumberKind, number: u32, _: bool) -> u32 {
        let is_it = |(among, from, _): &&(NumberKind, u32, u32)| (*among, *from) == (kind, number);
        let name = self.witness.numbers.iter().find(is_it).map_or(number, |(.., to)| *to).min(kind.most());
        self.renamed.push((kind, number, name));
        name
    }
}
