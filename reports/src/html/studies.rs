//! The studies of what settings cost: the question of each, the command that answers it, and the answer where there is one.

use std::fmt::Write;

use fencepost_model::finding::Study;

use crate::escape::escape;

/// A study that can be taken.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Its name on the command line.
    pub name: String,
    /// What it asks.
    pub title: String,
    /// What was measured.
    pub taken: Taken,
}

/// Whether a study has been taken into the folder of the report.
#[derive(Clone, Debug)]
pub enum Taken {
    /// It has not.
    Never,
    /// Not by this program: what another one measured need not hold for it.
    Before,
    /// By this one.
    Now(Box<Study>),
}

/// The part of the page about studies; nothing if there are none.
pub(super) fn section(studies: &[Ready]) -> String {
    if studies.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<section id=\"studies\">\n<h2>What liveness costs in safety <a class=\"up\" href=\"#matrix\">↑</a></h2>\n\
         <p>Each study takes a minute or so. Those that have been taken into the folder of this page are part of it.</p>\n\
         <table>\n<thead><tr><th>Question</th><th>Command</th><th></th></tr></thead>\n<tbody>\n",
    );
    for Ready { name, title, taken } in studies {
        let (title, name) = (escape(title), escape(name));
        let (title, state) = match taken {
            Taken::Never => (title, "not taken"),
            Taken::Before => (title, "taken with another program: take it again"),
            Taken::Now(_) => (format!("<a href=\"#study-{name}\">{title}</a>"), "below"),
        };
        let _ =
            writeln!(html, "<tr><td>{title}</td><td><code>fencepost tradeoff {name}</code></td><td>{state}</td></tr>");
    }
    html += "</tbody>\n</table>\n";
    for ready in studies {
        if let Taken::Now(study) = &ready.taken {
            html += &super::study::section(study);
        }
    }
    html + "</section>\n"
}
