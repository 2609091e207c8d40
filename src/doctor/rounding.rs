//! Durations in ticks, rounded up or down.

use fencepost_model::time::Ticks;
use fencepost_model::units::Duration;

/// The finest duration that a question may name.
pub const FINEST: Duration = Duration::of_nanoseconds(1_000);

/// A number of ticks of [`FINEST`].
pub(crate) fn exact(duration: Duration) -> Ticks {
    Ticks::new(duration.in_ticks_of(FINEST).expect("a validated question has no finer duration"))
}

/// How many ticks cover a duration.
pub(crate) fn up(duration: Duration, tick: Duration) -> i64 {
    (duration.nanoseconds() + tick.nanoseconds() - 1) / tick.nanoseconds()
}

/// How many ticks lie within a duration.
pub(crate) fn down(duration: Duration, tick: Duration) -> i64 {
    duration.nanoseconds() / tick.nanoseconds()
}

pub(crate) fn sum(one: Duration, other: Duration) -> Duration {
    Duration::of_nanoseconds(one.nanoseconds() + other.nanoseconds())
}

pub(crate) fn times(duration: Duration, factor: i64) -> Duration {
    Duration::of_nanoseconds(duration.nanoseconds() * factor)
}

/// The tick of which `count` cover the duration; never finer than [`FINEST`].
pub(crate) fn tick_of(duration: Duration, count: i64) -> Duration {
    let steps = down(duration, FINEST).max(1);
    times(FINEST, (steps + count - 1) / count)
}

/// The greatest common divisor.
pub(crate) fn divisor(one: i64, other: i64) -> i64 {
    if other == 0 { one } else { divisor(other, one % other) }
}
