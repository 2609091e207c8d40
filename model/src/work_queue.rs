//! A work queue: items that clients take from the resource, and each of which has to be handled.
//!
//! Which items are in the queue is the resource's memory. Which items have been handled is the state of the world outside: money that was
//! paid out, a mail that was sent. Nothing undoes that, and no process can ask for it.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::normal::Normal;

/// The most items of a work queue.
pub const ITEMS_MAX: u8 = 16;

/// An item of a work queue.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct QueueItem(#[normal(skip = "items are not interchangeable")] u8);

impl QueueItem {
    /// Its number, from 1: the order of the queue.
    pub fn number(self) -> u8 {
        self.0
    }

    fn bit(self) -> u16 {
        1 << (self.0 - 1)
    }
}

impl From<QueueItem> for u8 {
    fn from(item: QueueItem) -> u8 {
        item.0
    }
}

impl TryFrom<u8> for QueueItem {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        let exists = (1..=ITEMS_MAX).contains(&number);
        exists.then_some(QueueItem(number)).ok_or_else(|| format!("items have numbers from 1 to {ITEMS_MAX}"))
    }
}

impl fmt::Display for QueueItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "item {}", self.0)
    }
}

/// A set of items.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QueueItems(u16);

impl QueueItems {
    /// Items 1 to this number, at most [`ITEMS_MAX`].
    pub fn first(count: u8) -> Self {
        QueueItems(u16::MAX.checked_shr(u32::from(ITEMS_MAX.saturating_sub(count))).unwrap_or(0))
    }

    /// Whether the item is in it.
    pub fn contains(self, item: QueueItem) -> bool {
        self.0 & item.bit() != 0
    }

    /// Adds an item.
    pub fn insert(&mut self, item: QueueItem) {
        self.0 |= item.bit();
    }

    /// Without those of another set.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        QueueItems(self.0 & !other.0)
    }

    /// Whether there is no item in it.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether there is one item in it.
    pub fn is_one(self) -> bool {
        self.0.is_power_of_two()
    }

    /// Its items, in order.
    pub fn iter(self) -> impl Iterator<Item = QueueItem> {
        (1..=ITEMS_MAX).map(QueueItem).filter(move |item| self.contains(*item))
    }
}

/// `item 1`, `items 1 and 2`.
impl fmt::Display for QueueItems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.iter().map(|item| item.number().to_string()).collect();
        write!(f, "item{} {}", if self.is_one() { "" } else { "s" }, numbers.join(" and "))
    }
}

/// The state of a work queue. Its items are there from the start; a scenario says how many.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct WorkQueue {
    /// The items that were removed.
    pub removed: QueueItems,
    /// The items that were handled: no process sees it.
    pub handled: QueueItems,
}

impl Hash for WorkQueue {
    /// Hashes nothing if nothing was done with it: a world without a work queue has the fingerprint that it had before there were any.
    fn hash<H: Hasher>(&self, to: &mut H) {
        if !self.is_untouched() {
            to.write_u32(u32::from(self.removed.0) << 16 | u32::from(self.handled.0));
        }
    }
}

impl WorkQueue {
    /// Whether nothing was removed, and nothing handled.
    pub fn is_untouched(&self) -> bool {
        *self == WorkQueue::default()
    }

    /// The first item that is in the queue, of this number from the start.
    pub fn next(&self, items: u8) -> Option<QueueItem> {
        QueueItems::first(items).without(self.removed).iter().next()
    }

    /// The items that were not handled, of this number from the start.
    pub fn unhandled(&self, items: u8) -> QueueItems {
        QueueItems::first(items).without(self.handled)
    }

    /// What it is when the resource has forgotten what was removed.
    #[must_use]
    pub fn restarted(&self) -> Self {
        WorkQueue { removed: QueueItems::default(), handled: self.handled }
    }
}
