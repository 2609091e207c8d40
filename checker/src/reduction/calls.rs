//! What calls are named in the normal form.
//!
//! Only the identity of a call counts, where a client says so by counting its calls. So the calls that its own state shows come first,
//! in the order in which it shows them, then all others by where they occur ([`name_closed_calls`]), and its counter is how many there
//! are: the next call gets a number that is in use nowhere. Two worlds in which a client has sent the same requests one after the other, in different
//! order, become equal by that. The argument is that such a renaming is one to one among the calls in use, that processes compare
//! calls with `==` only, and that the numbers still to come are fresh before and after it.
//!
//! [`name_closed_calls`]: fencepost_model::monitor::name_closed_calls

use fencepost_model::ids::{Call, ClientId};
use fencepost_model::inline_vec::InlineVec;

use super::names::OWNERS;

/// What a client's own state shows of its calls.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Calls {
    /// Those that it shows but for the counter: a hexadecimal digit each, the first one lowest.
    shown: u32,
    counter: u16,
    is_counting: bool,
}

/// Every client's calls, by its number; those of clients with large numbers are not among them.
pub(super) type CallsOfAll = [Calls; OWNERS as usize];

impl Calls {
    /// Notes a call that the state shows; false if there is no room for it.
    #[inline]
    pub(super) fn note(&mut self, call: u32) -> bool {
        if call >= u16::BITS || self.shown >> (u32::BITS - 4) != 0 {
            return self.place(call).is_some();
        }
        if self.place(call).is_none() {
            self.shown |= call << (4 * self.len());
        }
        true
    }

    /// Notes the counter.
    #[inline]
    pub(super) fn count(&mut self, counter: Call) {
        (self.counter, self.is_counting) = (counter.0, true);
    }

    /// Whether the client counts its calls.
    #[inline]
    pub(super) fn is_counting(self) -> bool {
        self.is_counting
    }

    /// Whether the counter is not the number of these calls, which are in use.
    #[inline]
    pub(super) fn is_off(self, in_use: u16) -> bool {
        self.is_counting && u32::from(self.counter) != in_use.count_ones()
    }

    /// Whether several of these calls are closed: in use, and not shown.
    #[inline]
    pub(super) fn has_closed(self, in_use: u16) -> bool {
        let closed = in_use & !self.set();
        self.is_counting && closed & closed.wrapping_sub(1) != 0
    }

    /// Those that it shows, as digits: what names depend on beside the numbers in use.
    #[inline]
    pub(super) fn digits(self) -> u32 {
        self.shown
    }

    /// Those that it shows, as a set.
    #[inline]
    pub(super) fn set(self) -> u16 {
        self.iter().fold(0, |set, call| set | 1 << call)
    }

    /// The name of a call, of these that are in use.
    #[inline]
    pub(super) fn name(self, in_use: u16, call: u32) -> u32 {
        self.place(call).map_or_else(
            || {
                let others = in_use & !self.set() & (u16::MAX >> (u16::BITS - 1).saturating_sub(call));
                self.len() + others.count_ones()
            },
            |place| place + 1,
        )
    }

    /// Of these calls that are in use, those that are not called by their name.
    #[inline]
    pub(super) fn moved(self, in_use: u16) -> u16 {
        let from_one = in_use >> 1;
        let is_compact = from_one & (from_one + 1) == 0;
        if is_compact && self.iter().eq(1..=self.len()) {
            return 0;
        }
        let calls = (1..u16::BITS).filter(|call| in_use & (1 << call) != 0);
        calls.filter(|call| self.name(in_use, *call) != *call).fold(0, |set, call| set | 1 << call)
    }

    #[inline]
    fn iter(self) -> impl Iterator<Item = u32> {
        (0..self.len()).map(move |place| self.shown >> (4 * place) & 15)
    }

    #[inline]
    fn len(self) -> u32 {
        (u32::BITS - self.shown.leading_zeros()).div_ceil(4)
    }

    #[inline]
    fn place(self, call: u32) -> Option<u32> {
        (0..self.len()).find(|place| self.shown >> (4 * place) & 15 == call)
    }
}

/// The same where numbers are not small.
#[derive(Clone, Debug, Default)]
pub(super) struct ManyCalls {
    /// The calls that the clients' own states show, in that order.
    shown: InlineVec<(ClientId, Call), 0>,
    counting: InlineVec<ClientId, 0>,
}

impl ManyCalls {
    pub(super) fn note(&mut self, client: ClientId, call: Call) {
        if !self.shown.contains(&(client, call)) {
            self.shown.push((client, call));
        }
    }

    pub(super) fn count(&mut self, client: ClientId) {
        self.counting.push(client);
    }

    pub(super) fn is_counting(&self, client: ClientId) -> bool {
        self.counting.contains(&client)
    }

    /// The name of a call that has this place among all of its client's.
    pub(super) fn name(&self, client: ClientId, call: Call, place: u32) -> u32 {
        let mut own = self.shown.iter().filter(|(other, _)| *other == client);
        let count = |count: usize| u32::try_from(count).expect("a client has few calls");
        if let Some(place) = own.clone().position(|(_, other)| *other == call) {
            return count(place) + 1;
        }
        let shown_later = own.by_ref().filter(|(_, other)| *other > call).count();
        place + count(shown_later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shows(calls: &[u32]) -> Calls {
        let mut shown = Calls::default();
        assert!(calls.iter().all(|call| shown.note(*call)));
        shown
    }

    #[test]
    fn calls_of_the_state_come_first_in_its_order() {
        let calls = shows(&[5, 2, 5]);
        let in_use = 1 << 2 | 1 << 4 | 1 << 5 | 1 << 7;
        assert_eq!([5, 2, 4, 7].map(|call| calls.name(in_use, call)), [1, 2, 3, 4]);
        assert_eq!(calls.moved(in_use), 1 << 4 | 1 << 5 | 1 << 7);
        assert_eq!(shows(&[1, 2]).moved(0b1110), 0);
    }

    #[test]
    fn many_calls_have_the_names_of_few() {
        let calls = shows(&[9, 3, 4]);
        let in_use: u16 = 0b10_0110_1101_1010;
        let me = ClientId(1);
        let mut many = ManyCalls::default();
        [9, 3, 4].into_iter().for_each(|call| many.note(me, Call(call)));
        for call in (1..16_u16).filter(|call| in_use & (1 << call) != 0) {
            let place = (in_use & (u16::MAX >> (15 - call))).count_ones();
            assert_eq!(many.name(me, Call(call), place), calls.name(in_use, call.into()), "{call}");
        }
    }

    #[test]
    fn there_is_room_for_eight() {
        let mut calls = shows(&[1, 2, 3, 4, 5, 6, 7, 8]);
        assert!(!calls.note(9) && calls.note(8) && !calls.note(16));
    }
}
