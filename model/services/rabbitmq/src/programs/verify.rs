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

/// "Given a held lock number L and the connection and channel that originally acquired it". If its library `replaces` a lost connection,
/// what was asked on it is asked again on another one (F-32).
///
/// # Errors
/// The connection is lost, and not replaced.
pub(super) async fn verify(
    session: &mut Session,
    broker: &Handle<RabbitMq>,
    slot: u8,
    (how, shape): (Verify, QueueProperties),
    replaces: bool,
) -> Result<Verified, MethodError> {
    let holder = Name::Holder(slot);
    // Not in the text, which does not ask whose B[L] is (F-32, F-33).
    let is_mine = async || match how {
        Verify::Slot => Ok(true),
        // A probe of another connection's queue succeeds, too (R-Q-23).
        Verify::SlotAndProbe => Ok(session.probe(broker, holder).await? == Existence::Exists),
        // It takes a queue that was deleted again (F-34).
        Verify::Redeclare => {
            passed(session.ask(broker, async |channel| channel.declare(broker, holder, shape).await).await)
        }
        // R-Q-89: 404 and 405 both say that it is lost.
        Verify::Both => {
            passed(session.ask(broker, async |channel| channel.declare_passive(broker, holder).await).await)
        }
    };
    if !repeated(replaces, is_mine).await? {
        return Ok(Verified::HolderGone);
    }
    // 1. "Poll the existence of the A queue for L."
    match repeated(replaces, async || session.probe(broker, Name::Slot(slot)).await).await? {
        // 3. "If A[L] exists, return lock-still-held/verification-success."
        Existence::Exists => Ok(Verified::Held),
        // 2. "If A[L] does not exist, return lock-relinquished/verification-failure."
        Existence::Absent | Existence::Unknown => Ok(Verified::SlotGone),
    }
}

/// Asks again for as long as connections are lost, and replaced.
async fn repeated<T>(replaces: bool, mut ask: impl AsyncFnMut() -> Result<T, MethodError>) -> Result<T, MethodError> {
    loop {
        match ask().await {
            Err(MethodError::Lost) if replaces => {}
            result => return result,
        }
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
