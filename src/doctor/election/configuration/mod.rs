//! Elections as they are configured in the field: flags of programs, as they stand in a manifest or on a command line, and the stanza
//! `leaderElection` of their configuration files. Each becomes a question, and says of each setting where it comes from. What is not set
//! there comes from the program: it is an assumption, and is printed as one.

mod flags;
mod programs;
mod stanza;
mod started;
mod written;

use super::question::{ElectionQuestion, RECIPES};
use crate::configuration::{Place, Understood};

pub use stanza::{StanzaMember, StanzaStart, of_stanza};
pub use started::{ProgramStart, of_arguments, of_flags};

/// Whether a program takes part in an election.
#[derive(Clone, PartialEq, Debug)]
pub enum ElectionConfiguration {
    /// It does, with these settings.
    Elects(Box<Understood<ElectionQuestion>>),
    /// It does not, for a setting turns its election off.
    Idle {
        /// Where that is said.
        place: Place,
        /// Why, as the end of a sentence about the program.
        why: String,
    },
    /// Nothing says whether it does.
    Unsaid {
        /// What is missing, as a sentence.
        why: String,
    },
}

/// The recipe with this name.
fn known(recipe: Option<&str>) -> Option<&'static str> {
    recipe.and_then(|name| RECIPES.into_iter().find(|recipe| *recipe == name))
}
