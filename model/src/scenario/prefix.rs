//! Labels of the prefix on another clock.

use crate::time::Ticks;
use crate::units::Duration;

/// The duration in `3 ticks pass`, or, where a tick has a length, in `1.5s pass`.
pub(crate) fn ticks_in(label: &str, tick: Option<Duration>) -> Option<Ticks> {
    let length = label.strip_suffix(" pass").or(label.strip_suffix(" passes"))?;
    if let Some(count) = length.strip_suffix(" ticks").or(length.strip_suffix(" tick")) {
        return count.parse().ok().map(Ticks::new);
    }
    let length: Duration = length.parse().ok()?;
    length.in_ticks_of(tick?).map(Ticks::new)
}

/// The same label where each tick is `factor` ticks.
pub(super) fn refine(label: &mut String, factor: i64, tick: Option<Duration>) {
    if let Some(ticks) = ticks_in(label, tick) {
        *label = format!("{} ticks pass", ticks.times(factor).count());
    }
}
