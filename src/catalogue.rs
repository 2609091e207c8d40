//! The services that ship with fencepost, and their scenarios. A new service is a line in the list below.

use fencepost_model::mutation::Mutation;
use fencepost_model::scenario::ScenarioError;
use fencepost_model::trace::TraceError;
use fencepost_registry::{AnyScenario, AnyTrace, Catalogue};

/// Makes the catalogue of a list of services, and the macros that look at any of them. The first token is `$`: a macro that
/// another one writes cannot name it otherwise.
macro_rules! services {
    ($d:tt, $($service:ident in $explore:ident;)*) => {
        /// The services that ship with fencepost.
        pub static CATALOGUE: Catalogue = Catalogue(&[$($explore::service),*]);

        /// What the macros below name.
        #[doc(hidden)]
        pub mod shipped {
            $(pub use $explore::Service as $service;)*
        }

        /// Runs an expression with the scenario inside a `dyn AnyScenario`, whatever its service: for tests that look at every
        /// service that ships with fencepost.
        #[macro_export]
        macro_rules! with_scenario {
            ($d any:expr, $d name:ident => $d body:expr) => {{
                let any = $d any.as_any();
                $(if let Some($d name) = any.downcast_ref::<$d crate::Scenario<$d crate::catalogue::shipped::$service>>() {
                    $d body
                } else)* {
                    panic!("this service does not ship with fencepost")
                }
            }};
        }

        /// The same for a `dyn AnyTrace`.
        #[macro_export]
        macro_rules! with_trace {
            ($d any:expr, $d name:ident => $d body:expr) => {{
                let any = $d any.as_any();
                $(if let Some($d name) =
                    any.downcast_ref::<$d crate::model::trace::Trace<$d crate::catalogue::shipped::$service>>()
                {
                    $d body
                } else)* {
                    panic!("this service does not ship with fencepost")
                }
            }};
        }
    };
}

services! { $,
    Lease in fencepost_lease_explore;
    Consul in fencepost_consul_explore;
    RabbitMq in fencepost_rabbitmq_explore;
    Stores in fencepost_stores_explore;
    Redlock in fencepost_redlock_explore;
    ObservedLease in fencepost_observed_lease_explore;
    Etcd in fencepost_etcd_explore;
}

/// Every scenario that ships with fencepost, in order.
pub fn all() -> Vec<Box<dyn AnyScenario>> {
    CATALOGUE.all()
}

/// The scenario of this name, if there is one.
pub fn named(name: &str) -> Option<Box<dyn AnyScenario>> {
    CATALOGUE.named(name)
}

/// Names and texts of their files.
pub fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
    CATALOGUE.files()
}

/// What published documents say, and which promises show that it is wrong: TOML, as `reports` reads it.
pub fn documents() -> impl Iterator<Item = &'static str> {
    CATALOGUE.documents()
}

/// Every mutation: those of each service, then those of kernel and checker.
pub fn mutations() -> Vec<Mutation> {
    CATALOGUE.mutations()
}

/// Reads a scenario of whichever system the text names. `file` is only used in messages.
///
/// # Errors
/// Anything a person can get wrong, with line and column.
pub fn read(text: &str, file: &str) -> Result<Box<dyn AnyScenario>, ScenarioError> {
    CATALOGUE.read(text, file)
}

/// Names in a scenario text that are still read and have new names by now.
pub fn outdated(text: &str, file: &str) -> Vec<ScenarioError> {
    CATALOGUE.outdated(text, file)
}

/// Reads a trace file of whichever system its header names.
///
/// # Errors
/// The line and step that cannot be read.
pub fn read_trace(text: &str) -> Result<Box<dyn AnyTrace>, TraceError> {
    CATALOGUE.read_trace(text)
}

/// Names in a trace's header that are still read and have new names by now.
pub fn outdated_in_trace(text: &str) -> Vec<String> {
    CATALOGUE.outdated_in_trace(text)
}
