//! Swarm testing (Groce, Zhang, Eide, Chen, Regehr, ISSTA 2012): each seed leaves some kinds of faults out, and makes
//! others more or less likely. What two kinds hide from each other, a run with one of them shows.

use std::fmt;

use fencepost_model::action_kind::ActionKind;

use crate::profile::Profile;
use crate::random::{Concern, Stream};

/// The kinds of faults that a seed may leave out.
const KINDS: [ActionKind; 8] = [
    ActionKind::Lose,
    ActionKind::Duplicate,
    ActionKind::Crash,
    ActionKind::Pause,
    ActionKind::Cut,
    ActionKind::Slip,
    ActionKind::Operator,
    ActionKind::ServiceFault,
];

/// What one seed plays with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Swarm {
    kinds: Vec<ActionKind>,
    has_stalls: bool,
    /// Whether links stand still for a while, one at a time.
    has_clogs: bool,
    restarts_resource: bool,
    /// Powers of two by which latency, lateness, thinking, stalls, and the time between them are longer.
    powers: [i64; 5],
}

impl Swarm {
    /// Draws it.
    pub fn of(seed: u64) -> Self {
        let mut stream = Stream::new(seed, Concern::Swarm);
        let kinds = KINDS.into_iter().filter(|_| stream.below(2) == 0).collect();
        let has_stalls = stream.below(2) == 0;
        let powers = [(); 5].map(|()| i64::try_from(stream.below(7)).expect("a small number") - 3);
        let has_clogs = stream.below(2) == 0;
        // Drawn last: what seeds drew before there was this fault stays as it was.
        let restarts_resource = stream.below(2) == 0;
        Swarm { kinds, has_stalls, has_clogs, restarts_resource, powers }
    }

    pub(crate) fn has(&self, kind: ActionKind) -> bool {
        self.kinds.contains(&kind) || kind == ActionKind::ResourceRestart && self.restarts_resource
    }

    pub(crate) fn has_stalls(&self) -> bool {
        self.has_stalls
    }

    pub(crate) fn has_clogs(&self) -> bool {
        self.has_clogs
    }

    /// A profile, faster and slower.
    pub(crate) fn profile(&self, usual: &Profile) -> Profile {
        let [latency, lateness, thinking, stall, stall_every] = self.powers;
        Profile {
            latency: usual.latency.times_two_to(latency),
            lateness: usual.lateness.times_two_to(lateness),
            thinking: usual.thinking.times_two_to(thinking),
            stall: usual.stall.times_two_to(stall),
            stall_every: usual.stall_every.times_two_to(stall_every),
            mending: usual.mending.times_two_to(stall),
            links: usual.links.clone(),
            drift: usual.drift.clone(),
            resync_every: usual.resync_every.clone(),
            detector: usual.detector.clone(),
        }
    }
}

impl fmt::Display for Swarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stalls = self.has_stalls.then_some("stall");
        let clogs = self.has_clogs.then_some("clog");
        let restarts = self.restarts_resource.then_some(ActionKind::ResourceRestart.name());
        let kinds = self.kinds.iter().map(|kind| kind.name()).chain(stalls).chain(clogs).chain(restarts);
        let kinds: Vec<&str> = kinds.collect();
        let rate = |power: i64| match power {
            0.. => format!("×{}", 1 << power),
            _ => format!("×1/{}", 1 << -power),
        };
        let [latency, lateness, thinking, stall, stall_every] = self.powers.map(rate);
        let kinds = if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(", ") };
        writeln!(f, "may go wrong, where the scenario has a budget for it: {kinds}")?;
        write!(
            f,
            "messages take {latency}, wake-ups are late {lateness}, users think {thinking}, stalls last {stall}, and come every {stall_every}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_left_out_by_some_seeds_and_played_by_others() {
        for kind in KINDS.into_iter().chain([ActionKind::ResourceRestart]) {
            let with = (0..200).filter(|seed| Swarm::of(*seed).has(kind)).count();
            assert!((70..130).contains(&with), "{kind}: {with} of 200");
        }
        let all: std::collections::BTreeSet<String> = (0..200).map(|seed| Swarm::of(seed).to_string()).collect();
        assert!(all.len() > 190, "{}", all.len());
    }
}
