//! Goals that only Consul's events reach.

use fencepost_model::goal::Goal;

/// The service is without a leader for a while, and has one again.
pub const ELECTED: Goal = Goal::new("elected");
/// A client receives a successful renewal although the end of its session is already decided.
pub const RENEWED_IN_VAIN: Goal = Goal::new("renewed-in-vain");
/// A deposed leader acknowledges a renewal.
pub const RENEWED_BY_DEPOSED: Goal = Goal::new("renewed-by-deposed");
/// A client stops acting in jeopardy and resumes later.
pub const RESUMED: Goal = Goal::new("resumed");
/// A client refuses to take part because others have agreed on another limit.
pub const LIMIT_CONFLICT: Goal = Goal::new("limit-conflict");

/// Every goal of Consul.
pub const ALL: &[Goal] = &[ELECTED, RENEWED_IN_VAIN, RENEWED_BY_DEPOSED, RESUMED, LIMIT_CONFLICT];
