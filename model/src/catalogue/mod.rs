//! Scenarios of any protocol behind one type, and the catalogue that ships with fencepost.

mod files;

pub use files::FILES;

use crate::mutation::Mutation;
use crate::scenario::{Axis, Note, Promise, Unreadable, Varied, from_toml, outdated, system_of, vary};
use crate::trace::{BadScript, perform};

macro_rules! any {
    ($($variant:ident => $protocol:ty,)*) => {
        /// A scenario of some protocol.
        #[derive(Clone, PartialEq, Debug)]
        #[allow(clippy::large_enum_variant, reason = "there are few of them, and they stay where they are")]
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

            /// Names in a scenario text that are still read and have new names by now.
            pub fn outdated(text: &str, file: &str) -> Vec<Unreadable> {
                let system = system_of(text, file).unwrap_or_default();
                $(if <$protocol as $crate::protocol::Protocol>::SYSTEMS.contains(&system.as_str()) {
                    return outdated::<$protocol>(text, file);
                })*
                Vec::new()
            }

            /// The same scenario with every combination of the values of these axes; see [`vary`](fn@vary).
            pub fn vary(&self, axes: &[Axis]) -> Vec<Varied<AnyScenario>> {
                match self {
                    $(AnyScenario::$variant(scenario) => vary(scenario, axes)
                        .into_iter()
                        .map(|Varied { settings, scenario }| Varied {
                            settings,
                            scenario: scenario.map(AnyScenario::$variant),
                        })
                        .collect(),)*
                }
            }

            /// Every mutation: those of each service, then those of kernel and checker.
            pub fn mutations() -> Vec<Mutation> {
                let of_services = [$(<$protocol as $crate::protocol::Protocol>::MUTATIONS),*].concat();
                of_services.into_iter().chain(crate::mutation::common()).collect()
            }

            /// The same scenario with only some of its promises judged.
            #[must_use]
            pub fn judging(&self, wanted: impl Fn(&Promise) -> bool) -> Self {
                match self { $(AnyScenario::$variant(scenario) => AnyScenario::$variant(scenario.judging(wanted)),)* }
            }
        }

        $(impl From<$crate::scenario::Scenario<$protocol>> for AnyScenario {
            fn from(scenario: $crate::scenario::Scenario<$protocol>) -> Self {
                AnyScenario::$variant(scenario)
            }
        })*

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

// Below the macro, which it uses.
pub mod random;

/// What stands at the head of a scenario file of the catalogue: the story of its bug, and the source.
pub fn comment(name: &str) -> Option<&'static str> {
    let (_, text) = FILES.iter().find(|(file, _)| *file == name)?;
    let end = text.find("\n\n").unwrap_or(text.len());
    text.starts_with('#').then(|| &text[..end])
}

impl AnyScenario {
    /// The scenario as TOML.
    pub fn to_toml(&self) -> String {
        with_scenario!(self, scenario => toml::to_string(scenario).expect("a scenario is plain data"))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        with_scenario!(self, scenario => &scenario.name)
    }

    /// Performs a script; see [`crate::trace::perform`].
    ///
    /// # Errors
    /// The first line that names nothing that may happen there.
    pub fn perform(&self, script: &str) -> Result<String, BadScript> {
        with_scenario!(self, scenario => perform(script, scenario))
    }

    /// The fault that is built into the model on purpose, if there is one.
    pub fn mutation(&self) -> Option<Mutation> {
        with_scenario!(self, scenario => scenario.mutation)
    }

    /// The settings that have no effect.
    pub fn notes(&self) -> Vec<Note> {
        with_scenario!(self, scenario => scenario.notes())
    }

    /// What it promises.
    pub fn promises(&self) -> &[Promise] {
        with_scenario!(self, scenario => &scenario.promises)
    }
}

/// Every scenario that ships with fencepost, in order.
pub fn all() -> Vec<AnyScenario> {
    FILES
        .iter()
        .map(|(name, text)| AnyScenario::from_toml(text, name).expect("the catalogue's files are tested"))
        .collect()
}
