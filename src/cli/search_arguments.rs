//! How a state space is searched: what `check` and `diff` have in common.

use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use fencepost::Property;
use fencepost::checker::{Engine, Limits, Options};

use crate::args::{Common, time_limit};
use crate::exit::CommandError;
use crate::parallel::cores;
use crate::supervisor::Watch;

#[derive(Args, Debug)]
pub struct SearchArguments {
    /// The search engine: fencepost's own (dataflow), or that of the crate stateright
    #[arg(long, value_enum, default_value_t = EngineName::Dataflow)]
    engine: EngineName,
    /// Search with N threads [default: one for each core; stateright: 1; several scenarios are searched side by side, with one each]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Option<u16>,
    /// Whether interchangeable clients count as one
    #[arg(long, value_enum, default_value_t = Switch::On)]
    symmetry: Switch,
    /// Whether messages to which no process reacts are part of a state
    #[arg(long, value_enum, default_value_t = Switch::Off)]
    unheard: Switch,
    /// Explore only some of a state's actions, where the others may wait (partial orders), and losses and pauses only where they let time pass;
    /// for safety promises
    #[arg(long)]
    partial_order: bool,
    /// Leave out states that others cover, with more that is left of budgets or longer times that are left for messages (subsumption; for
    /// safety promises)
    #[arg(long)]
    subsumption: bool,
    /// Compare states in full: none is told from another by 64 bits of a hash alone, and a proof rests on no probability. For fencepost's own
    /// search in memory; it takes two to four times the memory
    #[arg(long, conflicts_with = "subsumption")]
    exact: bool,
    /// Expand at most N states
    #[arg(long, value_name = "N")]
    max_states: Option<u64>,
    /// Explore at most N levels; the initial state is level 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_depth: Option<u64>,
    /// Stop the search at this use of memory, in MiB. Several scenarios are then searched one after the other
    #[arg(long, value_name = "MIB")]
    pub max_memory: Option<u64>,
    /// Stop the search of each scenario after this time, as 90s or 5m, or in seconds
    #[arg(long, value_name = "DURATION", value_parser = time_limit)]
    pub timeout: Option<Duration>,
}

/// On or off.
#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// The names of the engines.
#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
enum EngineName {
    Dataflow,
    Stateright,
}

impl From<EngineName> for Engine {
    fn from(name: EngineName) -> Self {
        match name {
            EngineName::Dataflow => Engine::Dataflow,
            EngineName::Stateright => Engine::Stateright,
        }
    }
}

impl SearchArguments {
    /// Whether several searches at a time, each with a thread of its own, are what these arguments ask for.
    pub fn are_for_many(&self) -> bool {
        self.workers.is_none() && self.max_memory.is_none()
    }

    /// Whether states or levels are limited.
    pub fn is_limited(&self) -> bool {
        self.max_states.is_some() || self.max_depth.is_some()
    }

    /// Searches one of many scenarios with one thread.
    pub fn beside_others<T>(
        &self,
        only: Option<Property>,
        search: impl FnOnce(&Options) -> T,
    ) -> Result<T, CommandError> {
        self.are_consistent()?;
        let supervisor = Arc::new(Watch::new(self.timeout, self.max_memory)?);
        Ok(search(&Options { supervisor, ..self.options(only) }))
    }

    /// Refuses an option that is for our own search if it is that of stateright that is asked for.
    pub fn is_own(&self, option: &str) -> Result<(), CommandError> {
        if self.engine == EngineName::Dataflow {
            return Ok(());
        }
        let reason = "stateright's is one of a single process, and keeps its states in memory";
        Err(CommandError::Input(format!("{option} is for fencepost's own search: {reason}")))
    }

    /// Refuses what one engine cannot do.
    fn are_consistent(&self) -> Result<(), CommandError> {
        if self.subsumption && self.engine == EngineName::Stateright {
            let reason = "--subsumption is for fencepost's own search: stateright's explores every state".to_owned();
            return Err(CommandError::Input(reason));
        }
        if self.exact && self.engine == EngineName::Stateright {
            let reason = "--exact is for fencepost's own search: stateright's tells states apart by hashes".to_owned();
            return Err(CommandError::Input(reason));
        }
        Ok(())
    }

    /// How to search, without supervision.
    fn options(&self, only: Option<Property>) -> Options {
        Options {
            limits: Limits { states: self.max_states, depth: self.max_depth },
            only,
            engine: self.engine.into(),
            symmetry: self.symmetry == Switch::On,
            leaves_out_unheard: self.unheard == Switch::Off,
            partial_order: self.partial_order,
            subsumption: self.subsumption,
            exact: self.exact,
            ..Options::default()
        }
    }

    /// Searches under the eyes of a supervisor. `only`: the one promise that is judged, if not all are.
    pub fn watched<T, E>(
        &self,
        (name, only): (&str, Option<Property>),
        common: &Common,
        search: impl FnOnce(&Options) -> Result<T, E>,
    ) -> Result<T, CommandError>
    where
        CommandError: From<E>,
    {
        self.are_consistent()?;
        let mut watch = Watch::new(self.timeout, self.max_memory)?;
        if !common.quiet {
            watch = watch.showing(name);
        }
        let watch = Arc::new(watch);
        let supervisor = Arc::<Watch>::clone(&watch);
        let options =
            Options { supervisor, workers: self.workers.map_or_else(cores, usize::from), ..self.options(only) };
        let outcomes = search(&options)?;
        watch.finish();
        Ok(outcomes)
    }
}
