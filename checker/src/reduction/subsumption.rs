//! Subsumption: a world that can do nothing that another one cannot do as well is not explored.
//!
//! Two worlds are compared that differ in nothing but these: what is left of each budget, and how long each message may still be in flight,
//! where the delay of messages is bounded. One that has in none of them less *covers* the other. It simulates it (a strong compatibility of
//! well-structured transition systems: Finkel and Schnoebelen, TCS 256, 2001; in searches of timed automata: Daws and Tripakis, TACAS 1998):
//!
//! * Whatever the other world can do, it can do, too. A budget only permits. A message that may be in flight for longer may arrive whenever
//!   one may that is due sooner, may be lost and repeated like it, and lets time pass where that one does. Messages of the same content are
//!   compared in the order in which they are due, and of these always the first one is taken.
//! * No process sees either, so all processes and the monitor do the same, state the same facts and send the same messages; and what is in
//!   flight or left afterwards is not less again. So promises that steps can break are broken after the same steps.
//!
//! A world is left out that one covers which was found on its own level of the search or on one before. The shortest violation behind it is
//! one of the same length behind the world that covers it, so shortest stays shortest; goals that it reaches are reached there as well.
//! With [partial orders](super::partial_order) the same induction goes on: the work at hand, which decreases where something
//! waits, depends on neither.
//!
//! Properties that the scenario defines may look at budgets and messages, and where faults are kept to places these are compared by what may
//! happen there: then no world is left out. It is for safety promises only.

use fencepost_model::mutation::{CheckerMutation, Mutation};
use fencepost_model::scenario::{Budget, Scenario, UNLIMITED};
use fencepost_model::service::Service;
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::world::Envelope;

use super::hash::{fingerprint, hash_of};
use super::names::Rules;
use super::piece::{Layout, Piece};
use crate::engine::{Allowance, Lanes};

/// Which worlds are compared, and by what.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Subsumption {
    lanes: Option<Lanes>,
    /// The bits of a lane.
    width: u32,
    /// What a scenario begins with: budgets with nothing in them have no lane.
    budget: Budget,
    /// The number of budgets that have a lane.
    budgets: usize,
    /// The earliest deadline of a message in normal form, relative to now: a receiver that is paused lets messages be overdue.
    floor: Ticks,
    /// How many ticks later the latest one is; 0: they are not compared.
    span: u64,
    mutation: Option<Mutation>,
}

/// A part of a world without what is compared, as a hash; and what is compared.
#[derive(Copy, Clone, Default)]
pub(super) struct Comparable {
    hash: u64,
    amount: u64,
}

/// The budgets that have lanes, where they are not empty at the start. An unlimited one is never less, and the retries of each client are
/// counted by itself.
fn budgets(budget: &mut Budget) -> impl Iterator<Item = &mut u8> {
    let Budget {
        losses,
        duplicates,
        crashes,
        restarts,
        pauses,
        cuts,
        slips,
        operator,
        retries: _,
        resource_restarts,
        caps,
    } = budget;
    let plain = [losses, duplicates, crashes, restarts, pauses, cuts, slips, operator, resource_restarts];
    let caps = caps.iter_mut().map(|cap| &mut cap.at_most).filter(|left| **left != UNLIMITED);
    plain.into_iter().chain(caps)
}

impl Subsumption {
    /// Every world is explored.
    pub(crate) fn none() -> Self {
        Subsumption::default()
    }

    /// That of a scenario; none if there is nothing to compare, or if something may look at it.
    pub(crate) fn of<S: Service>(scenario: &Scenario<S>) -> Self {
        let mut budget = scenario.budget;
        let floor = Rules::of(scenario).horizon.late;
        // Where nothing lets a message be late, all are due now.
        let may_wait = |delay: &Ticks| *delay > Ticks::ZERO || budget.pauses > 0 || budget.cuts > 0;
        let delay = scenario.synchrony.message_delay.filter(may_wait);
        let span = delay.map_or(0, |delay| (delay - floor).count().max(0).unsigned_abs());
        let most = budgets(&mut budget).map(|left| u64::from(*left)).fold(span, u64::max);
        let is_looked_at = scenario.has_own_promises() || !scenario.fault_places.is_empty();
        if most == 0 || is_looked_at {
            return Subsumption::none();
        }
        let width = u64::BITS - most.leading_zeros() + 1;
        let lanes = Lanes::of_width(if scenario.is_mutated(CheckerMutation::LanesAreOne) { u64::BITS } else { width });
        let budgets = budgets(&mut budget).filter(|left| **left > 0).count();
        Subsumption { lanes: Some(lanes), width, budget, budgets, floor, span, mutation: scenario.mutation }
    }

