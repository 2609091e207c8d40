//! Mutants: faults built into the sources on purpose, one at a time, to see what notices them. A mutant that nothing
//! notices is a rule that nothing checks. `list` has them all.

mod list;

pub use list::Mutation;

use crate::protocol::Protocol;
use crate::protocols::consul::Consul;
use crate::protocols::lease::Lease;
use crate::protocols::rabbitmq::RabbitMq;
use crate::protocols::replicas::Replicas;
use crate::protocols::roster::Roster;
use crate::scenario::Scenario;

macro_rules! layers {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal,)*) => {
        /// The part of the sources that a mutant is in. It decides what should notice the mutant.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Layer { $($(#[doc = $doc])* $name,)* }

        impl Layer {
            /// Every layer.
            pub const ALL: &'static [Layer] = &[$(Layer::$name,)*];

            /// The name in reports.
            pub fn name(self) -> &'static str {
                match self { $(Layer::$name => $text,)* }
            }
        }
    };
}

layers! {
    /// The Consul server.
    ConsulServer = "consul server",
    /// The recipes on Consul.
    ConsulClients = "consul clients",
    /// The RabbitMQ broker.
    RabbitmqBroker = "rabbitmq broker",
    /// The recipes on RabbitMQ.
    RabbitmqClients = "rabbitmq clients",
    /// The lease service and its clients.
    Lease = "lease",
    /// The roster service and its clients.
    Roster = "roster",
    /// The replicated service and its clients.
    Replicas = "replicas",
    /// What all services share: actions, network, clocks, resource, ghosts.
    World = "world",
    /// The promises.
    Properties = "properties",
    /// The normal form of a world.
    NormalForm = "normal form",
    /// Interchangeable clients.
    Symmetry = "symmetry",
    /// The transition cache.
    Memo = "memo",
    /// The search.
    Engine = "engine",
    /// The search for fair cycles.
    Liveness = "liveness",
    /// What cuts a search.
    Limits = "limits",
}

impl Layer {
    /// Whether its mutants can make a difference in a system: those of a service make none elsewhere.
    pub fn concerns(self, system: &str) -> bool {
        match self {
            Layer::ConsulServer | Layer::ConsulClients => Consul::SYSTEMS.contains(&system),
            Layer::RabbitmqBroker | Layer::RabbitmqClients => RabbitMq::SYSTEMS.contains(&system),
            Layer::Lease => Lease::SYSTEMS.contains(&system),
            Layer::Roster => Roster::SYSTEMS.contains(&system),
            Layer::Replicas => Replicas::SYSTEMS.contains(&system),
            _ => true,
        }
    }

    /// Whether it belongs to one service.
    pub fn is_of_a_service(self) -> bool {
        self < Layer::World
    }

    /// Whether it is a reduction: laws say that it changes nothing that can be seen.
    pub fn is_a_reduction(self) -> bool {
        matches!(self, Layer::NormalForm | Layer::Symmetry | Layer::Memo)
    }

    /// Whether it belongs to the search.
    pub fn is_of_the_search(self) -> bool {
        matches!(self, Layer::Engine | Layer::Liveness | Layer::Limits)
    }
}

/// What is expected to notice a mutant.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Judge {
    /// A verdict, a law, or a disagreement of the engines.
    Any,
    /// A verdict in this scenario, which is too large to try every mutant on.
    In(&'static str),
    /// Recorded answers of a real server only: no recipe looks at what the mutant changes.
    Answers,
    /// Nothing, for this reason.
    Nothing(&'static str),
}

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
use judge;

macro_rules! mutations {
    ($($layer:ident { $($(#[doc = $doc:literal])* $name:ident $($word:ident $($reason:literal)?)?,)* })*) => {
        /// One fault in the sources.
        #[derive(
            Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize,
        )]
        #[serde(rename_all = "kebab-case")]
        pub enum Mutation { $($($(#[doc = $doc])* $name,)*)* }

        impl Mutation {
            /// Every mutant, by layer, in the order of declaration.
            pub const ALL: &'static [Mutation] = &[$($(Mutation::$name,)*)*];

            /// The part of the sources that it is in.
            pub fn layer(self) -> Layer {
                match self { $($(Mutation::$name => Layer::$layer,)*)* }
            }

            /// What is wrong with the sources.
            pub fn about(self) -> &'static str {
                match self { $($(Mutation::$name => concat!($($doc),*).trim_ascii(),)*)* }
            }

            /// What is expected to notice it.
            pub fn judge(self) -> super::Judge {
                match self { $($(Mutation::$name => super::judge!($($word $($reason)?)?),)*)* }
            }
        }
    };
}
use mutations;

impl Mutation {
    /// The name in scenario files.
    pub fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Why nothing can notice it, if nothing can.
    pub fn survives(self) -> Option<&'static str> {
        match self.judge() {
            Judge::Nothing(reason) => Some(reason),
            Judge::Any | Judge::In(_) | Judge::Answers => None,
        }
    }
}

impl<P: Protocol> Scenario<P> {
    /// Whether this mutant is switched on.
    #[inline]
    pub fn is_mutated(&self, mutation: Mutation) -> bool {
        self.mutation == Some(mutation)
    }
}
