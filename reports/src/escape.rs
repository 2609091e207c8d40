//! Text within SVG and JUnit XML, which are written by `format!`; HTML is written by `maud`, which escapes by itself.

use maud::html;

/// Escapes text for XML, as `maud` does for HTML.
pub fn escape(text: &str) -> String {
    html! { (text) }.into_string()
}
