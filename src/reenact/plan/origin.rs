//! Where a stored instant comes from: the step that set it, or the begin, and the ticks since then.
//!
//! The execution is repeated at a resolution of many parts to a tick, in which no step falls between two ticks. So the low digits of
//! every instant that is set are 0, and there the number of its origin is noted, invisibly: a deadline is noted a little earlier than
//! it is, the end of a lease a little later. As guards are closed, each comparison has the same result as before.

use fencepost_model::ids::{Call, ClientId, Index, SessionId, Tenure, Token};
use fencepost_model::normal::{Normal, Visitor};
use fencepost_model::time::{Instant, Ticks};

/// How many parts a tick has: more than twice the steps of a trace.
pub(super) const PARTS: i64 = 1 << 24;

/// An instant of the execution, by its origin.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Origin {
    /// What set it: 0 is the begin, the others are the steps.
    pub(super) origin: usize,
    /// The instant in ticks.
    pub(super) tick: i64,
}

impl Origin {
    /// The origin of an instant; none: it was set long before.
    pub(super) fn of(at: Instant) -> Option<Origin> {
        if at.ticks() < Instant::LONG_AGO.ticks() / 2 {
            return None;
        }
        let parts = at.ticks() + PARTS / 2;
        let (tick, note) = (parts.div_euclid(PARTS), parts.rem_euclid(PARTS) - PARTS / 2);
        let origin = usize::try_from(note.abs()).expect("positive").checked_sub(1)?;
        Some(Origin { origin, tick })
    }
}

/// Notes in every new instant what has set it.
pub(super) struct Note {
    pub(super) origin: usize,
}

impl Note {
    fn note(&self, at: &mut Instant, sign: i64) {
        if at.ticks() % PARTS == 0 {
            let number = i64::try_from(self.origin + 1).expect("a trace has fewer steps than a tick has parts");
            *at = Instant::at(at.ticks() + sign * number);
        }
    }
}

/// Collects the ends of leases that a client stores.
#[derive(Default)]
pub(super) struct Leases(pub(super) Vec<Instant>);

macro_rules! ignore {
    ($($name:ident: $kind:ty),*) => {
        $(fn $name(&mut self, _: &mut $kind) {})*

        fn call_of(&mut self, _: ClientId, _: &mut Call) {}

        fn scope(&mut self, _: Option<ClientId>, _: Ticks) {}
    };
}

impl Visitor for Note {
    fn deadline(&mut self, at: &mut Instant) {
        self.note(at, -1);
    }

    fn elapsed(&mut self, at: &mut Instant) {
        self.note(at, -1);
    }

    fn until(&mut self, at: &mut Instant) {
        self.note(at, 1);
    }

    ignore!(since: Instant, index: Index, token: Token, tenure: Tenure, session: SessionId, call: Call);
}

/// Moves the ends of leases.
struct Moved(Instant);

impl Visitor for Moved {
    fn until(&mut self, at: &mut Instant) {
        *at = self.0;
    }

    ignore!(
        deadline: Instant, elapsed: Instant, since: Instant, index: Index, token: Token, tenure: Tenure,
        session: SessionId, call: Call
    );
}

/// The client with other ends of all its leases.
pub(super) fn with_leases<T: Normal + Clone>(client: &T, until: Instant) -> T {
    let mut other = client.clone();
    other.visit(&mut Moved(until));
    other
}

impl Visitor for Leases {
    fn until(&mut self, at: &mut Instant) {
        self.0.push(*at);
    }

    ignore!(
        deadline: Instant, elapsed: Instant, since: Instant, index: Index, token: Token, tenure: Tenure,
        session: SessionId, call: Call
    );
}

impl Leases {
    /// Those of a client.
    pub(super) fn of<T: Normal + Clone>(client: &T) -> Vec<Instant> {
        let mut leases = Leases::default();
        client.clone().visit(&mut leases);
        leases.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_model::time::{Deadline, LeaseEnd};

    #[test]
    fn a_note_names_the_origin_and_changes_no_comparison() {
        let now = Instant::at(7 * PARTS);
        let (mut deadline, mut lease) = (Deadline(now), LeaseEnd(now));
        let mut note = Note { origin: 3 };
        deadline.visit(&mut note);
        lease.visit(&mut note);
        assert!(deadline.is_due(now) && lease.covers(now));
        assert!(!deadline.is_due(Instant::at(6 * PARTS)) && !lease.covers(Instant::at(8 * PARTS)));
        let origin = Some(Origin { origin: 3, tick: 7 });
        assert_eq!((Origin::of(deadline.0), Origin::of(lease.0)), (origin, origin));
        assert_eq!(Origin::of(now), None);
        Note { origin: 5 }.note(&mut deadline.0, -1);
        assert_eq!(Origin::of(deadline.0), origin, "the first note stays");
    }
}