    /// The lanes of what is compared; `None` if every world is explored.
    #[inline]
    pub(crate) fn lanes(&self) -> Option<Lanes> {
        self.lanes
    }

    /// What a verdict says of it.
    pub(crate) fn sentence(&self) -> Option<&'static str> {
        let sentence = "a world is left out if another one differs from it only in more that is left of budgets, or in longer times that are left for \
                        messages";
        self.lanes.is_some().then_some(sentence)
    }

    fn is(&self, mutation: CheckerMutation) -> bool {
        self.mutation == Some(mutation.into())
    }

    /// What is compared of a part with this hash.
    pub(super) fn comparable<S: Service>(&self, piece: &Piece<S>, hash: u64) -> Comparable {
        match piece {
            Piece::Rest(cuts, left) => {
                let (mut left, mut first) = (*left, self.budget);
                let lanes = budgets(&mut left).zip(budgets(&mut first)).filter(|(_, first)| **first > 0);
                let mut amount = 0;
                for (lane, (left, _)) in (0..).zip(lanes) {
                    amount |= u64::from(std::mem::take(left)) << (lane * self.width);
                }
                let amount = if self.is(CheckerMutation::BudgetsUncompared) { 0 } else { amount };
                Comparable { hash: hash_of((cuts, left)), amount }
            }
            Piece::Message(envelope) => {
                let later = envelope.due.map(|due| (due.0 - Instant::START - self.floor).count());
                let amount = later.and_then(|ticks| u64::try_from(ticks).ok()).filter(|ticks| *ticks <= self.span);
                let Some(amount) = amount.filter(|_| self.span > 0) else { return Comparable { hash, amount: 0 } };
                let amount = if self.is(CheckerMutation::SoonerCovers) { self.span - amount } else { amount };
                let amount = if self.is(CheckerMutation::DelaysUncompared) { 0 } else { amount };
                Comparable { hash: hash_of(Envelope { due: None, ..*envelope }), amount }
            }
            Piece::Client(..) | Piece::Server(_) | Piece::Memory(..) => Comparable { hash, amount: 0 },
        }
    }

    /// The fingerprint of a world without what is compared, and that; `None` if there are more messages than lanes. Asked for what is
    /// comparable of its parts, in their order.
    #[inline]
    pub(super) fn identity(
        &self,
        layout: &Layout,
        count: usize,
        part: impl Fn(usize) -> Comparable,
    ) -> Option<(u64, Allowance)> {
        let budgets = self.budgets;
        let messages = if self.span > 0 { count - layout.messages } else { 0 };
        if budgets + messages > (u64::BITS / self.width) as usize {
            return None;
        }
        let rest = part(layout.rest);
        let mut allowance = rest.amount;
        let compared = if self.is(CheckerMutation::OneMessageCompared) { messages.min(1) } else { messages };
        for lane in 0..compared {
            let bits = u32::try_from(budgets + lane).expect("they fit into a word") * self.width;
            allowance |= part(layout.messages + lane).amount << bits;
        }
        let others = (0..layout.rest).chain(layout.messages..count).map(|place| part(place).hash);
        Some((fingerprint(rest.hash, others), Allowance(allowance)))
    }

    /// The same of any world in normal form.
    #[cfg(feature = "stateright")]
    pub(crate) fn of_world<S: Service>(
        &self,
        world: &fencepost_model::monitor::Observed<S>,
    ) -> Option<(u64, Allowance)> {
        let layout = Layout::of(world.clients.len());
        let count = layout.messages + world.network.places().len();
        let part = |place| {
            let piece = Piece::at(world, place);
            self.comparable(&piece, piece.hash())
        };
        self.identity(&layout, count, part)
    }
}
