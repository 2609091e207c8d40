//! Worlds and their parts as bytes. A world is written as the numbers of its parts, and a part as a line of JSON with its hash.

use std::ops::Range;

use fencepost_model::service::Service;
use serde::{Deserialize, Serialize};

use super::super::normal_form::NormalForm;
use super::super::piece::Piece;
use super::pool::{Component, Pool};
use super::{Collapsed, Numbers};
use crate::engine::Allowance;
use crate::engine::disk::put_number;

/// A part as it is written.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
struct PartLine<P: Service> {
    hash: u64,
    piece: Piece<P>,
}

/// Why lines are refused.
const ANOTHER: &str = "a part of a world is another one than when it was written";

impl<P: Service> Pool<P> {
    /// Adds parts as lines.
    ///
    /// # Errors
    /// A part is not the same when it is read again. That would be a mistake in how the service's types are serialised.
    pub(crate) fn write(&self, parts: Range<u32>, to: &mut Vec<u8>) -> Result<(), String> {
        for number in parts {
            let Component { piece, head } = &**self.part(number);
            let line = PartLine { hash: head.hash, piece: piece.clone() };
            let unwritable = |error: serde_json::Error| format!("a part of a world cannot be written: {error}");
            let text = serde_json::to_string(&line).map_err(unwritable)?;
            let again: PartLine<P> = serde_json::from_str(&text).map_err(unwritable)?;
            if again.piece != *piece || again.piece.hash() != head.hash {
                return Err(format!("a part of a world is another one when it is read again: {piece:?}"));
            }
            to.extend(text.bytes().chain([b'\n']));
        }
        Ok(())
    }

    /// Reads the next parts. Each gets the number that it had.
    ///
    /// # Errors
    /// These are not the lines of parts.
    pub(crate) fn read(&mut self, form: &NormalForm, lines: &[u8]) -> Result<(), String> {
        let (mut next, mut is_in_order) = (self.len(), true);
        self.read_any(form, lines, |number| {
            is_in_order &= number as usize == next;
            next += 1;
        })?;
        if is_in_order { Ok(()) } else { Err(ANOTHER.to_owned()) }
    }

    /// Reads parts of another pool, and shows the number that each of them has here.
    ///
    /// # Errors
    /// These are not the lines of parts.
    pub(crate) fn read_any(&mut self, form: &NormalForm, lines: &[u8], mut has: impl FnMut(u32)) -> Result<(), String> {
        for line in str::from_utf8(lines).map_err(|error| error.to_string())?.lines() {
            let PartLine::<P> { hash, piece } = serde_json::from_str(line).map_err(|error| error.to_string())?;
            if piece.hash() != hash {
                return Err(ANOTHER.to_owned());
            }
            let kind = piece.kind();
            has(self.number((kind, hash), || Component::new(piece, hash, &form.rules)));
        }
        Ok(())
    }
}

impl Collapsed {
    /// Its fingerprint and the numbers of its parts.
    pub(crate) fn numbers(&self) -> (u64, &[u32]) {
        (self.fingerprint, &self.parts)
    }

    /// Adds the numbers of its parts as bytes, by which it is told from every other world of its pool.
    pub(crate) fn write_parts(&self, to: &mut Vec<u8>) {
        self.parts.iter().for_each(|part| put_number(u64::from(*part), to));
    }

    /// The numbers of its parts.
    pub(crate) fn into_numbers(self) -> Numbers {
        self.parts
    }

    /// The world with this fingerprint and these parts; it needs no partition key any more.
    pub(crate) fn of(fingerprint: u64, parts: Numbers) -> Self {
        Collapsed { parts, fingerprint, partition_key: 0, allowance: Allowance::default() }
    }
}
