//! What is left to do when the slots are counted: "Adding Slots", "Removing Slots", "Creating" and "Destroying the Semaphore",
//! "Overshooting".

use serde::{Deserialize, Serialize};

use crate::{Adds, Administration, NUMBERS, Order, Overshoot, Removes};

/// A step of an operation.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Todo {
    /// Tell the user the count, if there was one, and the limit.
    Begin { counted: Option<u8>, limit: u8 },
    /// Wait until no client holds a number that is used again (F-10).
    Free(u8),
    /// Declare A[k].
    Declare(u8),
    /// Delete A[k].
    Delete(u8),
    /// Wait until no client holds a removed slot (R-Q-86).
    Await(u8),
}

/// The steps from `count` slots to `target`.
pub(super) fn todo(
    terms: &Administration,
    is_creation: bool,
    strays: Vec<u8>,
    began: Todo,
    count: u8,
    target: u8,
) -> Vec<Todo> {
    // R-Q-84: strays are repaired first.
    let mut todo: Vec<Todo> = strays.into_iter().rev().map(Todo::Delete).collect();
    todo.push(began);
    // R-Q-85: beyond what will be, and before anything is declared.
    if let Some(Overshoot::BeyondTarget(by)) = terms.overshoot {
        todo.extend((count.max(target) + 1..=(target + by).min(NUMBERS)).rev().map(Todo::Delete));
    }
    for slot in added(terms, is_creation, count, target) {
        todo.extend(terms.waits.then_some(Todo::Free(slot)));
        todo.push(Todo::Declare(slot));
    }
    let removed = removed(terms, count, target);
    todo.extend(removed.iter().copied().map(Todo::Delete));
    // "Delete all A queues found between C and C + T" (F-16).
    let beyond = match terms.overshoot {
        Some(Overshoot::FromCounted(by)) => Some(count..=(count + by).min(NUMBERS)),
        Some(Overshoot::BeyondCounted(by)) => Some(count + 1..=(count + by).min(NUMBERS)),
        Some(Overshoot::BeyondTarget(_)) | None => None,
    };
    todo.extend(beyond.into_iter().flatten().rev().map(Todo::Delete));
    if terms.waits {
        todo.extend(removed.into_iter().map(Todo::Await));
    }
    todo
}

/// The slots to declare, from the lowest.
fn added(terms: &Administration, is_creation: bool, count: u8, target: u8) -> Vec<u8> {
    if is_creation {
        // "From A[1] to A[C]"; or from 0, as other sections have it (F-8).
        let first = if count == 0 { terms.base.0.min(1) } else { count + 1 };
        return (first..=target).collect();
    }
    match terms.adds {
        Adds::Each => (count + 1..=target).collect(),
        // "Declaring the A queue for C + X" (F-6).
        Adds::Last => (target > count).then_some(target).into_iter().collect(),
    }
}

/// The slots to delete, in order.
fn removed(terms: &Administration, count: u8, target: u8) -> Vec<u8> {
    if target >= count {
        return Vec::new();
    }
    let lowest = match terms.removes {
        Removes::Exactly => target + 1,
        // "From C to max(0, C - X)", inclusive (F-7).
        Removes::OneTooMany => target,
    };
    match terms.order {
        Order::Descending => (lowest..=count).rev().collect(),
        // "Swiss cheese": "Administrators can optimistically delete in ascending order" (F-19).
        Order::Ascending => (lowest..=count).collect(),
    }
}
