//! A story as a space-time diagram: a lane per process, time downwards, a row per step. Messages are arrows; who has the
//! lock by record and who is inside are bars; the violating row is marked. Rows are as high as those of the step list
//! that stands beside it.

use std::fmt::Write;

use fencepost_model::finding::{ActionKind, Arrow, Story, StoryStep};

use crate::escape::escape;

/// The height of a row, in pixels; the page's style sheet uses the same.
pub const ROW: usize = 26;
/// The height of the head with the lanes' names.
pub const HEAD: usize = 34;
const LANE: usize = 108;
const MARGIN: usize = 62;

/// The diagram as an SVG element.
pub fn diagram(story: &Story) -> String {
    let drawing = Drawing::new(story);
    let (width, height) = (drawing.width(), HEAD + story.steps.len() * ROW + ROW / 2);
    let mut svg = format!(
        r#"<svg class="diagram" role="img" aria-label="space-time diagram" width="{width}" height="{height}" viewBox="0 0 {width} {height}">"#
    );
    drawing.rows(&mut svg);
    drawing.round(&mut svg);
    drawing.lanes(&mut svg, height);
    drawing.bars(&mut svg);
    for arrow in &story.arrows {
        drawing.arrow(&mut svg, arrow, height);
    }
    drawing.points(&mut svg);
    svg.push_str("</svg>");
    svg
}

/// How wide the diagram is, in pixels.
pub fn width(story: &Story) -> usize {
    Drawing::new(story).width()
}

struct Drawing<'a> {
    story: &'a Story,
    /// For each lane of the story, its place from left to right: the server stands beside the first client.
    places: Vec<usize>,
}

impl<'a> Drawing<'a> {
    fn new(story: &'a Story) -> Self {
        let clients = story.lanes.len().saturating_sub(2);
        let mut order: Vec<usize> = (0..clients.min(1)).collect();
        order.push(clients);
        order.extend(1..clients);
        order.push(clients + 1);
        let mut places = vec![0; story.lanes.len().max(order.len())];
        for (place, lane) in order.into_iter().enumerate() {
            places[lane] = place;
        }
        Drawing { story, places }
    }

    fn width(&self) -> usize {
        MARGIN + self.story.lanes.len() * LANE
    }

    fn x(&self, lane: usize) -> usize {
        MARGIN + self.places[lane] * LANE + LANE / 2
    }

    fn y(step: usize) -> usize {
        HEAD + step * ROW + ROW / 2
    }

