//! The names of the normal form, where a world is a list of parts: each part gets its names by itself, and what became of it is remembered.

use fencepost_model::mutation::{CheckerMutation, Mutation};
use fencepost_model::normal::Normal;
use fencepost_model::service::Service;
use fencepost_model::time::Ticks;

use super::super::calls::CallsOfAll;
use super::super::names::{NormalNames, OWNERS, Occurrences, Rewriting, SmallSet};
use super::super::order::place_of;
use super::super::piece::Layout;
use super::cache::Cache;
use super::pool::WorkerPool;

/// What parts become in normal form.
pub(super) struct PartNaming {
    mutation: Option<Mutation>,
    /// What parts are called anew.
    names: Cache<(u32, SmallSet, u64, Ticks), u32>,
}

impl PartNaming {
    /// One that remembers at most two to the power of `most` answers.
    pub(super) fn new(mutation: Option<Mutation>, most: u32) -> Self {
        PartNaming { mutation, names: Cache::new(most) }
    }

    /// Gives the parts of a world the names of the normal form, and restores the order of messages; `None` if there are
    /// numbers that are not small.
    pub(super) fn name<P: Service>(
        &mut self,
        copies: &mut WorkerPool<P>,
        layout: &Layout,
        parts: &mut [u32],
        has_new_messages: bool,
        shift: Ticks,
    ) -> Option<()> {
        let mut all = Occurrences::default();
        parts.iter().for_each(|number| all.join(&copies.head(*number).look));
        if all.has_large {
            return None;
        }
        let mut calls = CallsOfAll::default();
        for (known, number) in calls[1..].iter_mut().zip(&parts[..layout.server]) {
            *known = copies.head(*number).look.calls;
        }
        // Where there are several closed calls, they are named by where they occur.
        let has_closed = |place: usize| calls[place + 1].has_closed(all.small.calls_in_use(place));
        if (0..layout.server).any(has_closed) {
            return None;
        }
        let beyond = all.small.beyond(&calls);
        let is_off = |place: usize| {
            let own = (place < layout.server).then(|| calls[place + 1]);
            own.is_some_and(|own| own.is_off(all.small.calls_in_use(place)))
        };
        let mut may_be_unsorted = has_new_messages;
        if all.is_affected(&beyond, shift) || (0..layout.server).any(is_off) {
            for (place, number) in parts.iter_mut().enumerate() {
                if copies.head(*number).look.is_affected(&beyond, shift) || is_off(place) {
                    let own = (place < layout.server).then(|| place_of(place + 1));
                    *number = self.rename(copies, *number, (&all.small, &calls), own, shift);
                    may_be_unsorted |= place >= layout.messages;
                }
            }
        }
        if may_be_unsorted && self.mutation != Some(CheckerMutation::LookupLeavesMessagesUnsorted.into()) {
            sort(copies, &mut parts[layout.messages..]);
        }
        Some(())
    }

    /// Gives a part new names; `own` says whose state it is, if it is a client's.
    fn rename<P: Service>(
        &mut self,
        copies: &mut WorkerPool<P>,
        number: u32,
        (all, calls): (&SmallSet, &CallsOfAll),
        own: Option<u16>,
        shift: Ticks,
    ) -> u32 {
        let is = |mutation: CheckerMutation| self.mutation.is_some_and(|own| own.is(mutation));
        let small = &copies.head(number).look.small;
        let others = match is(CheckerMutation::NamesIgnoreOthers) {
            true => SmallSet::default(),
            false => all.of_kinds_in(small, own),
        };
        // The names of calls depend on what their client shows of them. Mostly there is one client; those of several are mixed.
        let is_named = |owner: &u16| small.calls(*owner) != 0 || own == Some(*owner);
        let digits = |owner: u16| u64::from(calls[usize::from(owner)].digits());
        let mix = |mixed: u64, digits: u64| mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ digits;
        let shown = match is(CheckerMutation::NamesIgnoreCalls) {
            true => 0,
            false => (1..OWNERS).filter(is_named).map(digits).fold(0, mix),
        };
        // Mixed words of several clients may be the same.
        let is_certain = !copies.is_exact() || (1..OWNERS).filter(is_named).count() < 2;
        let question = (number, others, shown, if is(CheckerMutation::NamesIgnoreShift) { Ticks::ZERO } else { shift });
        if let Some(known) = self.names.get(&question).filter(|_| is_certain) {
            return known;
        }
        let names = NormalNames::few(*all, *calls, shift);
        let mut piece = copies.piece(number).clone();
        piece.visit(&mut Rewriting::new(&names, &copies.rules));
        let renamed = copies.number(piece);
        self.names.put(question, renamed);
        renamed
    }
}

/// Restores the order of messages.
pub(super) fn sort<P: Service>(copies: &WorkerPool<P>, messages: &mut [u32]) {
    messages.sort_by(|one, other| copies.piece(*one).message().cmp(&copies.piece(*other).message()));
}
