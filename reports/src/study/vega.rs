//! A study's chart as a Vega-Lite specification with its data inside, for those who want to draw it their own way.

use fencepost_model::finding::Study;
use serde_json::{Value, json};

use super::{LOST, Numbers, dominators, name, unsafe_title};

/// The specification, as JSON.
pub fn vega(study: &Study) -> String {
    let numbers: Vec<_> = study.points.iter().map(|point| Numbers::of(study, point)).collect();
    let dominators = dominators(&numbers);
    let values: Vec<Value> = numbers
        .iter()
        .enumerate()
        .filter_map(|(place, numbers)| {
            let numbers = numbers.as_ref()?;
            let danger = numbers.danger();
            Some(json!({
                "setting": place + 1,
                "settings": name(&study.points[place].settings),
                "unsafe": if danger.value > 0.0 { danger.value } else { danger.high },
                "unsafe_low": danger.low,
                "unsafe_high": danger.high,
                "is_seen": danger.value > 0.0,
                "lost": numbers.idle.value,
                "lost_low": numbers.idle.low,
                "lost_high": numbers.idle.high,
                "searched": study.searched(place).map(|finding| finding.verdict.word()),
                "is_on_front": dominators[place].is_none(),
            }))
        })
        .collect();
    let axis = |field: &str, title: &str, scale: Value| json!({ "field": field, "type": "quantitative", "title": title, "scale": scale, "axis": { "format": "%" } });
    let x = axis("lost", LOST, json!({ "zero": true }));
    let y = axis("unsafe", &unsafe_title(study), json!({ "type": "log" }));
    let specification = json!({
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": study.title,
        "description": study.about,
        "width": 760,
        "height": 400,
        "data": { "values": values },
        "layer": [
            { "mark": "rule", "encoding": { "x": x, "y": axis("unsafe_low", &unsafe_title(study), json!({ "type": "log" })), "y2": { "field": "unsafe_high" } } },
            { "mark": "rule", "encoding": { "y": y, "x": axis("lost_low", LOST, json!({ "zero": true })), "x2": { "field": "lost_high" } } },
            { "mark": { "type": "point", "filled": true, "size": 120, "tooltip": { "content": "data" } },
              "encoding": { "x": x, "y": y, "color": { "field": "is_on_front", "type": "nominal", "title": "on the front" }, "shape": { "field": "is_seen", "type": "nominal", "title": "seen" } } },
            { "mark": { "type": "text", "dy": -12 }, "encoding": { "x": x, "y": y, "text": { "field": "setting" } } }
        ]
    });
    serde_json::to_string_pretty(&specification).expect("JSON can be written") + "\n"
}
