//! Scenarios of any protocol behind one type, and the catalogue that ships with fencepost.

use crate::scenario::{Unreadable, from_toml, system_of};

macro_rules! any {
    ($($variant:ident => $protocol:ty,)*) => {
        /// A scenario of some protocol.
        #[derive(Clone, PartialEq, Debug)]
        pub enum AnyScenario {
            $(#[allow(missing_docs, reason = "named like the protocol")] $variant($crate::scenario::Scenario<$protocol>),)*
        }

        impl AnyScenario {
            /// Reads a scenario of whichever system the text names. `file` is only used in messages.
            ///
            /// # Errors
            /// Anything a person can get wrong, with line and column.
            pub fn from_toml(text: &str, file: &str) -> Result<Self, Unreadable> {
                let system = system_of(text, file)?;
                $(if <$protocol as $crate::protocol::Protocol>::SYSTEMS.contains(&system.as_str()) {
                    return from_toml(text, file).map(AnyScenario::$variant);
                })*
                let known = [$(<$protocol as $crate::protocol::Protocol>::SYSTEMS),*].concat().join("`, `");
                Err(Unreadable::system(text, file, format!("there is no system `{system}`; there are `{known}`")))
            }
        }

        /// Runs an expression with the scenario inside an [`AnyScenario`], whatever its protocol.
        #[macro_export]
        macro_rules! with_scenario {
            ($any:expr, $name:ident => $body:expr) => {
                match $any { $($crate::catalogue::AnyScenario::$variant($name) => $body,)* }
            };
        }
    };
}

crate::for_each_protocol!(any);

impl AnyScenario {
    /// Its name.
    pub fn name(&self) -> &str {
        with_scenario!(self, scenario => &scenario.name)
    }
}

macro_rules! files {
    ($($file:literal,)*) => {
        /// Name and text of each scenario file, in the order of the catalogue.
        pub const FILES: &[(&str, &str)] = &[$(($file, include_str!(concat!("../scenarios/", $file, ".toml"))),)*];
    };
}

files! {
    "lease-just-enough",
    "lease-one-tick-less",
    "lease-duplicates",
    "b01-no-fencing",
    "b01-fencing",
    "b01-pause-bounded",
    "b01-pause-bounded-renewing",
    "b01-pause-equal",
    "b01-packet-equal",
    "b01-one-pause",
    "b02-delay-too-short",
    "b02-delay-long-enough",
    "b02-fencing",
    "b03-async-write",
    "b03-async-write-long-delay",
    "b03-ack-before-release",
    "b03-fencing",
    "b06-lock-index-cleanup",
    "b06-modify-index-cleanup",
    "b06-lock-index-kept",
    "b07-lock-index",
    "b07-lock-index-strict",
    "b07-create-index",
    "b07-create-index-released",
    "b10-shared-session",
    "b10-own-session",
    "b16-delete-held-key",
    "b16-delete-held-key-long-delay",
    "b16-no-delete",
    "b16-put-resets-lock-index",
    "b17-release-then-stop",
    "b17-stop-then-release",
    "consul-election",
    "consul-record",
    "consul-record-duplicates",
    "consul-lock-delay-too-short",
    "consul-skew-covered",
    "consul-skew-too-large",
    "consul-cut-off-until-told",
    "consul-cut-off-self-limiting",
    "consul-retries",
    "consul-told-in-time",
    "consul-told-too-late",
    "consul-never-listens",
}

/// Every scenario that ships with fencepost, in order.
pub fn all() -> Vec<AnyScenario> {
    FILES
        .iter()
        .map(|(name, text)| AnyScenario::from_toml(text, name).expect("the catalogue's files are tested"))
        .collect()
}
