//! Instants that are stored, by what they are compared for. The normal form keeps only what such a comparison can see.

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
    /// From when on something may happen.
    Deadline
);
typed!(
    /// The last instant that a lease covers.
    LeaseEnd
);
typed!(
    /// When something began whose length counts, up to the longest duration of the service.
    StartTime
);
typed!(
    /// A ghost's memory of when, for bounds of promises.
    Since
);

impl Deadline {
    /// Guards are closed: it is due at that very instant, too.
    #[inline]
    pub fn is_due(self, now: Instant) -> bool {
        now >= self.0
    }
}

impl LeaseEnd {
    /// Guards are closed: the lease covers that very instant, too.
    #[inline]
    pub fn covers(self, now: Instant) -> bool {
        now <= self.0
    }
}

impl StartTime {
    /// How long ago that was.
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
    /// How long ago that was.
    #[inline]
    pub fn age(self, now: Instant) -> Ticks {
        now - self.0
    }
}
