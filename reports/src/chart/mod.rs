//! Charts as small SVGs, the same bytes for the same numbers: points with intervals on two axes, and the line of the best ones.

mod axis;

use std::fmt::Write;

pub use axis::{Axis, Scale, digits, percent};

use crate::escape::escape;
use crate::statistics::Estimate;

/// A chart of points.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What it shows, for those who cannot see it.
    pub title: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// The points.
    pub points: Vec<Point>,
    /// Points that a line joins, by their places, from left to right.
    pub line: Vec<usize>,
}

/// A point with its intervals.
#[derive(Clone, Debug)]
pub struct Point {
    /// What stands in it: two or three signs.
    pub label: String,
    /// The point's name.
    pub name: String,
    /// What it is, in full.
    pub about: String,
    /// Where it is to the right.
    pub x: Estimate,
    /// The vertical coordinate.
    pub y: Estimate,
    /// How it looks.
    pub look: Look,
    /// The address that the point links to; empty: none.
    pub link: String,
    /// What else is known of it: a sign in its corner, and the class of that.
    pub mark: Option<(&'static str, &'static str)>,
}

/// How a point looks.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Look {
    /// Full: it was measured.
    Measured,
    /// With a broken edge: it was estimated in another way.
    Estimated,
    /// Empty, at its upper end and pointing down: nothing was seen.
    Unseen,
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 86.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 60.0;
const RADIUS: f64 = 11.0;

impl Chart {
    /// How wide and how high it is, in pixels.
    pub const SIZE: (usize, usize) = (860, 460);

    /// The chart as an SVG element.
    pub fn svg(&self) -> String {
        let mut svg = format!(
            "<svg class=\"chart\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\">\n",
            escape(&self.title)
        );
        self.grid(&mut svg);
        self.joined(&mut svg);
        for point in &self.points {
            self.intervals(&mut svg, point);
        }
        for point in &self.points {
            self.point(&mut svg, point);
        }
        svg + "</svg>\n"
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + self.x.place(value) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.place(value) * (HEIGHT - TOP - BOTTOM)
    }

    fn grid(&self, svg: &mut String) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for tick in self.x.ticks() {
            let x = self.x(tick);
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom}\"/><text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 18.0,
                percent(tick)
            );
        }
        for tick in self.y.ticks() {
            let y = self.y(tick);
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                y + 4.0,
                percent(tick)
            );
        }
        let (middle_x, middle_y) = (f64::midpoint(LEFT, right), f64::midpoint(TOP, bottom));
        let _ = writeln!(
            svg,
            "<path class=\"axis\" d=\"M{LEFT} {TOP}V{bottom}H{right}\"/>\n\
             <text class=\"title\" x=\"{middle_x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text class=\"title\" transform=\"translate(20 {middle_y:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            HEIGHT - 16.0,
            escape(&self.x.title),
            escape(&self.y.title)
        );
    }

    /// Where a point is drawn: one of which nothing was seen at the upper end of what is possible.
    fn at(&self, point: &Point) -> (f64, f64) {
        let y = if point.look == Look::Unseen { point.y.high } else { point.y.value };
        (self.x(point.x.value), self.y(y))
    }

    fn joined(&self, svg: &mut String) {
        let places: Vec<String> = self
            .line
            .iter()
            .map(|place| self.at(&self.points[*place]))
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        if places.len() > 1 {
            let _ = writeln!(svg, "<polyline class=\"front\" points=\"{}\"/>", places.join(" "));
        }
    }

    fn intervals(&self, svg: &mut String, point: &Point) {
        let (x, y) = self.at(point);
        let (left, right) = (self.x(point.x.low), self.x(point.x.high));
        let (low, high) = (self.y(point.y.low), self.y(point.y.high));
        let _ =
            writeln!(svg, "<path class=\"interval\" d=\"M{left:.1} {y:.1}H{right:.1}M{x:.1} {low:.1}V{high:.1}\"/>");
        if point.look == Look::Unseen {
            let tip = y + RADIUS + 12.0;
            let _ = writeln!(
                svg,
                "<path class=\"interval\" d=\"M{:.1} {:.1}L{x:.1} {tip:.1}L{:.1} {:.1}\"/>",
                x - 5.0,
                tip - 7.0,
                x + 5.0,
                tip - 7.0
            );
        }
    }

    fn point(&self, svg: &mut String, point: &Point) {
        let (x, y) = self.at(point);
        let class = match point.look {
            Look::Measured => "measured",
            Look::Estimated => "estimated",
            Look::Unseen => "unseen",
        };
        let _ = writeln!(
            svg,
            "<a href=\"#{}\"><g class=\"point {class}\"><title>{}</title><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text></g></a>",
            escape(&point.link),
            escape(&point.about),
            y + 4.0,
            escape(&point.label)
        );
        if let Some((sign, class)) = point.mark {
            let (x, y) = (x + RADIUS, y - RADIUS + 4.0);
            let _ = writeln!(svg, "<text class=\"mark {class}\" x=\"{x:.1}\" y=\"{y:.1}\">{sign}</text>");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_stays_within_its_frame_and_escapes_its_labels() {
        let estimate = |value| Estimate { value, low: value / 2.0, high: value * 2.0 };
        let point = |look| Point {
            label: "1".to_owned(),
            name: "ttl < 3".to_owned(),
            about: "ttl < 3 & \"quoted\"".to_owned(),
            x: estimate(0.1),
            y: Estimate { value: 0.0, low: 0.0, high: 0.01 },
            look,
            link: "setting-1".to_owned(),
            mark: Some(("✗", "violated")),
        };
        let points = vec![point(Look::Unseen), point(Look::Measured)];
        let chart = Chart {
            title: "<b>".to_owned(),
            x: Axis::linear("lost", [0.2].into_iter()),
            y: Axis::log("unsafe", [0.01, 0.5].into_iter()),
            points,
            line: vec![0, 1],
        };
        let svg = chart.svg();
        assert!(svg.contains("ttl &lt; 3 &amp; &quot;quoted&quot;") && !svg.contains("<b>"));
        assert_eq!(svg.matches("class=\"point unseen\"").count(), 1);
        assert_eq!(svg.matches("class=\"mark violated\"").count(), 2);
        for number in svg.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')) {
            let Ok(number) = number.parse::<f64>() else { continue };
            assert!(number.abs() <= WIDTH, "{number} in {svg}");
        }
    }
}
