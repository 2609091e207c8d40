//! How often a user asks for the lock: a number of rounds that runs out, or one without end.
//!
//! Without an end there is no state that counts rounds, so that a search ends where the normal form of all else is finite: a proof is
//! then one for executions of any length, and a client that waits for ever is starved, and not the last one that asked.

use crate::scenario::UNLIMITED;

/// Takes a round.
pub fn take(rounds: &mut u8) {
    if *rounds != UNLIMITED {
        *rounds -= 1;
    }
}

/// The rounds of a user who asks again, if it does: after a restart, for a round that was not finished.
#[must_use]
pub fn with_another(rounds: u8, asks_again: bool) -> u8 {
    match rounds {
        UNLIMITED => UNLIMITED,
        _ => (rounds + u8::from(asks_again)).min(UNLIMITED - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_without_end_are_never_taken() {
        let (mut endless, mut two) = (UNLIMITED, 2);
        (0..300).for_each(|_| take(&mut endless));
        take(&mut two);
        assert_eq!((endless, two), (UNLIMITED, 1));
        assert_eq!((with_another(two, true), with_another(two, false)), (2, 1));
        assert_eq!(with_another(UNLIMITED, true), UNLIMITED);
        assert_eq!(with_another(254, true), 254, "a number stays a number");
    }
}
