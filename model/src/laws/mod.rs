//! Laws: statements that hold for every scenario in every execution. Tests check them on random walks; the command
//! `mutants` checks that they fail where a mutant is switched on. The seed of the walks is fixed, so a default run
//! repeats the same examples and does not search.
//!
//! ```text
//! walk        a walk through a scenario, by a list of choices
//! steps       what is enabled, what budgets allow
//! assumptions the assumptions of verdicts hold for every execution
//! rough       variants of a scenario with more faults
//! properties  each property against a naive twin that reads the whole execution
//! ```

mod assumptions;
mod properties;
mod rough;
mod steps;
mod walk;

use std::fmt;

pub use assumptions::assumptions_hold;
pub use properties::properties_agree_with_their_twins;
pub use rough::{rough, struck};
pub use steps::{budgets_are_kept, enabled_and_is_enabled_agree, faults_have_their_effect};
pub use walk::{after, pick, walk};

/// The failure of a law.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LawViolation(pub String);

impl fmt::Display for LawViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LawViolation {}

/// Fails unless the condition holds. The message is built only on failure.
pub(crate) fn require(condition: bool, violation: impl FnOnce() -> String) -> Result<(), LawViolation> {
    if condition { Ok(()) } else { Err(LawViolation(violation())) }
}
