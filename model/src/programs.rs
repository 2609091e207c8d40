//! Which clients of a scenario run programs: names and values, as files and traces have them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::ClientId;

/// A program of a scenario.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioProgram {
    /// Which client runs it; none: each that runs no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<u16>")]
    pub client: Option<ClientId>,
    /// The name of the recipe.
    pub name: String,
    /// The crate that it comes from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub package: String,
    /// With which value it begins, as JSON.
    pub head: String,
    /// How many ticks of the scenario are one of the program's: more than one on a refined clock.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub factor: i64,
}

impl ScenarioProgram {
    /// The program that a client runs, if it runs one: an entry for one client takes precedence over an entry for all.
    #[must_use]
    pub fn of(programs: &[ScenarioProgram], client: ClientId) -> Option<&ScenarioProgram> {
        let its_own = programs.iter().find(|program| program.client == Some(client));
        its_own.or_else(|| programs.iter().find(|program| program.client.is_none()))
    }

    /// Whether two clients run the same recipe, as fast, or neither runs one. The value with which it begins may name the client: where the world at
    /// the start shows these values, they are compared there, up to names; where it does not, they have to be equal.
    #[must_use]
    pub fn are_alike(programs: &[ScenarioProgram], (one, other): (ClientId, ClientId), are_values_shown: bool) -> bool {
        let run = |client| {
            let ScenarioProgram { client: _, name, package, head, factor } = Self::of(programs, client)?;
            Some((name, package, factor, (!are_values_shown).then_some(head)))
        };
        run(one) == run(other)
    }
}

fn one() -> i64 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_one(factor: &i64) -> bool {
    *factor == 1
}
