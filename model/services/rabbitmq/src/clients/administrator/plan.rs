//! The steps of an operation, after the slots are counted.

use serde::{Deserialize, Serialize};

use super::Task;
use crate::RabbitmqMutation;
use crate::settings::{Adds, Administration, Base, NUMBERS, Operation, Order, Overshoot, Removes, Retries};
use fencepost_model::mutation::Mutation;
use fencepost_model::normal::Normal;

/// A step of an administrator.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AdministratorStep {
    /// Take the mutex.
    Lock,
    /// Probe for a slot of this number.
    Count(u8),
    /// Confirm that a slot does not exist (R-Q-82).
    Confirm(u8),
    /// Probe for a stray slot.
    Scan(u8),
    /// Report the count and the beginning.
    Start,
    /// Check that no client holds a number that is to be reused (F-10).
    Free(u8),
    /// Declare a slot queue.
    Declare(u8),
    /// Delete a slot queue.
    Delete(u8),
    /// Check that no client holds a removed slot (R-Q-86).
    Await(u8),
    /// Report the end.
    Report,
    /// Release the mutex.
    Unlock,
}

/// The remaining steps after counting; the last step is the report.
pub(super) fn plan(
    operation: Operation,
    task: &Task,
    administration: &Administration,
    mutation: Option<Mutation>,
) -> Vec<AdministratorStep> {
    let count = task.counted;
    let target = match (administration.retries, task.asked) {
        (Retries::ToTarget, Some(asked)) if mutation != Some(RabbitmqMutation::RetryForgetsTarget.into()) => asked,
        _ => operation.size_after(count),
    };
    let mut steps: Vec<AdministratorStep> =
        (1..=NUMBERS).rev().filter(|slot| task.strays >> slot & 1 == 1).map(AdministratorStep::Delete).collect();
    if mutation == Some(RabbitmqMutation::StraysLeft.into()) {
        steps.clear();
    }
    steps.push(AdministratorStep::Start);
    let mut removed: Vec<u8> = Vec::new();
    if let Some(Overshoot::BeyondTarget(by)) = administration.overshoot {
        let above = count.max(target);
        steps.extend((above + 1..=(target + by).min(NUMBERS)).rev().map(AdministratorStep::Delete));
    }
    if target > count || matches!(operation, Operation::Create(_)) {
        let Base(base) = administration.base;
        let first = if base == 0 && count == 0 { 0 } else { count + 1 };
        for slot in first..=target {
            if administration.adds == Adds::Last && slot < target && !matches!(operation, Operation::Create(_)) {
                continue;
            }
            if administration.waits && mutation != Some(RabbitmqMutation::AddsWithoutLooking.into()) {
                steps.push(AdministratorStep::Free(slot));
            }
            steps.push(AdministratorStep::Declare(slot));
        }
    }
    if target < count {
        let lowest = match administration.removes {
            Removes::Exactly => target + 1,
            Removes::OneTooMany => target,
        };
        removed.extend(lowest..=count);
        if administration.order == Order::Descending && mutation != Some(RabbitmqMutation::AscendingRemoval.into()) {
            removed.reverse();
        }
        steps.extend(removed.iter().map(|slot| AdministratorStep::Delete(*slot)));
    }
    let beyond = match administration.overshoot {
        Some(Overshoot::FromCounted(by)) => Some(count..=(count + by).min(NUMBERS)),
        Some(Overshoot::BeyondCounted(by)) => Some(count + 1..=(count + by).min(NUMBERS)),
        Some(Overshoot::BeyondTarget(_)) | None => None,
    };
    steps.extend(beyond.into_iter().flatten().rev().map(AdministratorStep::Delete));
    if administration.waits && mutation != Some(RabbitmqMutation::RemovesWithoutWaiting.into()) {
        steps.extend(removed.into_iter().map(AdministratorStep::Await));
    }
    steps.push(AdministratorStep::Report);
    steps
}
