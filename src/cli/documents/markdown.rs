//! Markdown as HTML: headings get anchors, links lead to pages of the site, and each cell of a table knows the name of its column, so
//! that a row can be a card on a phone.

use std::collections::BTreeMap;

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::pages::target;

/// A page as HTML.
#[derive(Debug, Default)]
pub struct Rendered {
    /// The first heading, as plain text.
    pub title: String,
    /// The headings of the second level: anchor, and plain text.
    pub sections: Vec<(String, String)>,
    pub html: String,
}

/// Renders a page. `path`: the page's place in the source tree, to which its links are relative.
pub fn render(text: &str, path: &str) -> Rendered {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut page = Rendered::default();
    let mut anchors = BTreeMap::new();
    let mut events = Vec::new();
    let mut table = Table::default();
    let mut open_link = None;
    let all: Vec<Event<'_>> = Parser::new_ext(text, options).collect();
    for (place, event) in all.iter().enumerate() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let words = plain(&all[place..]);
                let anchor = unique(&mut anchors, slug(&words));
                events.push(markup(format!("<{level} id=\"{anchor}\">")));
                if *level == HeadingLevel::H1 && page.title.is_empty() {
                    page.title = words;
                } else if *level == HeadingLevel::H2 {
                    page.sections.push((anchor, words));
                }
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                let (start, end) = link(dest_url, path);
                events.push(markup(start));
                open_link = Some(end);
            }
            Event::End(TagEnd::Link) => events.push(markup(open_link.take().unwrap_or("</a>").to_owned())),
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                let there = target(&joined(path, dest_url)).map_or_else(|| dest_url.clone(), CowStr::from);
                let image = Tag::Image { link_type: *link_type, dest_url: there, title: title.clone(), id: id.clone() };
                events.push(Event::Start(image));
            }
            other => match table.markup(other, &all[place..]) {
                Some(text) => events.push(markup(text)),
                None => events.push(other.clone()),
            },
        }
    }
    html::push_html(&mut page.html, events.into_iter());
    page
}

fn markup<'a>(text: String) -> Event<'a> {
    Event::Html(text.into())
}

/// The table that is being written.
#[derive(Default)]
struct Table {
    heads: Vec<String>,
    is_in_head: bool,
    column: usize,
}

impl Table {
    /// The markup of an event of a table; none: the event is something else.
    fn markup(&mut self, event: &Event<'_>, rest: &[Event<'_>]) -> Option<String> {
        Some(match event {
            Event::Start(Tag::Table(_)) => {
                *self = Table::default();
                "<div class=\"wide\"><table>".to_owned()
            }
            Event::End(TagEnd::Table) => "</tbody></table></div>\n".to_owned(),
            Event::Start(Tag::TableHead) => {
                self.is_in_head = true;
                "<thead><tr>".to_owned()
            }
            Event::End(TagEnd::TableHead) => {
                self.is_in_head = false;
                "</tr></thead><tbody>\n".to_owned()
            }
            Event::Start(Tag::TableRow) => {
                self.column = 0;
                "<tr>".to_owned()
            }
            Event::End(TagEnd::TableRow) => "</tr>\n".to_owned(),
            Event::Start(Tag::TableCell) if self.is_in_head => {
                self.heads.push(plain(rest));
                "<th>".to_owned()
            }
            Event::End(TagEnd::TableCell) if self.is_in_head => "</th>".to_owned(),
            Event::Start(Tag::TableCell) => {
                let head = self.heads.get(self.column).map(|head| escape(head)).unwrap_or_default();
                let is_empty = matches!(rest.get(1), Some(Event::End(TagEnd::TableCell)));
                // The first cell is the name of the row.
                let label =
                    if self.column > 0 && !is_empty { format!(" data-label=\"{head}\"") } else { String::new() };
                self.column += 1;
                format!("<td{label}>")
            }
            Event::End(TagEnd::TableCell) => "</td>".to_owned(),
            _ => return None,
        })
    }
}

/// The words of the element with which these events begin.
fn plain(events: &[Event<'_>]) -> String {
    let mut depth = 0;
    let mut words = String::new();
    for event in events {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            Event::Text(text) | Event::Code(text) => words += text,
            Event::SoftBreak => words.push(' '),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    words
}

/// The anchor of a heading, as on GitHub: lower case, without punctuation, with hyphens for blanks.
fn slug(words: &str) -> String {
    let kept = words.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn unique(known: &mut BTreeMap<String, usize>, anchor: String) -> String {
    let count = known.entry(anchor.clone()).or_insert(0);
    *count += 1;
    if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
}

/// How a link begins and ends. A file of the source tree that is no page of the site is named, and not linked.
fn link(url: &str, path: &str) -> (String, &'static str) {
    let is_outside = url.contains("://") || url.starts_with('#') || url.ends_with(".html") || url.contains(".html#");
    if is_outside {
        return (format!("<a href=\"{}\">", escape(url)), "</a>");
    }
    let (file, anchor) = url.split_once('#').map_or((url, None), |(file, anchor)| (file, Some(anchor)));
    let there = joined(path, file);
    match target(&there) {
        Some(page) => {
            let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
            (format!("<a href=\"{page}{anchor}\">"), "</a>")
        }
        None => (format!("<span class=\"source\" title=\"{} in the source tree\">", escape(&there)), "</span>"),
    }
}

/// The path of a link in the source tree.
fn joined(page: &str, link: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Text within HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_anchors_and_links_lead_to_pages_of_the_site() {
        let text = "# A *page*\n\n## What `x` is\n\n## What `x` is\n\n[a](../../README.md#measured), [b](scenarios.md), [c](../src), [d](#what-x-is)";
        let page = render(text, "reports/docs/doctor.md");
        assert_eq!(page.title, "A page");
        assert_eq!(page.sections[1], ("what-x-is-1".to_owned(), "What x is".to_owned()));
        for part in [
            "<h1 id=\"a-page\">A <em>page</em></h1>",
            "<h2 id=\"what-x-is\">What <code>x</code> is</h2>",
            "<a href=\"index.html#measured\">a</a>",
            "<a href=\"scenarios.html\">b</a>",
            "<span class=\"source\" title=\"reports/src in the source tree\">c</span>",
            "<a href=\"#what-x-is\">d</a>",
        ] {
            assert!(page.html.contains(part), "{part}: {}", page.html);
        }
    }

    #[test]
    fn a_cell_knows_the_name_of_its_column() {
        let page = render("| a | b & c |\n|---|---|\n| `1` | 2 |\n| 3 | |\n", "README.md");
        assert!(page.html.contains("<td><code>1</code></td><td data-label=\"b &amp; c\">2</td>"), "{}", page.html);
        assert!(page.html.contains("<td>3</td><td></td>"), "{}", page.html);
    }
}
