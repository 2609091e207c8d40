//! How to check a scenario.

use std::sync::Arc;

use fencepost_model::properties::Property;

use crate::engine::{Peers, SearchStore};
use crate::limits::{Limits, Supervisor, Unsupervised};

/// How to check.
#[derive(Clone)]
pub struct Options {
    /// What may cut the search.
    pub limits: Limits,
    /// It is asked regularly whether the search should stop.
    pub supervisor: Arc<dyn Supervisor>,
    /// Only this promise.
    pub only: Option<Property>,
    /// The search engine.
    pub engine: Engine,
    /// The number of threads, of searches and of state graphs; stateright's search uses one.
    pub workers: usize,
    /// Whether interchangeable clients count as one.
    pub symmetry: bool,
    /// Whether messages without a reaction are left out.
    pub leaves_out_unheard: bool,
    /// Whether only some of a state's actions are explored: partial orders, and losses and pauses as late as possible. For safety promises.
    pub partial_order: bool,
    /// Whether states are left out that others cover: with more that is left of budgets, or longer times that are left for messages. For
    /// safety promises, and for our own search in the memory of one process; stateright's search explores every state all the same.
    pub subsumption: bool,
    /// Whether states and their parts are compared in full, and not told from others by hashes of 64 bits alone: a proof rests on no
    /// probability then. For our own search in the memory of one process; it takes two to four times the memory.
    pub exact: bool,
    /// How many states may be expanded in search of a shorter counterexample than one that was found with partial orders; by default as many
    /// as the search may expand, or 10,000 for each of its steps. Where that is too few, it is not known to be a shortest.
    pub states_for_shortest: Option<u64>,
    /// Where our own search keeps its states, if not in memory. Of state graphs, for promises about endless runs, it has the edges.
    pub store: Option<SearchStore>,
    /// The other processes that take part in our own search, if there are some. Each of them needs the same scenario, options and build, and
    /// comes to the same outcomes, but for promises about endless runs: only the first process judges those.
    pub peers: Option<Arc<dyn Peers>>,
}

/// Which search explores a scenario.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Engine {
    /// Our own.
    #[default]
    Dataflow,
    /// stateright's breadth-first search.
    #[cfg(feature = "stateright")]
    Stateright,
}

impl Engine {
    /// Both.
    #[cfg(feature = "stateright")]
    pub const ALL: [Engine; 2] = [Engine::Dataflow, Engine::Stateright];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Dataflow => "dataflow",
            #[cfg(feature = "stateright")]
            Engine::Stateright => "stateright",
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            limits: Limits::default(),
            supervisor: Arc::new(Unsupervised),
            only: None,
            engine: Engine::default(),
            workers: 1,
            symmetry: true,
            leaves_out_unheard: true,
            partial_order: false,
            subsumption: false,
            exact: false,
            states_for_shortest: None,
            store: None,
            peers: None,
        }
    }
}
