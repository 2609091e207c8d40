//! The service compiled for the checker and the simulator, once: whoever uses it through `dyn AnyScenario` compiles none of it
//! anew.

use fencepost_registry::Registered;

/// The service with what it ships with.
pub static SERVICE: Registered<fencepost_stores::Stores> = Registered::new(fencepost_stores::SCENARIOS);
