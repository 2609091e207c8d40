//! For people: what was found, as text and as a web page. Reads `model::finding` and nothing else of the model.
//!
//! ```text
//! timeline   a story for the terminal: an action a line, who has the lock and who believes so
//! matrix     verdicts for the terminal: scenario × promise
//! legend     what the signs in a story mean
//! diagram    a story as a space-time diagram (SVG)
//! documents  what published documents say, and which promises show that it is wrong
//! choice     what to choose by: the same questions to each service
//! chart      points with intervals on two axes (SVG)
//! study      what settings cost: table, chart, and data for other tools
//! statistics how sure a number is
//! fold       long runs, made short enough to be looked at
//! export     runs and verdicts for other programs
//! html       everything in one self-contained page, and the page of a study; escape: text within SVG and XML
//! ```
//!
//! Same findings, same bytes: no artefact contains a wall-clock time.

pub mod chart;
pub mod choice;
pub mod diagram;
pub mod documents;
mod escape;
pub mod export;
pub mod fold;
pub mod html;
mod legend;
pub mod matrix;
mod statistics;
pub mod study;
pub mod timeline;

/// An upper bound on the probability that two of this number of states share a fingerprint of this number of bits; 0 where states are compared in full.
pub fn collision(states: u64, bits: Option<u8>) -> f64 {
    bits.map_or(0.0, |bits| (states as f64) * (states as f64) / 2f64.powi(i32::from(bits) + 1))
}

/// The same as part of a sentence.
pub fn uncertainty(states: u64, bits: Option<u8>) -> String {
    match bits {
        Some(_) => format!("probability of a fingerprint collision below {:.1e}", collision(states, bits)),
        None => "states compared in full".to_owned(),
    }
}
