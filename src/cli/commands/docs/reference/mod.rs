//! The reference, as Markdown: written from schemas, types and the command line itself, so that it says what the program does.

mod commands;
mod lines;
mod promises;
mod settings;

/// A page of the reference.
#[derive(Debug)]
pub struct Reference {
    /// The name of its file in the site.
    pub file: String,
    /// Its name in the navigation.
    pub name: String,
    /// Its text, in Markdown.
    pub text: String,
}

/// The pages, in the order of the navigation. `command`: the whole command line.
pub fn pages(command: clap::Command) -> Vec<Reference> {
    let mut pages = vec![commands::page(command), promises::page()];
    pages.extend(settings::pages());
    pages.push(lines::page());
    pages
}

/// A page by its parts.
fn reference(file: &str, name: &str, text: String) -> Reference {
    Reference { file: format!("reference-{file}.html"), name: name.to_owned(), text }
}

/// Text within a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// A word as code, within a cell.
fn code(text: &str) -> String {
    format!("`{}`", cell(text))
}
