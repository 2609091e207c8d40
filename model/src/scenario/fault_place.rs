//! Where faults may strike: a scenario can keep a kind of fault to the places where it is of interest.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use crate::action_kind::ActionKind;

/// A kind of fault, and where it may strike: before an action of what it strikes, by a part of that action's label. With several
/// places for one kind, it may strike at each of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultPlace {
    /// The kind of fault.
    #[serde(deserialize_with = "fault")]
    #[schemars(schema_with = "faults")]
    pub fault: ActionKind,
    /// A part of the label of an action that is possible then, as traces have it, with `#` for each number; writes are without
    /// the tenure that stories show.
    pub before: String,
}

/// Reads a kind of fault. What ends a fault may happen anywhere.
fn fault<'de, D: Deserializer<'de>>(from: D) -> Result<ActionKind, D::Error> {
    let name = String::deserialize(from)?;
    ActionKind::faults().find(|kind| kind.name() == name).ok_or_else(|| {
        let known: Vec<&str> = ActionKind::faults().map(ActionKind::name).collect();
        serde::de::Error::custom(format!("unknown variant `{name}`, expected one of `{}`", known.join("`, `")))
    })
}

fn faults(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> = ActionKind::faults().map(ActionKind::name).collect();
    json_schema!({ "type": "string", "enum": names })
}

/// The label with `#` for each number: worlds that differ in names only have the same labels then.
pub(crate) fn without_numbers(label: &str) -> String {
    let mut plain = String::with_capacity(label.len());
    for c in label.chars() {
        match c.is_ascii_digit() {
            true if plain.ends_with('#') => {}
            true => plain.push('#'),
            false => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_one_sign() {
        assert_eq!(without_numbers("client 12 wakes: session 1.2 is due"), "client # wakes: session #.# is due");
    }
}
