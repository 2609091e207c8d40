//! Compiles the service for the checker and the simulator once: users of `dyn AnyScenario` do not compile it again.

use fencepost_registry::Registered;

/// The service with its catalogue.
pub static SERVICE: Registered<fencepost_consul::Consul> =
    Registered::new(fencepost_consul::SCENARIOS).with_documents(fencepost_consul::DOCUMENTS);
