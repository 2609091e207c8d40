//! Mutations: faults built into the sources on purpose, one at a time, to test the checks. A mutation that no check
//! notices shows a rule that no check covers. Each part of the sources declares its own with
//! [`mutations!`](crate::mutations).
//!
//! ```text
//! kernel    mutations of the kernel: actions, network, clocks, properties
//! checker   mutations of the checker: normal form, symmetry, transition cache, engine, liveness, limits
//! ```

mod checker;
mod kernel;

use std::fmt;

use serde::{Serialize, Serializer};

pub use checker::CheckerMutation;
pub use kernel::KernelMutation;

/// A fault built into the sources. It is one of those that [`mutations!`](crate::mutations) declares.
#[derive(Copy, Clone)]
pub struct Mutation(&'static Declared);

/// The declaration of a mutation.
#[derive(Debug)]
pub struct Declared {
    /// Its name as a type's variant: `AcquireSteals`.
    pub title: &'static str,
    /// The part of the sources that it is in.
    pub layer: Layer,
    /// The fault, as a sentence.
    pub about: &'static str,
    /// The check that is expected to notice it.
    pub judge: Judge,
}

/// A part of the sources.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Layer {
    /// Its kind. The kind decides which check should notice its mutations.
    pub kind: LayerKind,
    /// Its name in reports.
    pub name: &'static str,
}

/// The kind of a part of the sources.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LayerKind {
    /// The server of a service: verdicts notice its mutations, or recorded answers of a real server.
    Server,
    /// The rest of a service: verdicts notice its mutations.
    Service,
    /// Code that all services share.
    Kernel,
    /// A reduction: laws state that it changes no verdict.
    Reduction,
    /// The search.
    Search,
}

impl Layer {
    /// Whether it belongs to one service: its mutations have no effect on other services.
    pub fn is_of_a_service(self) -> bool {
        matches!(self.kind, LayerKind::Server | LayerKind::Service)
    }

    /// Whether it is a reduction.
    pub fn is_a_reduction(self) -> bool {
        self.kind == LayerKind::Reduction
    }

    /// Whether it belongs to the search.
    pub fn is_of_the_search(self) -> bool {
        self.kind == LayerKind::Search
    }
}

/// The check that is expected to notice a mutation.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Judge {
    /// A verdict, a law, or a disagreement of the engines.
    Any,
    /// A verdict in this scenario only. It is too large to try every mutation on.
    In(&'static str),
    /// Recorded answers of a real server only: no recipe depends on the mutated behaviour.
    Answers,
    /// No check, for this reason.
    Nothing(&'static str),
}

impl Mutation {
    /// The mutation with this declaration. The macro calls this.
    #[inline]
    pub const fn new(declared: &'static Declared) -> Self {
        Mutation(declared)
    }

    /// Its name in scenario files: `acquire-steals`.
    pub fn name(self) -> String {
        let mut name = String::new();
        for letter in self.0.title.chars() {
            if letter.is_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.extend(letter.to_lowercase());
        }
        name
    }

    /// The part of the sources that it is in.
    pub fn layer(self) -> Layer {
        self.0.layer
    }

    /// The fault, as a sentence.
    pub fn about(self) -> &'static str {
        self.0.about.trim_ascii()
    }

    /// The check that is expected to notice it.
    pub fn judge(self) -> Judge {
        self.0.judge
    }

    /// The reason why no check can notice it, if none can.
    pub fn survives(self) -> Option<&'static str> {
        match self.judge() {
            Judge::Nothing(reason) => Some(reason),
            Judge::Any | Judge::In(_) | Judge::Answers => None,
        }
    }

    /// Whether it is the same as a mutation that a part of the sources declares.
    #[inline]
    pub fn is(self, other: impl Into<Mutation>) -> bool {
        self == other.into()
    }
}

impl PartialEq for Mutation {
    /// No two have the same name: `src/tests/reference.rs` tests it.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.0.title == other.0.title
    }
}

impl Eq for Mutation {}

impl fmt::Debug for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.title)
    }
}

impl Serialize for Mutation {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.name())
    }
}

/// The mutations that belong to no service.
pub fn common() -> impl Iterator<Item = Mutation> {
    let kernel = KernelMutation::ALL.iter().copied().map(Mutation::from);
    kernel.chain(CheckerMutation::ALL.iter().copied().map(Mutation::from))
}

/// Declares the mutations of a part of the sources, as an enum of which each variant converts into a [`Mutation`].
///
/// A name alone is a mutation that a verdict, a law or a disagreement of the engines must notice. `in "…"` after it:
/// only a verdict in that scenario, which is too large to try every mutation on. `answers`: only recorded answers of a
/// real server. `survives "…"`: no check, with the reason. The layers are named with their [`LayerKind`].
#[macro_export]
macro_rules! mutations {
    ($(#[doc = $about:literal])* $name:ident: $($layer:literal, $kind:ident {
        $($(#[doc = $doc:literal])* $variant:ident $($word:ident $($reason:literal)?)?,)*
    })*) => {
        $(#[doc = $about])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($($(#[doc = $doc])* $variant,)*)* }

        impl $name {
            /// Every mutation, by layer, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($($name::$variant,)*)*];

            /// The same as mutations of any part of the sources.
            pub const MUTATIONS: &'static [$crate::mutation::Mutation] = &[$($($name::$variant.mutation(),)*)*];

            /// The same as a mutation of any part of the sources.
            #[inline]
            pub const fn mutation(self) -> $crate::mutation::Mutation {
                match self {
                    $($($name::$variant => {
                        static DECLARED: $crate::mutation::Declared = $crate::mutation::Declared {
                            title: stringify!($variant),
                            layer: $crate::mutation::Layer {
                                kind: $crate::mutation::LayerKind::$kind,
                                name: $layer,
                            },
                            about: concat!($($doc),*),
                            judge: $crate::judge!($($word $($reason)?)?),
                        };
                        $crate::mutation::Mutation::new(&DECLARED)
                    })*)*
                }
            }
        }

        impl From<$name> for $crate::mutation::Mutation {
            #[inline]
            fn from(own: $name) -> Self {
                own.mutation()
            }
        }
    };
}

/// The syntax that [`mutations!`](crate::mutations) accepts after a name.
#[doc(hidden)]
#[macro_export]
macro_rules! judge {
    () => {
        $crate::mutation::Judge::Any
    };
    (answers) => {
        $crate::mutation::Judge::Answers
    };
    (in $scenario:literal) => {
        $crate::mutation::Judge::In($scenario)
    };
    (survives $reason:literal) => {
        $crate::mutation::Judge::Nothing($reason)
    };
}
