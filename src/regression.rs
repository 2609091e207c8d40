//! A run as a test: what `fencepost regress` writes down.

use crate::catalogue;

/// Performs a script in a scenario, both as text, and insists that everything happens as it is written there.
///
/// `fencepost regress TRACE` writes such a test. It fails when the run cannot happen any more, or happens otherwise: then the
/// bug is repaired, or the model is another one.
///
/// # Panics
/// The scenario or the script cannot be read, or something happens otherwise; the message names the line.
pub fn regression(scenario: &str, script: &str) {
    let scenario = catalogue::read(scenario, "the scenario").unwrap_or_else(|error| panic!("{error}"));
    let script = script.trim_start();
    let performed = scenario.perform(script).unwrap_or_else(|error| panic!("{}, {error}", scenario.name()));
    let (mut was, mut is) = (script.trim_end().lines(), performed.trim_end().lines());
    for line in 1.. {
        match (was.next(), is.next()) {
            (None, None) => return,
            (was, is) if was == is => {}
            (was, is) => panic!(
                "{}, line {line} of the script: “{}” was written down, and now there is “{}”",
                scenario.name(),
                was.unwrap_or_default().trim(),
                is.unwrap_or_default().trim()
            ),
        }
    }
}
