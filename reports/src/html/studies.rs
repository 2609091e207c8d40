//! The studies of what settings cost: the question of each, the command that answers it, and the answer where there is one.

use fencepost_model::finding::Study;
use maud::{Markup, html};

/// A study that can be taken.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Its name on the command line.
    pub name: String,
    /// What it asks.
    pub title: String,
    /// What was measured.
    pub taken: Measurements,
}

/// Whether the report contains measurements of a study.
#[derive(Clone, Debug)]
pub enum Measurements {
    /// The study was never measured.
    Never,
    /// Not by this program: what another one measured need not hold for it.
    Before,
    /// By this one.
    Now(Box<Study>),
}

/// The part of the page about studies; nothing if there are none.
pub(super) fn section(studies: &[Ready]) -> Option<Markup> {
    (!studies.is_empty()).then(|| {
        html! {
            section #studies {
                h2 { "What liveness costs in safety " a.up href="#top" { "↑" } }
                p { "Each study takes a minute or so. Those that have been taken into the folder of this page are part of it." }
                table.stack {
                    thead { tr { th { "Question" } th { "Command" } th {} } }
                    tbody { @for study in studies { (row(study)) } }
                }
                @for ready in studies {
                    @if let Measurements::Now(study) = &ready.taken { (super::study::section(study)) }
                }
            }
        }
    })
}

fn row(Ready { name, title, taken }: &Ready) -> Markup {
    let state = match taken {
        Measurements::Never => "not measured",
        Measurements::Before => "taken with another program: take it again",
        Measurements::Now(_) => "below",
    };
    html! {
        tr {
            td { @if matches!(taken, Measurements::Now(_)) { a href={ "#study-" (name) } { (title) } } @else { (title) } }
            td { code { "fencepost tradeoff " (name) } }
            td { (state) }
        }
    }
}
