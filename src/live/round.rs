//! One round of a recipe: the lock is taken, the user's code runs, the lock is given back.

use std::thread;

use fencepost_model::fact::Leaving;
use fencepost_model::program::{Recipe, scoped};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;

use crate::driver::{Driver, User};
use crate::resource::NoResource;
use crate::server::LiveServer;
use crate::{LiveError, Resource, Tenure};

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
/// The recipe gave up before it was inside; or see [`LiveError`]. After any other error than that nothing is given back: what the client
/// holds ends as that of a client which has crashed.
///
/// # Panics
/// The user's code panicked; the lock is given back first. Or the recipe is not deterministic.
pub fn hold<L: LiveServer, R: Recipe<L::Service>, T: Send>(
    server: &L,
    recipe: R,
    work: impl FnOnce(&Tenure) -> T + Send,
) -> Result<Held<T>, LiveError> {
    hold_with(server, recipe, &mut NoResource, work)
}

/// The same for a recipe that reads or writes the protected resource itself.
///
/// # Errors
/// See [`hold`].
///
/// # Panics
/// See [`hold`].
pub fn hold_with<L: LiveServer, R: Recipe<L::Service>, T: Send>(
    server: &L,
    recipe: R,
    resource: &mut dyn Resource,
    work: impl FnOnce(&Tenure) -> T + Send,
) -> Result<Held<T>, LiveError> {
    let scenario = scenario(server, recipe);
    thread::scope(|scope| {
        let mut driver = Driver::new(server, scenario, resource);
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
            return Err(LiveError::GaveUp(driver.refusal()));
        };
        match thread.join() {
            Ok(value) => Ok(Held { value, left: driver.left.unwrap_or(Leaving::Done) }),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// One round of a program that holds nothing, as an administrator's is an operation: what it has said of itself.
///
/// # Errors
/// See [`LiveError`].
///
/// # Panics
/// The recipe is not deterministic.
pub fn perform<L: LiveServer, R: Recipe<L::Service>>(
    server: &L,
    recipe: R,
) -> Result<Vec<<L::Service as Service>::Event>, LiveError> {
    let (scenario, mut resource) = (scenario(server, recipe), NoResource);
    let mut driver = Driver::new(server, scenario, &mut resource);
    let mut state = None;
    loop {
        let no_user = || User::<(), fn(&Tenure)> { work: None, thread: None };
        state = thread::scope(|scope| scoped(|| driver.go_on(state.as_deref(), scope, &mut no_user())))?;
        if state.is_none() {
            break;
        }
    }
    driver.farewell();
    Ok(driver.said)
}

/// The scenario in which a client runs the recipe.
fn scenario<L: LiveServer, R: Recipe<L::Service>>(server: &L, recipe: R) -> Scenario<L::Service> {
    let scenario = Scenario::new("live").clients(server.client().0.max(1)).writes(254).programs(recipe);
    // A round more than there will be: after the last one a program offers nothing, which looks like a program that waits.
    server.prepare(scenario.rounds(2))
}
