//! Bounds on the environment that were not given. They are taken as 0, which no network and no machine keeps: the answer begins by saying so,
//! and says at each promise that is kept how far it holds beyond.

use std::fmt::Write;

use fencepost_doctor::{Answer, Asked, Boundary, Direction, Quantity};

use crate::json::AssumedBoundJson;

/// A bound that is taken as 0 where it is not given.
#[derive(Debug)]
struct AssumedBound {
    quantity: Quantity,
    zero: &'static str,
    /// A value as people give it: not a recommendation, and no verdict rests on it.
    example: &'static str,
}

const BOUNDS: [AssumedBound; 4] = [
    AssumedBound { quantity: Quantity::Pause, zero: "0s", example: "20s" },
    AssumedBound { quantity: Quantity::Latency, zero: "0s", example: "200ms" },
    AssumedBound { quantity: Quantity::Drift, zero: "0ppm", example: "200ppm" },
    AssumedBound { quantity: Quantity::StopTime, zero: "0s", example: "1s" },
];

/// The bounds that were not given, in the order of the answer.
#[derive(Debug)]
pub struct AssumedBounds {
    bounds: Vec<&'static AssumedBound>,
    meaning: fn(Quantity) -> &'static str,
}

impl AssumedBounds {
    /// Those of a question whose command line gives the bounds for which `is_given` holds. An answer on the terminal that is not 0 gives
    /// one, too.
    pub fn of<Q: Asked>(question: &Q, is_given: impl Fn(Quantity) -> bool) -> Self {
        let is_zero = |quantity: Quantity| quantity.of(question).is_some_and(|value| value.is_zero());
        let bounds = BOUNDS.iter().filter(|bound| !is_given(bound.quantity) && is_zero(bound.quantity)).collect();
        AssumedBounds { bounds, meaning: Q::meaning_of_zero }
    }

    /// Whether this bound is one of them.
    pub fn has(&self, bound: Quantity) -> bool {
        self.bounds.iter().any(|other| other.quantity == bound)
    }

    /// The warning above the verdicts; empty if every bound was given.
    pub fn warning(&self) -> String {
        if self.bounds.is_empty() {
            return String::new();
        }
        let names: Vec<&str> = self.bounds.iter().map(|bound| bound.quantity.name()).collect();
        let options: Vec<String> =
            self.bounds.iter().map(|bound| format!("--{} {}", bound.quantity.name(), bound.example)).collect();
        let mut text = format!("\nWARNING: not given, and taken as 0: {}\n", names.join(", "));
        for bound in &self.bounds {
            let _ = writeln!(text, "  {} {}: {}", bound.quantity.name(), bound.zero, (self.meaning)(bound.quantity));
        }
        let _ = writeln!(
            text,
            "  A ✓ holds in that world, and up to the values below it. Give your bounds, for example: {}",
            options.join(" ")
        );
        text
    }

    /// The line below a promise that is kept: how far beyond 0 it holds. Empty if every bound was given.
    pub fn beyond<Q: Asked>(&self, answer: &Answer<Q>) -> String {
        if self.bounds.is_empty() || !answer.verdict.is_kept() {
            return String::new();
        }
        let limits: Vec<String> = self.bounds.iter().filter_map(|bound| limit(bound, answer)).collect();
        let alone = if limits.len() > 1 { "; each alone, the others 0" } else { "" };
        format!("  under bounds that were not given, it holds for {}{alone}\n", limits.join(", "))
    }

    /// The same for a JSON line.
    pub fn json<Q: Asked>(&self, answer: &Answer<Q>) -> Vec<AssumedBoundJson> {
        let one = |bound: &&AssumedBound| {
            let up = boundary(bound, answer);
            AssumedBoundJson {
                bound: bound.quantity.name(),
                taken_as: bound.zero,
                meaning: (self.meaning)(bound.quantity),
                kept_to: up.map(|up| up.kept.to_string()),
                broken_from: up.and_then(|up| up.broken).map(|broken| broken.to_string()),
            }
        };
        self.bounds.iter().map(one).collect()
    }
}

fn boundary<'a, Q: Asked>(bound: &AssumedBound, answer: &'a Answer<Q>) -> Option<&'a Boundary> {
    answer.boundaries.iter().find(|other| other.quantity == bound.quantity && other.direction == Direction::Up)
}

fn limit<Q: Asked>(bound: &AssumedBound, answer: &Answer<Q>) -> Option<String> {
    let Boundary { kept, broken, .. } = boundary(bound, answer)?;
    let name = bound.quantity.name();
    Some(match broken {
        Some(broken) => format!("{name} up to {kept} (broken at {broken})"),
        None => format!("{name} up to {kept}"),
    })
}
