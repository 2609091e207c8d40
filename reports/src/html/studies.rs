//! The studies of what settings cost: the question of each, the command that answers it, and the way to its page.

use std::fmt::Write;

use super::escape;

/// A study that can be taken.
#[derive(Clone, Debug)]
pub struct Link {
    /// Its name on the command line.
    pub name: String,
    /// What it asks.
    pub title: String,
    /// The file that its page is in, beside this one, if it has been taken.
    pub page: Option<String>,
}

/// The part of the page about studies; nothing if there are none.
pub(super) fn section(studies: &[Link]) -> String {
    if studies.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<section id=\"studies\">\n<h2>What liveness costs in safety <a class=\"up\" href=\"#matrix\">↑</a></h2>\n\
         <p>Each study takes a minute or so, and writes a page beside this one.</p>\n<table>\n<thead><tr><th>Question</th><th>Command</th><th>Page</th></tr></thead>\n<tbody>\n",
    );
    for Link { name, title, page } in studies {
        let page = match page {
            Some(file) => format!("<a href=\"{0}\">{0}</a>", escape(file)),
            None => "–".to_owned(),
        };
        let (title, name) = (escape(title), escape(name));
        let _ =
            writeln!(html, "<tr><td>{title}</td><td><code>fencepost tradeoff {name}</code></td><td>{page}</td></tr>");
    }
    html + "</tbody>\n</table>\n</section>\n"
}
