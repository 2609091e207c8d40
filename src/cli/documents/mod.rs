//! The documents of the source tree, as HTML: pages of the site that `fencepost docs` writes, and parts of the report.

mod markdown;
mod pages;

use fencepost::reports::html::ServicePage;

pub use markdown::{Rendered, escape, render};
pub use pages::{GROUPS, PAGES, PICTURES};

/// A page of the source tree as a part of the report: without its heading, which the report has, and with tables that fit on a phone.
pub fn part_of_report(path: &str, anchor: &'static str, title: &'static str) -> ServicePage {
    let source = PAGES.iter().find(|source| source.path == path).expect("it is a page of the site");
    let rendered = render(source.text, source.path);
    let below = rendered.html.split_once("</h1>").map_or(rendered.html.as_str(), |(_, below)| below);
    ServicePage { anchor, title, html: below.replace("<table>", "<table class=\"stack\">") }
}

#[cfg(test)]
mod tests {
    use fencepost::reports::html::Background;

    use super::*;

    #[test]
    fn a_page_in_the_report_has_its_tables_and_no_heading_of_its_own() {
        let page = part_of_report("model/services/observed-lease/slack.md", "slack", "Slack");
        assert!(!page.html.contains("<h1") && !page.html.contains("<table>"), "{}", page.html);
        assert_eq!(page.html.matches("<table class=\"stack\">").count(), 2);
        assert!(
            page.html.contains("<td>kubernetes-csi sidecars</td>") && page.html.contains("data-label=\"no release\"")
        );
        let background = Background { pages: vec![page], ..Background::default() };
        let report = fencepost::reports::html::page(&[], "report", &background);
        assert!(report.contains("<section id=\"slack\"><h2>Slack "), "it is a part of the report");
    }
}
