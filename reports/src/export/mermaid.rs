//! A run as a sequence diagram in Mermaid, which GitHub and many wikis draw. Messages stand where they arrive.

use std::fmt::Write;

use fencepost_model::finding::{ActionKind, Story};

/// The run as text for Mermaid.
pub fn mermaid(story: &Story, title: &str) -> String {
    let mut text = format!("---\ntitle: {}\n---\nsequenceDiagram\n", quoted(title));
    for (lane, name) in story.lanes.iter().enumerate() {
        let _ = writeln!(text, "  participant p{lane} as {}", escape(name));
    }
    let mut last = None;
    for (place, step) in story.steps.iter().enumerate() {
        if step.kind == Some(ActionKind::Advance) && step.facts.is_empty() && step.violations.is_empty() {
            continue;
        }
        let all_lanes = format!("p0,p{}", story.lanes.len().saturating_sub(1));
        if last.is_some_and(|last| last != step.at) {
            let _ = writeln!(text, "  Note over {all_lanes}: t = {}", story.instant(step.at));
        }
        last = Some(step.at);
        let arrow = story.arrows.iter().find(|arrow| arrow.ended == Some(place));
        match (arrow, step.lane) {
            (Some(arrow), _) => {
                let line = if arrow.lost { "-x" } else { "->>" };
                let _ = writeln!(text, "  p{}{line}p{}: {}", arrow.from, arrow.to, escape(&arrow.text));
            }
            (None, Some(lane)) => {
                let _ = writeln!(text, "  Note over p{lane}: {}", escape(&step.label));
            }
            (None, None) => {
                let _ = writeln!(text, "  Note over {all_lanes}: {}", escape(&step.label));
            }
        }
        for fact in &step.facts {
            let _ = writeln!(
                text,
                "  Note over {}: → {}",
                step.lane.map_or(all_lanes.clone(), |lane| format!("p{lane}")),
                escape(fact)
            );
        }
        for violation in &step.violations {
            let _ = writeln!(text, "  Note over {all_lanes}: ✗ {}: {}", violation.property, escape(&violation.message));
        }
    }
    text
}

/// What would end a line, a statement or an entity of Mermaid, or begin HTML.
fn escape(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            ';' => "#59;".to_owned(),
            '#' => "#35;".to_owned(),
            '<' => "#lt;".to_owned(),
            '>' => "#gt;".to_owned(),
            '\n' | '\r' => " ".to_owned(),
            c => c.to_string(),
        })
        .collect()
}

/// A text in the head of the file, which is YAML.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("text can be written")
}

#[cfg(test)]
mod tests {
    use super::super::tests::story;
    use super::*;

    #[test]
    fn messages_stand_where_they_arrive_and_nothing_breaks_out() {
        let text = mermaid(&story(), "a \"run\"");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..4], ["---", "title: \"a \\\"run\\\"\"", "---", "sequenceDiagram"]);
        assert!(lines.contains(&"  p0->>p1: acquire#59; [1]"), "{text}");
        assert!(lines.contains(&"  p0-xp1: lost"), "{text}");
        assert!(lines.contains(&"  Note over p0,p2: ✗ mutual-exclusion: #lt;both#gt; & \"more\""), "{text}");
        assert!(!text.contains("late"), "what has not arrived is not drawn");
    }
}
