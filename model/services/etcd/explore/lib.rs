//! Compiles the service for the checker and the simulator once: users of `dyn AnyScenario` do not compile it again.

pub use fencepost_etcd::Etcd as Service;
use fencepost_registry::{AnyService, Registered};

/// The service with its catalogue.
pub static SERVICE: Registered<Service> = Registered::new(fencepost_etcd::SCENARIOS)
    .with_mistakes(fencepost_etcd::MISTAKES)
    .with_programs(fencepost_etcd::register_programs);

/// The same behind its object-safe trait. It is never inlined, so a caller compiles no explorer.
#[inline(never)]
pub fn service() -> &'static dyn AnyService {
    &SERVICE
}
