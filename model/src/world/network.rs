//! Messages under way: a sorted bag. Any of them may arrive next; the bounds on lateness live in `clocks`.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ids::ProcessId;
use crate::list::List;
use crate::normal::{Normal, Visitor};
use crate::process::Message;
use crate::service::Service;
use crate::time::{Deadline, Ticks};

/// A message on its way.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Envelope<P: Service> {
    /// For whom.
    pub to: ProcessId,
    /// By whom.
    pub from: ProcessId,
    /// What it says.
    pub message: Message<P>,
    /// When it must have arrived, where the scenario bounds that.
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
    /// By receiver, sender, message and deadline. The first two, which nearly always tell, are compared at once: that is what a
    /// simulation does most.
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
    /// The link it travels on.
    pub fn link(&self) -> Link {
        Link { from: self.from, to: self.to }
    }

    /// Whether the other differs in its deadline at most, so that it does not matter which of the two is taken.
    pub fn is_like(&self, other: &Self) -> bool {
        self.to == other.to && self.from == other.from && self.message == other.message
    }
}

/// All messages under way, sorted; alike ones by deadline.
///
/// As a list, which a search hashes and compares; or, once somebody has [spread](Network::spread) it, as a tree, in which one among
/// thousands is found, added and taken out without moving the others.
#[derive(PartialEq, Eq, Hash, Debug)]
pub struct Network<P: Service>(Bag<P>);

#[derive(PartialEq, Eq, Hash, Debug)]
enum Bag<P: Service> {
    Listed(List<Envelope<P>, 5>),
    /// How often each is under way.
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
        Network(Bag::Listed(List::new()))
    }
}

impl<P: Service> Serialize for Network<P> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter())
    }
}

impl<'de, P: Service> Deserialize<'de> for Network<P> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        List::deserialize(from).map(|list| Network(Bag::Listed(list)))
    }
}

impl<P: Service> Network<P> {
    /// Makes a tree of it, for worlds with thousands of messages that nobody searches.
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
            Bag::Spread(_) => panic!("messages of a spread network have no places"),
        }
    }

    /// The same, to be changed in place; the order has to be restored afterwards.
    ///
    /// # Panics
    /// The network is spread.
    #[inline]
    pub fn slots(&mut self) -> &mut [Envelope<P>] {
        match &mut self.0 {
            Bag::Listed(list) => list,
            Bag::Spread(_) => panic!("messages of a spread network have no places"),
        }
    }

    /// The place of a message in a world that is searched.
    ///
    /// # Panics
    /// The network is spread.
    #[inline]
    pub fn place(&self, envelope: &Envelope<P>) -> Option<usize> {
        self.places().iter().position(|other| other == envelope)
    }

    /// Puts these messages, which are in order, in place of all others.
    ///
    /// # Panics
    /// The network is spread.
    pub fn fill(&mut self, envelopes: impl Iterator<Item = Envelope<P>>) {
        match &mut self.0 {
            Bag::Listed(list) => {
                list.clear();
                envelopes.for_each(|envelope| list.push(envelope));
            }
            Bag::Spread(_) => panic!("messages of a spread network have no places"),
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

    /// Takes a message out; false if it is not under way.
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

    /// Restores the order, after messages were changed in place.
    pub fn sort(&mut self) {
        let slots = self.slots();
        slots.iter_mut().for_each(|envelope| envelope.message.sort());
        slots.sort_unstable();
    }

    /// Takes everything out that is on a link.
    pub(super) fn drop_all(&mut self, is_on_it: impl Fn(Link) -> bool) -> List<Envelope<P>, 0> {
        let dropped = self.iter().copied().filter(|envelope| is_on_it(envelope.link())).collect();
        match &mut self.0 {
            Bag::Listed(list) => list.retain(|envelope| !is_on_it(envelope.link())),
            Bag::Spread(tree) => tree.retain(|envelope, _| !is_on_it(envelope.link())),
        }
        dropped
    }

    /// Whether exactly this message is under way and the first among those alike.
    pub(super) fn offers(&self, envelope: &Envelope<P>) -> bool {
        self.first_like(envelope).as_ref() == Some(envelope)
    }

    /// Of the messages like the given one, that which is due first; `None` if there is none.
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

    /// Shows one of each kind: among those alike, the one that is due first.
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

/// By hand: it says whose calls those of the message are.
impl<P: Service> Normal for Envelope<P> {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        visitor.scope(self.from.client().or(self.to.client()), Ticks::ZERO);
        self.message.visit(visitor);
        self.due.visit(visitor);
    }
}
