//! A run, or a chart, as a picture of its own (SVG): it brings its colours along, for light and for dark pages.

use std::fmt::Write;

use fencepost_model::finding::Story;

use crate::chart::Chart;
use crate::diagram::{HEAD, ROW, diagram, width};
use crate::escape::escape;
use crate::fold::fold;
use crate::html::STYLE;

/// How wide the text beside a run is, in pixels.
const TEXT: usize = 620;
/// How wide the names beside a chart are.
const LEGEND: usize = 340;

/// A run: lanes and arrows as on a page, with each step's sentence beside its row.
pub fn run_picture(story: &Story) -> String {
    let story: &Story = &fold(story);
    let left = width(story) + 12;
    let height = HEAD + story.steps.len() * ROW + ROW;
    let mut text = String::new();
    for (place, step) in story.steps.iter().enumerate() {
        let y = HEAD + place * ROW + ROW / 2 + 4;
        let facts: String = step.facts.iter().map(|fact| format!(" → {fact}")).collect();
        let violations: String = step.violations.iter().map(|violation| format!("  ✗ {}", violation.message)).collect();
        let class = if step.violations.is_empty() { "step" } else { "step broken" };
        let _ = write!(
            text,
            "<text class=\"{class}\" x=\"{left}\" y=\"{y}\">{}<tspan>{}</tspan>{}</text>",
            escape(&step.label),
            escape(&facts),
            escape(&violations)
        );
    }
    let own = ".step { fill: var(--ink); font: 12px system-ui, sans-serif; } .step tspan { fill: var(--faint); } .step.broken { fill: var(--unexpected); }";
    framed(left + TEXT, height, own, &format!("{}\n{text}\n", diagram(story)))
}

/// A chart.
pub fn chart_picture(chart: &Chart) -> String {
    let (width, height) = Chart::SIZE;
    let mut legend = String::new();
    for (place, point) in chart.points.iter().enumerate() {
        let y = 36 + place * 20;
        let (label, name) = (escape(&point.label), escape(&point.name));
        let _ = writeln!(
            legend,
            "<text class=\"legend\" x=\"{}\" y=\"{y}\" text-anchor=\"end\">{label}</text><text class=\"legend\" x=\"{}\" y=\"{y}\">{name}</text>",
            width + 16,
            width + 26
        );
    }
    let mut lines = chart.points.len();
    if chart.points.iter().any(|point| point.mark.is_some()) {
        for text in ["✓ proven, ✗ with a counterexample:", "state space exhausted, in a smaller scenario"] {
            lines += 1;
            let y = 46 + lines * 20;
            let _ = writeln!(legend, "<text class=\"legend\" x=\"{}\" y=\"{y}\">{text}</text>", width + 6);
        }
    }
    let height = height.max(46 + lines * 20);
    framed(
        width + LEGEND,
        height,
        ".legend { fill: var(--ink); font: 12px system-ui, sans-serif; }",
        &format!("{}{legend}", chart.svg()),
    )
}

/// An SVG document with the page's colours and those rules of its style sheet that are about pictures.
fn framed(width: usize, height: usize, own: &str, inside: &str) -> String {
    let style = STYLE.split_once("* { box-sizing").map_or(STYLE, |(colours, _)| colours);
    let is_about_pictures = |line: &&str| line.starts_with(".diagram") || line.starts_with(".chart");
    let rules: String = STYLE.lines().filter(is_about_pictures).map(|line| format!("{line}\n")).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n<style>\n{style}{rules}{own}\n</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" style=\"fill: var(--card)\"/>\n{inside}</svg>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::story;
    use super::*;

    #[test]
    fn a_picture_stands_alone() {
        let svg = run_picture(&story());
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
        for needed in ["--inside:", ".diagram .message", "it &lt;arrives&gt;", "✗ &lt;both&gt;"] {
            assert!(svg.contains(needed), "{needed} is missing");
        }
        assert_eq!(svg.matches("<svg").count(), svg.matches("</svg>").count());
    }
}
