//! Compiles the service for the checker and the simulator once: users of `dyn AnyScenario` do not compile it again.

use fencepost_registry::{AnyService, Registered};
pub use fencepost_stores::Stores as Service;

/// The service with its catalogue.
pub static SERVICE: Registered<Service> = Registered::new(fencepost_stores::SCENARIOS)
    .with_mistakes(fencepost_stores::MISTAKES)
    .with_programs(fencepost_stores::register_programs);

/// The same behind its object-safe trait. It is never inlined, so a caller compiles no explorer.
#[inline(never)]
pub fn service() -> &'static dyn AnyService {
    &SERVICE
}
