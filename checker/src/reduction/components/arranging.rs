//! The order of interchangeable clients, where a world is a list of parts: clients change places part by part, and what became of a part is
//! remembered.

use std::num::NonZeroU64;

use fencepost_model::inline_vec::InlineVec;
use fencepost_model::mutation::{CheckerMutation, Mutation};
use fencepost_model::service::Service;

use super::super::normal_form::NormalForm;
use super::super::piece::Layout;
use super::super::symmetry::{Symmetry, traces};
use super::cache::Cache;
use super::naming::sort;
use super::pool::WorkerPool;

/// Lets clients change places.
pub(super) struct PartArranging {
    mutation: Option<Mutation>,
    symmetry: Symmetry,
    traces: Traces,
    /// Parts after clients have changed places: by where the clients go that they name.
    places: Cache<(u32, u64), u32>,
}

/// What parts have of clients: by a part's number and a client's place, as far as it was asked for.
struct Traces {
    clients: usize,
    known: Vec<Option<NonZeroU64>>,
}

impl Traces {
    #[inline]
    fn get<P: Service>(&mut self, copies: &WorkerPool<P>, number: u32, place: usize) -> u64 {
        let at = number as usize * self.clients + place;
        if self.known.len() <= at {
            self.known.resize((number as usize + 1) * self.clients, None);
        }
        self.known[at].get_or_insert_with(|| copies.piece(number).trace(place)).get()
    }
}

impl PartArranging {
    /// One that remembers at most two to the power of `most` parts after clients have changed places.
    pub(super) fn new(form: &NormalForm, mutation: Option<Mutation>, clients: usize, most: u32) -> Self {
        PartArranging {
            mutation,
            symmetry: form.symmetry.clone(),
            traces: Traces { clients, known: Vec::new() },
            places: Cache::new(most),
        }
    }

    /// Lets interchangeable clients stand in the order of what can be seen of them. Whether that changes something.
    ///
    /// A part is looked up by where those clients go that it names: others may go where they like. Mostly few clients move, and parts that name
    /// none of them stay as they are.
    pub(super) fn arrange<P: Service>(
        &mut self,
        copies: &mut WorkerPool<P>,
        layout: &Layout,
        parts: &mut [u32],
    ) -> bool {
        if self.symmetry.is_none() {
            return false;
        }
        let is = |mutation: CheckerMutation| self.mutation == Some(mutation.into());
        let held = copies.piece(parts[layout.memory]).held();
        let outside = |place: usize| copies.head(parts[place]).outside ^ u64::from(held[place].0);
        let known = &mut self.traces;
        let traces = |place| traces(layout, parts.len(), |part| known.get(copies, parts[part], place));
        let Some(order) = self.symmetry.order(layout.server, outside, traces) else { return false };
        // Where each client goes, in four bits.
        let (mut goes, mut stays) = (0_u64, 0_u64);
        for (place, from) in (0_u64..).zip(&order) {
            goes |= place << (4 * from);
            stays |= place << (4 * place);
        }
        for number in parts.iter_mut() {
            let mut named = copies.head(*number).named;
            if is(CheckerMutation::PlacesOfOneClient) {
                named &= 0xf << (named.trailing_zeros().min(60));
            }
            if (goes ^ stays) & named == 0 {
                continue;
            }
            let question = (*number, if is(CheckerMutation::PlacesIgnoreOrder) { 0 } else { goes & named });
            *number = match self.places.get(&question) {
                Some(arranged) => arranged,
                None => {
                    let mut piece = copies.piece(*number).clone();
                    piece.arrange(&order);
                    let arranged = copies.number(piece);
                    self.places.put(question, arranged);
                    arranged
                }
            };
        }
        let before: InlineVec<u32, 6> = parts[..layout.server].iter().copied().collect();
        for (place, other) in order.iter().enumerate() {
            parts[place] = before[usize::from(*other)];
        }
        sort(copies, &mut parts[layout.messages..]);
        true
    }
}
