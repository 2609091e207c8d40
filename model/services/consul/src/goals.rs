//! Goals that only Consul's events reach.

use fencepost_model::goal::Goal;

/// The service is without a leader for a while, and has one again.
pub const ELECTED: Goal = Goal::new("elected");
/// A client hears that its session lives although its end is decided already.
pub const RENEWED_IN_VAIN: Goal = Goal::new("renewed-in-vain");
/// A deposed leader acknowledges a renewal.
pub const RENEWED_BY_DEPOSED: Goal = Goal::new("renewed-by-deposed");
/// A client stops acting in jeopardy, and goes on later.
pub const RESUMED: Goal = Goal::new("resumed");
/// A client refuses to take part, for others have agreed on another limit.
pub const LIMIT_CONFLICT: Goal = Goal::new("limit-conflict");

/// All of them.
pub const ALL: &[Goal] = &[ELECTED, RENEWED_IN_VAIN, RENEWED_BY_DEPOSED, RESUMED, LIMIT_CONFLICT];
