//! The one-shot mode of the Go client's Lock and Semaphore (`LockTryOnce` of api/lock.go and `SemaphoreTryOnce` of api/semaphore.go,
//! Consul 1.8.7): how an attempt ends, and how much of its time is left.

use crate::Consul;
use fencepost_model::ids::SessionId;
use fencepost_model::program::{Handle, OpenDeadline};
use fencepost_model::time::Ticks;

/// What comes of `Lock` or `Acquire`.
pub(super) enum Attempt {
    /// The session has the key, or a slot.
    Held(SessionId),
    /// `goto WAIT`: the next lap tries again.
    Again,
    /// `return nil, nil`, with this session: the time to wait is over.
    GaveUp(SessionId),
}

/// A wait is divided into this number of parts at most.
const PARTS_MAX: i64 = 16;

/// `start := time.Now()`, and what `time.Since(start)` leaves of `LockWaitTime`.
///
/// A program has no clock. It opens a deadline for each tick of the wait, and asks which of them have come: what is left is exact, in
/// whole ticks. Two things are not:
/// * A wait of more than 16 ticks is divided into 16 parts at most, and what is left is rounded up to a part. A real server adds a
///   random 16th to each wait (C-BLK-2).
/// * At the very instant at which the wait is over, the attempt is given up. The source compares nanoseconds by `>`; if they are equal
///   its next query names no wait at all, and gets the server's default.
///
/// The client measures only between two answers: no deadline here ends a query, and neither does one in the source. C-LCK-3.
pub(super) struct OneShot {
    wait: Ticks,
    /// The length of a part, in ticks.
    part: i64,
    /// The ends of the parts that have not come, the last one first.
    ends: Vec<OpenDeadline<Consul>>,
}

impl OneShot {
    /// The wait begins now.
    pub(super) fn begin(consul: &Handle<Consul>, wait: Ticks) -> Self {
        let part = (wait.count() + PARTS_MAX - 1) / PARTS_MAX;
        let lengths = (0..PARTS_MAX).map(|later| wait.count() - later * part).filter(|length| *length > 0);
        OneShot { wait, part, ends: lengths.map(|length| consul.deadline(Ticks::new(length))).collect() }
    }

    /// `LockWaitTime - elapsed`; none: it has elapsed.
    pub(super) async fn left(&mut self) -> Option<Ticks> {
        while let Some(next) = self.ends.last() {
            if !next.has_come().await {
                let left = self.ends.iter().map(|_| self.part).sum();
                return Some(self.wait.min(Ticks::new(left)));
            }
            self.ends.pop();
        }
        None
    }
}
