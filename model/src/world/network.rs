//! Messages in flight: a sorted bag. Any of them may arrive next; `clocks` has the bounds on delays.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ids::ProcessId;
use crate::inline_vec::InlineVec;
use crate::normal::{Normal, Visitor};
use crate::process::Message;
use crate::service::Service;
use crate::sort::sort_short;
use crate::time::{Deadline, Ticks};

/// A message in flight.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Envelope<P: Service> {
    /// The receiver.
    pub to: ProcessId,
    /// The sender.
    pub from: ProcessId,
    /// The message.
    pub message: Message<P>,
    /// The latest instant of arrival, if the scenario bounds the delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Deadline>,
}

/// One direction of a connection.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Link {
    /// The sending end.
    pub from: ProcessId,
    /// The receiving end.
    pub to: ProcessId,
}

impl<P: Service> Ord for Envelope<P> {
    /// Orders by receiver, sender, message and deadline. The first two nearly always decide and are compared at once:
    /// this is the most frequent operation of a simulation.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        let ends = |envelope: &Self| u64::from(envelope.to.rank()) << 32 | u64::from(envelope.from.rank());
        let by_content = || self.message.cmp(&other.message).then_with(|| self.due.cmp(&other.due));
        ends(self).cmp(&ends(other)).then_with(by_content)
    }
}

impl<P: Service> PartialOrd for Envelope<P> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P: Service> Envelope<P> {
    /// The link that carries it.
    pub fn link(&self) -> Link {
        Link { from: self.from, to: self.to }
    }

    /// Whether the other differs at most in its deadline, so that either of the two may be taken.
    pub fn is_like(&self, other: &Self) -> bool {
        self.to == other.to && self.from == other.from && self.message == other.message
    }
}

/// All messages in flight, sorted; messages with the same content by deadline.
///
/// The bag is a list, which a search hashes and compares. After [spread](Network::spread) it is a tree: in a tree of
/// thousands of messages one is found, added and removed without moving the others.
#[derive(PartialEq, Eq, Hash, Debug)]
pub struct Network<P: Service>(Bag<P>);

#[derive(PartialEq, Eq, Hash, Debug)]
enum Bag<P: Service> {
    Listed(InlineVec<Envelope<P>, 5>),
    /// The number of copies of each message in flight.
    Spread(BTreeMap<Envelope<P>, u32>),
}

impl<P: Service> Clone for Network<P> {
    fn clone(&self) -> Self {
        Network(match &self.0 {
            Bag::Listed(list) => Bag::Listed(list.clone()),
            Bag::Spread(tree) => Bag::Spread(tree.clone()),
        })
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        match (&mut self.0, &other.0) {
            (Bag::Listed(mine), Bag::Listed(list)) => mine.clone_from(list),
            _ => *self = other.clone(),
        }
    }
}

impl<P: Service> Default for Network<P> {
    fn default() -> Self {
        Network(Bag::Listed(InlineVec::new()))
    }
}

impl<P: Service> Serialize for Network<P> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter())
    }
}

impl<'de, P: Service> Deserialize<'de> for Network<P> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        InlineVec::deserialize(from).map(|list| Network(Bag::Listed(list)))
    }
}

impl<P: Service> Network<P> {
    /// Turns the bag into a tree, for worlds with thousands of messages in simulations.
    pub fn spread(&mut self) {
        let mut tree = BTreeMap::new();
        self.iter().for_each(|envelope| *tree.entry(*envelope).or_default() += 1);
        self.0 = Bag::Spread(tree);
    }

