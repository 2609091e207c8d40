//! How to simulate: the seed, the scheduler, the clock, and how long the storm and the calm last.

use fencepost_model::time::{TICKS_MAX, Ticks};

use crate::profile::Profile;
use crate::scheduler::SchedulerKind;

/// How to simulate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The seed: with the scenario and these settings it determines every byte.
    pub seed: u64,
    /// The scheduler, which picks the next action.
    pub scheduler: SchedulerKind,
    /// How much finer the clock is than the scenario's; see [`SchedulerKind::refinement`].
    pub refinement: i64,
    /// How many clients, if not as many as the scenario has.
    pub clients: Option<u16>,
    /// How many rounds, if not as many as the scenario has.
    pub rounds: Option<u8>,
    /// After how many ticks of the scenario nothing goes wrong any more.
    pub storm: i64,
    /// How many ticks of the scenario a client may wait after that before a promise of progress
    /// counts as broken; as many for each client if each must get its turn. If none is said: eight times the longest duration
    /// of the service, the longest time that a process or a link stands still, and 100 steps that are as late as the profile
    /// lets them be, but a tick each at least.
    pub calm: Option<i64>,
    /// How long things take.
    pub profile: Profile,
    /// After how many actions the run ends if it does not come to rest before.
    pub actions_max: u64,
    /// Whether the run ends with the first promise that it breaks.
    pub until_broken: bool,
    /// Whether the run collects what it shows; see [`Coverage`](crate::Coverage).
    pub collects: bool,
    /// Whether the run ends with the storm.
    pub ends_with_storm: bool,
    /// Whether the run measures what it costs.
    pub measures: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            seed: 0,
            scheduler: SchedulerKind::Realistic,
            refinement: 1000,
            clients: None,
            rounds: None,
            storm: 60,
            calm: None,
            profile: Profile::default(),
            actions_max: 100_000,
            until_broken: false,
            collects: false,
            ends_with_storm: false,
            measures: false,
        }
    }
}

impl Settings {
    /// How long the storm is, on the refined clock.
    pub(crate) fn storm_ticks(&self) -> Ticks {
        Ticks::new(self.storm.saturating_mul(self.refinement).min(TICKS_MAX / 4))
    }
}
