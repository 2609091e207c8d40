//! Scenarios that are wider than a question, and narrower ones.
//!
//! **Wider.** Suppose an execution in which two clients are inside, and the keys of both were put while their leases were there. A client that
//! stops before the end of its lease is inside only while its lease exists: it looks at its time before it begins, and its lease ends T
//! after the leader has handled the last acknowledged renewal, which was sent before that (E-T-1, E-T-7). Each of the two keys is there as long
//! as the lease is, for no operator deletes it. The wait of the client with the younger key had seen none before its own (E-CC-11), so the other
//! one was gone: so the other client, A, is inside although its lease has ended. Let A have sent its last acknowledged grant or renewal at
//! s; the leader handled it at p >= s. A stops by s + T - margin, late by the drift of that, and by a pause.
//!
//! Then there is an execution of the small scenario: A's lease is granted at p, and A enters in the same instant; it is inside at least until
//! it was. The lease ends no sooner than it did: a new leader, or a later scan, only adds to it (E-LD-1, E-LS-5). B's lease is granted in the instant in
//! which A's has ended, and B enters at once. So renewals, messages, cut links, earlier rounds and other clients change nothing. How long A stays is
//! rounded up, and T down.
//!
//! **Narrower.** One tick is half of T, and A may be inside for as long as its lease lasts. Executions of it count after the exact scenario has
//! accepted them: there `Done` closes a second after T (E-CC-3).

use super::question::{SessionQuestion, SessionStop};
use super::small::{SessionScenario, SmallStop};
use crate::asked;
use crate::rounding::{FINEST, down, sum, times, up};
use fencepost_model::units::Duration;

type InTicks = asked::InTicks<SessionScenario>;

/// The most ticks of a TTL.
const TICKS_MAX: i64 = 400;

/// The ticks of a TTL where a counterexample is sought.
const HALVES: i64 = 2;

/// How long a holder that stops before the end of its lease may be inside.
fn stays(question: &SessionQuestion, drift: Duration) -> Duration {
    let until = sum(sum(question.ttl, drift), question.pause);
    Duration::of_nanoseconds((until.nanoseconds() - question.margin.nanoseconds()).max(0))
}

/// The coarsest scenario that looks as if it proved mutual exclusion; none: nothing looks so.
pub(super) fn wider(question: &SessionQuestion) -> Vec<InTicks> {
    if question.stop != SessionStop::BeforeExpiry {
        return Vec::new();
    }
    let stays = stays(question, question.drift.of(question.ttl));
    let sized = |count: i64| {
        let tick = times(FINEST, (down(question.ttl, FINEST) / count).max(1));
        let stop = SmallStop::After(up(stays, tick).max(1));
        let scenario = SessionScenario { recipe: question.recipe, ttl: down(question.ttl, tick), stop, is_cut: false };
        InTicks { scenario, tick }
    };
    let looks_safe =
        |sized: &InTicks| matches!(sized.scenario.stop, SmallStop::After(stays) if stays < sized.scenario.ttl);
    (1..=TICKS_MAX).map(sized).find(looks_safe).into_iter().collect()
}

/// A scenario that looks as if it broke it.
pub(super) fn narrower(question: &SessionQuestion) -> Vec<InTicks> {
    let stop = match question.stop {
        SessionStop::Never => SmallStop::Never,
        SessionStop::OnDone => SmallStop::OnDone(1),
        SessionStop::BeforeExpiry if stays(question, Duration::ZERO) >= question.ttl => SmallStop::After(HALVES),
        SessionStop::BeforeExpiry => return Vec::new(),
    };
    // A TTL is a number of whole seconds: half of it is one of milliseconds.
    let tick = Duration::of_nanoseconds(question.ttl.nanoseconds() / HALVES);
    vec![InTicks { scenario: SessionScenario { recipe: question.recipe, ttl: HALVES, stop, is_cut: true }, tick }]
}
