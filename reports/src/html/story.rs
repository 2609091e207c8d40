//! What a scenario file tells people: the story, and its sources.

use std::collections::BTreeMap;

use maud::{Markup, html};

/// What a scenario file says of itself, beside what findings say.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ScenarioText {
    /// What its hazard is called.
    pub title: String,
    /// The numbers of further hazards.
    pub also: Vec<String>,
    /// What happens, and why it matters; an empty line separates paragraphs.
    pub story: String,
    /// Where that is published, or which rules it follows from.
    pub sources: Vec<String>,
    /// The real server on which the violation of a promise was seen, by the promise's name.
    pub seen: BTreeMap<String, String>,
}

/// A story as paragraphs.
pub(super) fn paragraphs(story: &str) -> Markup {
    html! { @for paragraph in story.trim().split("\n\n") { p { (paragraph.replace('\n', " ")) } } }
}

/// Sources, a line each.
pub(super) fn sources(sources: &[String]) -> Markup {
    let lines: Vec<Markup> = sources.iter().map(|source| html! { (source) }).collect();
    if lines.is_empty() {
        html! { "–" }
    } else {
        separated(&lines, &html! { br; })
    }
}

/// Parts with something between each two of them.
pub(super) fn separated(parts: &[Markup], between: &Markup) -> Markup {
    html! {
        @for (place, part) in parts.iter().enumerate() {
            @if place > 0 { (between) }
            (part)
        }
    }
}
