//! `fencepost docs`: the README, the pages and a generated reference as a static site.

mod layout;
mod reference;

use clap::{Args, Command};

use self::layout::{Page, STYLE, framed};
use crate::args::Common;
use crate::documents::{PAGES, PICTURES, render};
use crate::exit::{CommandError, Exit};
use crate::json::WrittenJson;
use crate::output::{say, say_json, write};

/// Write the documentation into a folder, as web pages: guides, rules, and a reference of commands, settings, promises and JSON lines
///
/// The pages need no network and no server: open index.html in a browser. The reference is written from the program's own types.
#[derive(Args, Debug)]
pub struct Docs {}

/// `command`: the whole command line.
pub fn run(_: &Docs, command: Command, common: &Common) -> Result<Exit, CommandError> {
    let Some(out) = &common.out else {
        return Err(CommandError::Input("docs: say where the pages go: --out DIR".to_owned()));
    };
    let files = site(command);
    for (name, text) in &files {
        let file = out.join(name);
        write(&file, text)?;
        if common.json {
            say_json(&WrittenJson { file: &file.display().to_string() });
        }
    }
    if !common.json && !common.quiet {
        say(&format!("{} files; open {}\n", files.len(), out.join("index.html").display()));
    }
    Ok(Exit::AsExpected)
}

/// The files of the site: names and texts.
fn site(command: Command) -> Vec<(String, String)> {
    let written = PAGES.iter().map(|source| Page {
        file: source.file.to_owned(),
        group: source.group,
        name: source.title.to_owned(),
        rendered: render(source.text, source.path),
    });
    let generated = reference::pages(command).into_iter().map(|page| Page {
        rendered: render(&page.text, ""),
        file: page.file,
        group: "Reference",
        name: page.name,
    });
    let pages: Vec<Page> = written.chain(generated).collect();
    let mut files: Vec<(String, String)> = pages.iter().map(|page| (page.file.clone(), framed(page, &pages))).collect();
    files.extend(PICTURES.iter().map(|(_, file, text)| ((*file).to_owned(), (*text).to_owned())));
    files.push(("style.css".to_owned(), STYLE.to_owned()));
    files
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use clap::CommandFactory;

    use super::*;
    use crate::commands::Arguments;

    /// The values of an attribute in a page.
    fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
        let begin = format!(" {attribute}=\"");
        html.split(&begin).skip(1).filter_map(|rest| rest.split('"').next()).collect()
    }

    fn files() -> BTreeMap<String, String> {
        site(Arguments::command()).into_iter().collect()
    }

    #[test]
    fn every_link_within_the_site_leads_to_a_page_and_an_anchor() {
        let files = files();
        let anchors: BTreeMap<&str, BTreeSet<&str>> =
            files.iter().map(|(name, html)| (name.as_str(), values(html, "id").into_iter().collect())).collect();
        let mut broken = Vec::new();
        let mut count = 0;
        for (name, html) in files.iter().filter(|(name, _)| name.ends_with(".html")) {
            for link in values(html, "href").into_iter().chain(values(html, "src")) {
                if link.starts_with("data:") || link.starts_with("https://") {
                    continue;
                }
                let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
                let file = if file.is_empty() { name } else { file };
                let is_there = anchors.get(file).is_some_and(|ids| anchor.is_empty() || ids.contains(anchor));
                count += 1;
                if !is_there {
                    broken.push(format!("{name}: {link}"));
                }
            }
        }
        assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
        assert!(count > 1000, "{count} links: are they still found?");
    }

    #[test]
    fn anchors_are_unique_and_nothing_comes_from_elsewhere() {
        for (name, html) in files().iter().filter(|(name, _)| name.ends_with(".html")) {
            let ids = values(html, "id");
            let unique: BTreeSet<&&str> = ids.iter().collect();
            assert_eq!(ids.len(), unique.len(), "{name}: {ids:?}");
            assert!(!html.contains("<script"), "{name}");
            for source in values(html, "src") {
                assert!(source.starts_with("pictures/"), "{name}: {source}");
            }
        }
    }

    #[test]
    fn the_reference_has_every_command_property_system_and_kind_of_line() {
        let files = files();
        let command = Arguments::command();
        for name in command.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name) {
            assert!(files["reference-commands.html"].contains(&format!("<code>fencepost {name}</code>")), "{name}");
        }
        for property in fencepost::Property::ALL {
            assert!(
                files["reference-promises.html"].contains(&format!("<td><code>{property}</code></td>")),
                "{property}"
            );
        }
        for name in crate::json::commands() {
            assert!(files["reference-json.html"].contains(&format!("<h2 id=\"{name}\">")), "{name}");
        }
        for service in fencepost::catalogue::CATALOGUE.services() {
            let page = &files[&format!("reference-{}.html", service.systems()[0])];
            assert!(page.contains("id=\"settings\"") && page.matches("<tr>").count() > 3, "{:?}", service.systems());
        }
    }

    #[test]
    fn every_page_of_the_source_tree_is_part_of_the_site() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for entry in std::fs::read_dir(root.join("reports/docs")).expect("the pages") {
            let name = entry.expect("readable").file_name().into_string().expect("text");
            let path = format!("reports/docs/{name}");
            assert!(
                !name.ends_with(".md") || PAGES.iter().any(|page| page.path == path),
                "{path} is missing in the site"
            );
        }
    }
}
