//! Small scenarios as files, in which only properties stand that every reader of files knows. [`Promise::KeepsLock`] is none of these.

use fencepost_consul::{Consul, Job, Killed, Release};
use fencepost_model::properties::Property;
use fencepost_model::scenario::{Expect, Scenario};
use fencepost_model::time::Ticks;

use super::coarse::LockScenario;
#[cfg(doc)]
use crate::promise::Promise;

impl LockScenario {
    /// The scenario with the verdict that is expected of it, and a sentence: for a file.
    ///
    /// **A client that keeps its lock** is asked for in other words: *no write is accepted after the end of its tenure*
    /// ([`Property::SequencerSound`]), of one client that writes once, at any time while it is inside, and never releases by itself. If its
    /// session expires, a client that goes on whatever it hears can write afterwards, and breaks the promise. Where the client counts its
    /// lease, it leaves when that is over; then it is one that leaves a job behind and releases
    /// ([`Killed::Shell`]), and a write that it has just sent arrives after the release. If no session expires and no lease is over, nothing
    /// ends the tenure, so each write belongs to it. So both verdicts are the same as of the scenario that was explored;
    /// `tests/written.rs` compares them on random scenarios.
    pub fn for_file(&self, expect: Expect, about: String) -> Scenario<Consul> {
        let mut scenario = match *self {
            LockScenario::Keeping(keeping) => {
                let alone = keeping.scenario(&self.to_string()).clients(1).writes(1).service(|consul| {
                    consul.release = Release::Never;
                    consul.job = keeping.counts.then_some(Job { killed: Killed::Shell, grace: Ticks::ZERO });
                });
                alone.promise(Property::SequencerSound)
            }
            _ => self.scenario(),
        };
        scenario.about = about;
        scenario.promises.iter_mut().for_each(|promise| promise.expect = expect);
        scenario
    }
}
