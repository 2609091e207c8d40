//! Sequences, with what takes seconds and comes up rarely: restarts of the server, and failures of the second agent's node.

use proptest::prelude::*;
use serde_json::json;

use super::super::guard::MARK;
use super::odds::{command, good_command};
use super::{Command, POOL};

/// What takes seconds, and whether it may come up.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Rarities {
    /// The server may be restarted.
    pub restarts: bool,
    /// There is a second agent, whose node may fail.
    pub failures: bool,
}

/// Stands for the node of the second agent.
pub const SECOND_NODE: &str = "<second>";

/// A sequence: three sessions that make sense, then anything.
pub fn sequence(length: usize, rarities: Rarities) -> impl Strategy<Value = Vec<Command>> {
    let session = |place: usize| {
        let plain = good_command().prop_map(move |requested| Command::Create { place, requested });
        let is_there = prop::bool::weighted(if rarities.failures { 0.5 } else { 0.0 });
        (is_there, there(place), plain).prop_map(|(is_there, there, plain)| if is_there { there } else { plain })
    };
    (session(0), session(1), session(2), prop::collection::vec(command_or_rarity(rarities), 1..=length))
        .prop_map(|(one, two, three, commands)| [one, two, three].into_iter().chain(commands).collect())
}

/// A session of the second agent's node. C-SES-1: by default it is bound to gossip's opinion of that.
fn there(place: usize) -> BoxedStrategy<Command> {
    let requested = prop::sample::select(vec![
        json!({"Name": MARK, "LockDelay": "0s"}),
        json!({"Name": MARK, "LockDelay": "0s", "Behavior": "delete"}),
        json!({"Name": MARK, "LockDelay": "60s"}),
        json!({"Name": MARK, "LockDelay": "0s", "NodeChecks": []}),
    ]);
    (requested, any::<bool>())
        .prop_map(move |(mut requested, names_node)| {
            if !names_node {
                return Command::CreateThere { place, requested };
            }
            requested["Node"] = json!(SECOND_NODE);
            Command::Create { place, requested }
        })
        .boxed()
}

/// A restart takes seconds, and so does a failure until gossip notices: each comes up once among 1,000 commands.
fn command_or_rarity(rarities: Rarities) -> impl Strategy<Value = Command> {
    (0..1000_u32, command(), (0..POOL).prop_flat_map(there)).prop_map(move |(draw, command, there)| match draw {
        0 if rarities.restarts => Command::Restart,
        1 if rarities.failures => Command::NodeFails,
        2..20 if rarities.failures => Command::NodeReturns,
        20..60 if rarities.failures => there,
        _ => command,
    })
}
