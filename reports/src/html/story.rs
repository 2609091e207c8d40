//! What a scenario file tells people: the story, and its sources.

use crate::escape::escape;

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
}

/// A story as paragraphs.
pub(super) fn paragraphs(story: &str) -> String {
    story.trim().split("\n\n").map(|paragraph| format!("<p>{}</p>", escape(&paragraph.replace('\n', " ")))).collect()
}

/// Sources, a line each.
pub(super) fn sources(sources: &[String]) -> String {
    match sources {
        [] => "–".to_owned(),
        sources => sources.iter().map(|source| escape(source)).collect::<Vec<_>>().join("<br>"),
    }
}
