//! "Verifying a Held Lock": as published it asks for the slot's queue only; corrected it looks at the holder's queue first (R-Q-89).

use super::session::{Existence, MethodError, Session};
use crate::{Name, QueueProperties, RabbitMq, Verify};
use fencepost_model::program::Handle;

/// The result of a verification.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Verified {
    /// "Lock-still-held".
    Held,
    /// The holder's queue is gone, or another connection's: the slot is lost.
    HolderGone,
    /// "Lock-relinquished": the slot was removed, or it is not known.
    SlotGone,
}

/// "Given a held lock number L and the connection and channel that originally acquired it".
///
/// # Errors
/// The connection is lost.
pub(super) async fn verify(
    session: &mut Session,
    broker: &Handle<RabbitMq>,
    slot: u8,
    how: Verify,
    shape: QueueProperties,
) -> Result<Verified, MethodError> {
    let holder = Name::Holder(slot);
    // Not in the text, which does not ask whose B[L] is (F-32, F-33).
    let is_mine = match how {
        Verify::Slot => true,
        // A probe of another connection's queue succeeds, too (R-Q-23).
        Verify::SlotAndProbe => session.probe(broker, holder).await? == Existence::Exists,
        // It takes a queue that was deleted again (F-34).
        Verify::Redeclare => {
            passed(session.ask(broker, async |channel| channel.declare(broker, holder, shape).await).await)?
        }
        // R-Q-89: 404 and 405 both say that it is lost.
        Verify::Both => {
            passed(session.ask(broker, async |channel| channel.declare_passive(broker, holder).await).await)?
        }
    };
    if !is_mine {
        return Ok(Verified::HolderGone);
    }
    // 1. "Poll the existence of the A queue for L."
    match session.probe(broker, Name::Slot(slot)).await? {
        // 3. "If A[L] exists, return lock-still-held/verification-success."
        Existence::Exists => Ok(Verified::Held),
        // 2. "If A[L] does not exist, return lock-relinquished/verification-failure."
        Existence::Absent | Existence::Unknown => Ok(Verified::SlotGone),
    }
}

/// Whether a declaration succeeds.
fn passed(declared: Result<u32, MethodError>) -> Result<bool, MethodError> {
    match declared {
        Ok(_) => Ok(true),
        Err(MethodError::Refused(_)) => Ok(false),
        Err(MethodError::Lost) => Err(MethodError::Lost),
    }
}