    /// Every message, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Envelope<P>> + '_ {
        let (list, tree) = match &self.0 {
            Bag::Listed(list) => (Some(list), None),
            Bag::Spread(tree) => (None, Some(tree)),
        };
        let listed = list.into_iter().flatten();
        let repeat = |(envelope, count): (_, &u32)| std::iter::repeat_n(envelope, *count as usize);
        listed.chain(tree.into_iter().flatten().flat_map(repeat))
    }

    /// The messages of a world that is searched, in order.
    ///
    /// # Panics
    /// The network is spread.
    #[inline]
    pub fn places(&self) -> &[Envelope<P>] {
        match &self.0 {
            Bag::Listed(list) => list,
            Bag::Spread(_) => panic!("messages of a spread network have no indices"),
        }
    }

    /// The same for changes in place. Restore the order afterwards.
    ///
    /// # Panics
    /// The network is spread.
    #[inline]
    pub fn slots(&mut self) -> &mut [Envelope<P>] {
        match &mut self.0 {
            Bag::Listed(list) => list,
            Bag::Spread(_) => panic!("messages of a spread network have no indices"),
        }
    }

    /// The index of a message in a world of a search.
    ///
    /// # Panics
    /// The network is spread.
    #[inline]
    pub fn place(&self, envelope: &Envelope<P>) -> Option<usize> {
        self.places().iter().position(|other| other == envelope)
    }

    /// Replaces all messages by these, which must be sorted.
    ///
    /// # Panics
    /// The network is spread.
    pub fn fill(&mut self, envelopes: impl Iterator<Item = Envelope<P>>) {
        match &mut self.0 {
            Bag::Listed(list) => {
                list.clear();
                envelopes.for_each(|envelope| list.push(envelope));
            }
            Bag::Spread(_) => panic!("messages of a spread network have no indices"),
        }
    }

    /// Takes out the message at a place of a world that is searched.
    ///
    /// # Panics
    /// The network is spread, or there is no such place.
    pub fn remove_at(&mut self, place: usize) {
        match &mut self.0 {
            Bag::Listed(list) => {
                list.remove(place);
            }
            Bag::Spread(_) => panic!("messages of a spread network have no places"),
        }
    }

    /// Adds a message.
    #[inline]
    pub(super) fn post(&mut self, envelope: Envelope<P>) {
        match &mut self.0 {
            Bag::Listed(list) => list.insert_sorted(envelope),
            Bag::Spread(tree) => *tree.entry(envelope).or_default() += 1,
        }
    }

    /// Takes a message out; false if it is not in flight.
    #[inline]
    pub(super) fn take(&mut self, envelope: &Envelope<P>) -> bool {
        match &mut self.0 {
            Bag::Listed(list) => list.take(envelope),
            Bag::Spread(tree) => {
                let Some(count) = tree.get_mut(envelope) else { return false };
                *count -= 1;
                if *count == 0 {
                    tree.remove(envelope);
                }
                true
            }
        }
    }

    /// Restores the order after changes in place.
    pub fn sort(&mut self) {
        let slots = self.slots();
        slots.iter_mut().for_each(|envelope| envelope.message.sort());
        sort_short(slots);
    }

    /// Takes out every message on a link.
    pub(super) fn drop_all(&mut self, is_on_it: impl Fn(Link) -> bool) -> InlineVec<Envelope<P>, 0> {
        let dropped = self.iter().copied().filter(|envelope| is_on_it(envelope.link())).collect();
        match &mut self.0 {
            Bag::Listed(list) => list.retain(|envelope| !is_on_it(envelope.link())),
            Bag::Spread(tree) => tree.retain(|envelope, _| !is_on_it(envelope.link())),
        }
        dropped
    }

    /// Whether exactly this message is in flight, and first among those with the same content.
    pub(super) fn offers(&self, envelope: &Envelope<P>) -> bool {
        self.first_like(envelope).as_ref() == Some(envelope)
    }

    /// The message with the same content that has the earliest deadline; `None` if there is none.
    pub fn first_like(&self, envelope: &Envelope<P>) -> Option<Envelope<P>> {
        let first = match &self.0 {
            Bag::Listed(list) => list.iter().find(|other| other.is_like(envelope)),
            Bag::Spread(tree) => {
                let soonest = Envelope { due: None, ..*envelope };
                tree.range(soonest..).next().map(|(first, _)| first).filter(|other| other.is_like(envelope))
            }
        };
        first.copied()
    }

    /// Visits one message of each content: the one with the earliest deadline.
    #[inline]
    pub(super) fn each_distinct(&self, mut show: impl FnMut(&Envelope<P>)) {
        let mut last: Option<&Envelope<P>> = None;
        let mut look = |envelope| {
            if last.is_none_or(|last: &Envelope<P>| !last.is_like(envelope)) {
                show(envelope);
            }
            last = Some(envelope);
        };
        match &self.0 {
            Bag::Listed(list) => list.iter().for_each(look),
            Bag::Spread(tree) => tree.keys().for_each(&mut look),
        }
    }
}

/// Written by hand: it sets the client whose calls the message contains.
impl<P: Service> Normal for Envelope<P> {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        visitor.scope(self.from.client().or(self.to.client()), Ticks::ZERO);
        self.message.visit(visitor);
        self.due.visit(visitor);
    }
}
