//! Rounds in scenario files: a number, or the word `unlimited`.

use serde::{Deserializer, Serializer};

use super::budget_text::{read_count, write_count};

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub(super) fn serialize<S: Serializer>(rounds: &u8, to: S) -> Result<S::Ok, S::Error> {
    write_count(*rounds, to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
    read_count(from)
}
