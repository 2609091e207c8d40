//! Messages under way: a sorted bag. Any of them may arrive next; the bounds on lateness live in `clocks`.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use super::normal::{Normal, Visitor};
use crate::ids::ProcessId;
use crate::list::List;
use crate::process::Message;
use crate::protocol::Protocol;
use crate::time::{Instant, Ticks};

/// A message on its way.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Envelope<P: Protocol> {
    /// For whom.
    pub to: ProcessId,
    /// By whom.
    pub from: ProcessId,
    /// What it says.
    pub message: Message<P>,
    /// When it must have arrived, where the scenario bounds that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Instant>,
}

/// One direction of a connection.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Link {
    /// The sending end.
    pub from: ProcessId,
    /// The receiving end.
    pub to: ProcessId,
}

impl<P: Protocol> Envelope<P> {
    /// The link it travels on.
    pub fn link(&self) -> Link {
        Link { from: self.from, to: self.to }
    }

    /// Whether the other differs in its deadline at most, so that it does not matter which of the two is taken.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.to, self.from, self.message) == (other.to, other.from, other.message)
    }
}

/// All messages under way, sorted; alike ones by deadline.
#[derive(PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "", transparent)]
pub struct Network<P: Protocol>(List<Envelope<P>, 5>);

impl<P: Protocol> Clone for Network<P> {
    fn clone(&self) -> Self {
        Network(self.0.clone())
    }

    fn clone_from(&mut self, other: &Self) {
        self.0.clone_from(&other.0);
    }
}

impl<P: Protocol> Default for Network<P> {
    fn default() -> Self {
        Network(List::new())
    }
}

impl<P: Protocol> Deref for Network<P> {
    type Target = [Envelope<P>];
    fn deref(&self) -> &[Envelope<P>] {
        &self.0
    }
}

impl<P: Protocol> Network<P> {
    /// Adds a message.
    pub(super) fn post(&mut self, envelope: Envelope<P>) {
        self.0.insert_sorted(envelope);
    }

    /// Takes a message out; false if it is not under way.
    pub(super) fn take(&mut self, envelope: &Envelope<P>) -> bool {
        let Ok(place) = self.0.binary_search(envelope) else { return false };
        self.0.remove(place);
        true
    }

    /// Every message, to be changed in place; the order has to be restored afterwards.
    pub(super) fn slots(&mut self) -> &mut [Envelope<P>] {
        &mut self.0
    }

    /// Restores the order.
    pub(super) fn sort(&mut self) {
        self.0.iter_mut().for_each(|envelope| envelope.message.sort());
        self.0.sort_unstable();
    }

    /// Takes everything out that is on a link.
    pub(super) fn drop_all(&mut self, is_on_it: impl Fn(Link) -> bool) -> List<Envelope<P>, 2> {
        let dropped = self.0.iter().copied().filter(|envelope| is_on_it(envelope.link())).collect();
        self.0.retain(|envelope| !is_on_it(envelope.link()));
        dropped
    }

    /// Whether exactly this message is under way and the first among those alike.
    pub(super) fn offers(&self, envelope: &Envelope<P>) -> bool {
        self.first_like(envelope).as_ref() == Some(envelope)
    }

    /// Of the messages like the given one, that which is due first; `None` if there is none.
    pub fn first_like(&self, envelope: &Envelope<P>) -> Option<Envelope<P>> {
        let soonest = Envelope { due: None, ..*envelope };
        let place = self.0.partition_point(|other| *other < soonest);
        self.0.get(place).copied().filter(|other| other.is_like(envelope))
    }

    /// One of each kind: among those alike, the one that is due first.
    pub(super) fn distinct(&self) -> impl Iterator<Item = &Envelope<P>> {
        let list = &self.0;
        (0..list.len()).filter(|&place| place == 0 || !list[place - 1].is_like(&list[place])).map(|place| &list[place])
    }
}

impl<P: Protocol> Normal for Envelope<P> {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        visitor.scope(self.from.client().or(self.to.client()), Ticks::ZERO);
        self.message.visit(visitor);
        if let Some(due) = &mut self.due {
            visitor.deadline(due);
        }
    }
}
