//! The frame of a page: head, navigation, and the page itself. The style sheet is a file of the site; nothing comes from elsewhere.

use crate::documents::{GROUPS, Rendered, escape};

/// The style sheet of the site.
pub const STYLE: &str = include_str!("style.css");

/// A page of the site before it has its frame.
#[derive(Debug)]
pub struct Page {
    pub file: String,
    pub group: &'static str,
    /// Its name in the navigation.
    pub name: String,
    pub rendered: Rendered,
}

/// The page in its frame.
pub fn framed(page: &Page, all: &[Page]) -> String {
    let title = if page.file == "index.html" { "fencepost".to_owned() } else { format!("{} · fencepost", page.name) };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"style.css\">\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#content\">Skip to the content</a>\n\
         <input type=\"checkbox\" id=\"menu\" aria-label=\"Show the pages\">\n\
         <header><a href=\"index.html\">fencepost</a><label for=\"menu\">Pages</label></header>\n\
         <nav aria-label=\"Pages\">\n{}</nav>\n<main id=\"content\">\n{}</main>\n</body>\n</html>\n",
        escape(&title),
        navigation(page, all),
        page.rendered.html,
    )
}

fn navigation(page: &Page, all: &[Page]) -> String {
    let mut text = String::new();
    for group in GROUPS {
        let pages: Vec<&Page> = all.iter().filter(|page| page.group == group).collect();
        if !group.is_empty() {
            text += &format!("<h2>{group}</h2>\n");
        }
        text += "<ul>\n";
        for other in pages {
            let is_this = other.file == page.file;
            let mark = if is_this { " aria-current=\"page\"" } else { "" };
            text += &format!("<li><a href=\"{}\"{mark}>{}</a>", other.file, escape(&other.name));
            if is_this && !other.rendered.sections.is_empty() {
                text += "\n<ul>\n";
                for (anchor, words) in &other.rendered.sections {
                    text += &format!("<li><a href=\"#{anchor}\">{}</a></li>\n", escape(words));
                }
                text += "</ul>\n";
            }
            text += "</li>\n";
        }
        text += "</ul>\n";
    }
    text
}
