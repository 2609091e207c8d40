//! Labels of the prefix on another clock.

use crate::time::Ticks;

/// The duration in `3 ticks pass`.
pub(crate) fn ticks_in(label: &str) -> Option<Ticks> {
    let count = label.strip_suffix(" ticks pass").or(label.strip_suffix(" tick passes"))?;
    count.parse().ok().map(Ticks::new)
}

/// The same label where each tick is `factor` ticks.
pub(super) fn refine(label: &mut String, factor: i64) {
    if let Some(ticks) = ticks_in(label) {
        *label = format!("{} ticks pass", ticks.times(factor).count());
    }
}
