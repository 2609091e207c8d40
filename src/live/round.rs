//! One round of a recipe: the lock is taken, the user's code runs, the lock is given back.

use std::thread;

use fencepost_consul::Consul;
use fencepost_model::fact::Leaving;
use fencepost_model::program::{Recipe, scoped};
use fencepost_model::scenario::Scenario;

use crate::driver::{Driver, User};
use crate::resource::NoResource;
use crate::{Agent, LiveError, Resource, Tenure};

/// What a round came to.
#[derive(Debug)]
pub struct Held<T> {
    /// What the user's code returned.
    pub value: T,
    /// Why the client left: its user had finished, or it lost the lock before that.
    pub left: Leaving,
}

/// Takes the lock as the recipe does, runs the user's code while it is inside, and gives the lock back.
///
/// The code runs in a thread of its own. When the recipe loses the lock, [`Tenure::is_lost`] says so, and the round ends once the code
/// has returned.
///
/// # Errors
/// The recipe gave up before it was inside; or see [`LiveError`]. After any other error than that nothing is given back: the session ends
/// by its TTL.
///
/// # Panics
/// The user's code panicked; the lock is given back first. Or the recipe is not deterministic.
pub fn hold<R: Recipe<Consul>, T: Send>(
    agent: &Agent,
    recipe: R,
    work: impl FnOnce(&Tenure) -> T + Send,
) -> Result<Held<T>, LiveError> {
    hold_with(agent, recipe, &mut NoResource, work)
}

/// The same for a recipe that reads or writes the protected resource itself.
///
/// # Errors
/// See [`hold`].
///
/// # Panics
/// See [`hold`].
pub fn hold_with<R: Recipe<Consul>, T: Send>(
    agent: &Agent,
    recipe: R,
    resource: &mut dyn Resource,
    work: impl FnOnce(&Tenure) -> T + Send,
) -> Result<Held<T>, LiveError> {
    let mut scenario = Scenario::<Consul>::new("live").clients(agent.client.0.max(1)).writes(254).programs(recipe);
    // A round more than there will be: after the last one a program offers nothing, which looks like a program that waits.
    scenario = scenario.rounds(2);
    thread::scope(|scope| {
        let mut driver = Driver::new(agent, scenario, resource);
        let mut user = User { work: Some(work), thread: None };
        let mut state = None;
        loop {
            // Programs neither come into a scope nor leave it: between two, the state is text.
            match scoped(|| driver.go_on(state.as_deref(), scope, &mut user)) {
                Ok(None) => break,
                Ok(Some(text)) => state = Some(text),
                Err(error) => {
                    driver.lose();
                    return Err(error);
                }
            }
        }
        driver.farewell();
        driver.lose();
        let Some(thread) = user.thread else {
            let why = driver.refusal.unwrap_or_else(|| "it ended its round".to_owned());
            return Err(LiveError::GaveUp(why));
        };
        match thread.join() {
            Ok(value) => Ok(Held { value, left: driver.left.unwrap_or(Leaving::Done) }),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
