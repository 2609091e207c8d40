//! Promises about what happens in the end. Without a bound no step breaks them: the checker looks for endless runs.

use super::View;
use crate::mutation::KernelMutation;
use crate::service::{Service, Settings as _};
use crate::time::Ticks;
use crate::world::Action;

pub(super) fn acquired_in_time<P: Service>(view: &View<'_, P>, bound: Option<Ticks>) -> Result<(), String> {
    let (Some(bound), Some(since)) = (bound, view.ghosts.idle) else { return Ok(()) };
    let age = since.age(view.after.now);
    // It breaks when time passes: how long ago that was, the normal form forgets.
    let bound = bound + Ticks::new(i64::from(view.is_mutated(KernelMutation::IdleBoundTooLong)));
    if age <= bound || !matches!(view.action, Action::Advance(_)) || !view.after.is_idle(view.scenario) {
        return Ok(());
    }
    let waiting: Vec<String> = view.after.waiting().map(|client| client.to_string()).collect();
    let idle = if view.scenario.service.capacity() == 1 { "nobody has had the lock" } else { "a slot has been free" };
    Err(format!("for more than {bound} {idle}, and {} kept trying", waiting.join(" and ")))
}

pub(super) fn in_the_end<P: Service>(_: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    Ok(())
}
