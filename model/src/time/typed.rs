//! Stored instants, by the way they are compared. The normal form keeps only what the comparison can distinguish.

use std::fmt;
use std::ops::Add;

use serde::{Deserialize, Serialize};

use super::{Instant, Ticks};

macro_rules! typed {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Instant);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

typed!(
    /// The instant from which on an event may happen.
    Deadline
);
typed!(
    /// The last instant that a lease covers.
    LeaseEnd
);
typed!(
    /// The start of a duration, which counts up to the longest duration of the service.
    StartTime
);
typed!(
    /// The instant of an event in a ghost, for bounds of promises.
    Since
);

impl Deadline {
    /// Guards are closed: a deadline is due at its own instant, too.
    #[inline]
    pub fn is_due(self, now: Instant) -> bool {
        now >= self.0
    }
}

impl LeaseEnd {
    /// Guards are closed: a lease covers its last instant, too.
    #[inline]
    pub fn covers(self, now: Instant) -> bool {
        now <= self.0
    }
}

impl StartTime {
    /// The time since then.
    #[inline]
    pub fn elapsed(self, now: Instant) -> Ticks {
        now - self.0
    }
}

impl Add<Ticks> for StartTime {
    type Output = Instant;
    #[inline]
    fn add(self, length: Ticks) -> Instant {
        self.0 + length
    }
}

impl Since {
    /// The time since then.
    #[inline]
    pub fn age(self, now: Instant) -> Ticks {
        now - self.0
    }
}
