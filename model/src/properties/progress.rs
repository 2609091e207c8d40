//! Promises of progress. Without a bound no single step violates them: the checker searches for endless executions.

use super::View;
use crate::mutation::KernelMutation;
use crate::service::{Service, Settings as _};
use crate::time::Ticks;
use crate::world::Action;

pub(super) fn acquired_in_time<P: Service>(view: &View<'_, P>, bound: Option<Ticks>) -> Result<(), String> {
    let (Some(bound), Some(since)) = (bound, view.ghosts.idle) else { return Ok(()) };
    let age = since.age(view.after.now);
    // The violation is found when time passes; the normal form forgets how long ago the bound was exceeded.
    let bound = bound + Ticks::new(i64::from(view.is_mutated(KernelMutation::IdleBoundTooLong)));
    if age <= bound || !matches!(view.action, Action::Advance(_)) || !view.after.is_idle(view.scenario) {
        return Ok(());
    }
    let waiting: Vec<String> = view.after.waiting().map(|client| client.to_string()).collect();
    let idle = if view.scenario.service.capacity() == 1 { "the lock has been free" } else { "a slot has been free" };
    Err(format!("for more than {bound} {idle} while {} waited", waiting.join(" and ")))
}

pub(super) fn in_the_end<P: Service>(_: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    Ok(())
}
