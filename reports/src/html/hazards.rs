//! Published bugs, and what became of each in this run: where it was found, and which settings are safe from it.

use std::collections::BTreeMap;
use std::fmt::Write;

use fencepost_model::finding::{Finding, Verdict};

use super::documents::{marked, verdict_line};
use crate::escape::escape;

/// The part of the page about hazards; nothing if the run met none of them.
pub(super) fn section(findings: &[Finding], comments: &BTreeMap<String, String>) -> String {
    let mut hazards: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        let hazard = finding.hazard.as_deref().filter(|hazard| hazard.starts_with("B-"));
        if let Some(hazard) = hazard {
            hazards.entry(hazard).or_default().push(finding);
        }
    }
    if hazards.is_empty() {
        return String::new();
    }
    let is_found = |found: &&Vec<&Finding>| found.iter().any(|finding| finding.verdict.story().is_some());
    let mut html = format!(
        "<section id=\"hazards\">\n<h2>Hazards found <a class=\"up\" href=\"#matrix\">↑</a></h2>\n\
         <p>Bugs that somebody has published: {} of {} were found here, each by a shortest run that shows it. Under <i>kept</i> stands where a \
         promise that the hazard breaks is proven.</p>\n<table>\n<thead><tr><th>Hazard</th><th>Source</th><th>Found</th><th>Kept</th>\
         <th>Command</th></tr></thead>\n<tbody>\n",
        hazards.values().filter(is_found).count(),
        hazards.len()
    );
    for (number, mut found) in hazards {
        found.sort_by_key(|finding| finding.verdict.story().map_or(usize::MAX, |story| story.steps.len()));
        let written = found.iter().filter_map(|finding| comments.get(&finding.scenario)).map(String::as_str);
        let (title, sources) = named(number, written.collect());
        let is_broken = |finding: &&&Finding| matches!(finding.verdict, Verdict::Violated(_));
        // A proof counts where it is of a promise that the hazard breaks elsewhere.
        let is_at_stake =
            |finding: &Finding| found.iter().filter(is_broken).any(|other| other.property == finding.property);
        let is_kept = |finding: &&Finding| matches!(finding.verdict, Verdict::Proven(_)) && is_at_stake(finding);
        let _ = writeln!(
            html,
            "<tr><td><b>{number}</b> {}</td><td>{}</td><td>{}</td><td>{}</td><td><code>fencepost check {number}</code></td></tr>",
            marked(&title),
            escape(&sources),
            list(found.iter().filter(is_broken).copied()),
            list(found.iter().copied().filter(is_kept)),
        );
    }
    html + "</tbody>\n</table>\n</section>\n"
}

/// The first verdict, and how many more there are, to be unfolded.
fn list<'a>(findings: impl Iterator<Item = &'a Finding>) -> String {
    let lines: Vec<String> = findings.map(verdict_line).collect();
    match &lines[..] {
        [] => "–".to_owned(),
        [only] => only.clone(),
        [first, more @ ..] => {
            format!("{first}<details><summary>{} more</summary>{}</details>", more.len(), more.join("<br>"))
        }
    }
}

/// What the hazard is called, and who has written of it: by the head of the first of its scenario files.
fn named(number: &str, mut comments: Vec<&str>) -> (String, String) {
    // The file that tells the hazard itself, and not a variant of it, begins with its number and its name.
    let starts = [format!("# {number}, "), format!("# {number}: "), format!("# {number} and "), format!("# {number}")];
    comments.sort_by_key(|text| starts.iter().position(|start| text.starts_with(start)).unwrap_or(starts.len()));
    let Some(text) = comments.first() else { return (String::new(), "–".to_owned()) };
    let text = flowing(text);
    let (story, sources) = match text.split_once("Sources: ").or_else(|| text.split_once("Source: ")) {
        Some((story, sources)) => (story, sources.to_owned()),
        None => (text.as_str(), "–".to_owned()),
    };
    let sentence = story.split(". ").next().unwrap_or_default();
    let title = sentence.trim_start_matches(number).trim_start_matches([',', ':']).trim_end_matches('.').trim();
    // Other numbers that the bug goes by.
    let title =
        title.strip_prefix("and ").and_then(|rest| rest.split_once([':', ','])).map_or(title, |(_, rest)| rest.trim());
    (title.to_owned(), sources)
}

/// A comment as one paragraph.
pub(super) fn flowing(comment: &str) -> String {
    comment.lines().map(|line| line.trim_start_matches('#').trim()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hazard_is_named_by_the_file_that_tells_it() {
        let named = |comments: &[&str]| named("B-07", comments.to_vec());
        let words = |title: &str, sources: &str| (title.to_owned(), sources.to_owned());
        let variant = "# B-07 with a fix. More.\n# Source: nobody.";
        let own =
            "# B-07 and F-9: what breaks\n# is told. Then it\n# breaks.\n# Sources: a paper, section 2.4; an issue.";
        assert_eq!(named(&[variant, own]), words("what breaks is told", "a paper, section 2.4; an issue."));
        assert_eq!(named(&[variant]), words("with a fix", "nobody."));
        assert_eq!(named(&["# B-07, short"]), words("short", "–"));
        assert_eq!(named(&[]), words("", "–"));
    }
}