    fn rows(&self, svg: &mut String) {
        let width = self.width();
        let mut last = None;
        for (step, row) in self.story.steps.iter().enumerate() {
            let top = HEAD + step * ROW;
            let class = if row.violations.is_empty() { "row" } else { "row broken" };
            let _ = write!(
                svg,
                r#"<rect class="{class}" data-step="{step}" x="0" y="{top}" width="{width}" height="{ROW}"/>"#
            );
            if last != Some(row.at) {
                // Where there is room for it.
                let at = self.story.instant(row.at);
                let sign = if at.len() <= 5 { "t = " } else { "" };
                let (x, y) = (MARGIN - 12, Self::y(step) + 4);
                let _ = write!(svg, r#"<text class="instant" x="{x}" y="{y}">{sign}{at}</text>"#);
            }
            last = Some(row.at);
        }
    }

    /// The cycle of an endless execution: a bracket at the left edge.
    fn round(&self, svg: &mut String) {
        let Some(from) = self.story.repeats_from.filter(|from| *from < self.story.steps.len()) else { return };
        let (top, bottom) = (HEAD + from * ROW + 3, HEAD + self.story.steps.len() * ROW - 3);
        let _ = write!(
            svg,
            r#"<path class="round" d="M 12 {top} H 5 V {bottom} H 12"><title>this cycle repeats for ever</title></path><text class="round" x="7" y="{}">↻</text>"#,
            top + 15
        );
    }

    fn lanes(&self, svg: &mut String, height: usize) {
        for (lane, name) in self.story.lanes.iter().enumerate() {
            let x = self.x(lane);
            let _ = write!(
                svg,
                r#"<text class="lane" x="{x}" y="20">{name}</text><line class="lane" x1="{x}" y1="{HEAD}" x2="{x}" y2="{height}"/>"#
            );
        }
    }

    /// For each client: a bar while it has the lock by record, a bar while it is inside, a band while it is down or paused.
    fn bars(&self, svg: &mut String) {
        let clients = self.story.lanes.len().saturating_sub(2);
        for lane in 0..self.story.lanes.len() {
            let number = u16::try_from(lane + 1).unwrap_or(u16::MAX);
            let is_client = lane < clients;
            self.bar(svg, lane, "down", -14, 28, |row| row.down.contains(&lane));
            self.bar(svg, lane, "paused", -14, 28, |row| row.paused.contains(&lane));
            self.bar(svg, lane, "record", -10, 6, |row| is_client && row.owners.contains(&number));
            self.bar(svg, lane, "inside", 4, 6, |row| is_client && row.inside.contains(&number));
        }
    }

    fn bar(
        &self,
        svg: &mut String,
        lane: usize,
        class: &str,
        left: isize,
        width: usize,
        is_on: impl Fn(&StoryStep) -> bool,
    ) {
        let steps = &self.story.steps;
        let mut from = None;
        for step in 0..=steps.len() {
            let on = step < steps.len() && is_on(&steps[step]);
            match (from, on) {
                (None, true) => from = Some(step),
                (Some(start), false) => {
                    let end = if step < steps.len() { Self::y(step) } else { Self::y(step - 1) + ROW / 2 };
                    let x = self.x(lane).saturating_add_signed(left);
                    let _ = write!(
                        svg,
                        r#"<rect class="{class}" x="{x}" y="{}" width="{width}" height="{}" rx="2"/>"#,
                        Self::y(start),
                        (end - Self::y(start)).max(4)
                    );
                    from = None;
                }
                _ => {}
            }
        }
    }

    fn arrow(&self, svg: &mut String, arrow: &Arrow, height: usize) {
        let (x1, x2) = (self.x(arrow.from), self.x(arrow.to));
        let y1 = Self::y(arrow.sent);
        let (class, y2) = match arrow.ended {
            Some(step) if arrow.lost => ("lost", Self::y(step)),
            Some(step) => ("arrow", Self::y(step)),
            None => ("under-way", height),
        };
        let (x2, y2) = if class == "arrow" { (x2, y2) } else { (x1.midpoint(x2), y1.midpoint(y2).max(y1 + ROW / 2)) };
        let answers = arrow.answers.as_ref().map(|request| format!(" (answer to: {request})"));
        let title = escape(&format!("{}{}", arrow.text, answers.unwrap_or_default()));
        let _ = write!(
            svg,
            r#"<g class="message {class}" data-sent="{}" data-ended="{}">"#,
            arrow.sent,
            arrow.ended.unwrap_or(arrow.sent)
        );
        let _ = write!(svg, r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"><title>{title}</title></line>"#);
        if class == "arrow" {
            svg.push_str(&head(x1, y1, x2, y2));
        }
        if class == "lost" {
            let _ = write!(svg, r#"<text class="cross" x="{x2}" y="{}">✕</text>"#, y2 + 5);
        }
        svg.push_str("</g>");
    }

    fn points(&self, svg: &mut String) {
        for (step, row) in self.story.steps.iter().enumerate() {
            let Some(lane) = row.lane else { continue };
            let class = match (row.violations.is_empty(), row.kind) {
                (false, _) => "point broken",
                (true, Some(ActionKind::Deliver | ActionKind::Command | ActionKind::Wake)) => "point",
                (true, _) => "point fault",
            };
            let (x, y) = (self.x(lane), Self::y(step));
            let _ = write!(svg, r#"<circle class="{class}" data-step="{step}" cx="{x}" cy="{y}" r="4.5"/>"#);
        }
    }
}

/// The head of an arrow, in integers: six pixels back along the longer axis.
fn head(x1: usize, y1: usize, x2: usize, y2: usize) -> String {
    let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(|n| i64::try_from(n).unwrap_or(0));
    let (dx, dy) = (x2 - x1, y2 - y1);
    let length = (dx * dx + dy * dy).isqrt().max(1);
    let at =
        |along: i64, across: i64| (x2 - (dx * along - dy * across) / length, y2 - (dy * along + dx * across) / length);
    let ((tip_x, tip_y), (ax, ay), (bx, by)) = (at(5, 0), at(14, 4), at(14, -4));
    format!(r#"<polygon points="{tip_x},{tip_y} {ax},{ay} {bx},{by}"/>"#)
}
