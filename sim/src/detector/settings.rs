//! What a member of the gossip pool does when, and what its network is like.

use serde::{Deserialize, Serialize};

use crate::curve::Curve;

/// Gossip as memberlist has it on a local network (the defaults), in thousandths of a tick: with a tick of one second, milliseconds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DetectorSettings {
    /// How many servers there are. What the first of them thinks of a node is what the catalogue says.
    pub servers: u16,
    /// How many nodes there are on which no client runs.
    pub others: u16,
    /// How often a member probes another one; an answer must be there before the next probe.
    pub probe_interval: i64,
    /// After which time without an answer others are asked to probe, too.
    pub probe_timeout: i64,
    /// How many.
    pub indirect_checks: u16,
    /// The minimum duration of a suspicion in probe intervals, times the decimal logarithm of the size of the pool.
    pub suspicion_mult: i64,
    /// The factor by which a suspicion lasts longer at most, until other members confirm it (Lifeguard).
    pub suspicion_max_mult: i64,
    /// What a member's opinion of its own health counts at most (Lifeguard).
    pub awareness_max: i64,
    /// The interval at which a member passes rumours on.
    pub gossip_interval: i64,
    /// To how many.
    pub gossip_nodes: u16,
    /// How long dead members still receive rumours.
    pub gossip_to_dead: i64,
    /// How often each rumour is passed on, times the decimal logarithm of the size of the pool.
    pub retransmit_mult: i64,
    /// How often a member compares all that it knows with another one; less often in large pools.
    pub push_pull_interval: i64,
    /// How often it tries to reach one that has failed.
    pub reconnect_interval: i64,
    /// After which time a member that has failed is forgotten.
    pub reap_after: i64,
    /// Whether members mistrust themselves, and suspicions wait for confirmation (Dadgar, Phillips, Currey 2017); otherwise plain
    /// SWIM (Das, Gupta, Motivala 2002).
    pub lifeguard: bool,
    /// How many of a thousand packets get lost.
    pub loss: u64,
    /// How long a packet is under way.
    pub latency: Curve,
    /// What of the network a cut link stands for.
    pub cut: Cuts,
    /// Whether a client that stands still takes its node along (a stopped virtual machine, and no garbage collection).
    pub stalls_nodes: bool,
}

/// What of the network a cut link between a client and the servers stands for.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cuts {
    /// The node is cut off from all others.
    Node,
    /// From the servers only: other nodes are a bridge between them.
    Bridged,
}

impl Default for DetectorSettings {
    /// memberlist's `DefaultLANConfig`, serf's reconnection, and Consul's time to forget.
    fn default() -> Self {
        DetectorSettings {
            servers: 1,
            others: 0,
            probe_interval: 1000,
            probe_timeout: 500,
            indirect_checks: 3,
            suspicion_mult: 4,
            suspicion_max_mult: 6,
            awareness_max: 8,
            gossip_interval: 200,
            gossip_nodes: 3,
            gossip_to_dead: 30_000,
            retransmit_mult: 4,
            push_pull_interval: 30_000,
            reconnect_interval: 30_000,
            reap_after: 72 * 3_600_000,
            lifeguard: true,
            loss: 0,
            latency: Curve::of([0, 2]),
            cut: Cuts::Node,
            stalls_nodes: false,
        }
    }
}

/// More members than this are refused: each knows all others.
const MEMBERS_MAX: usize = 1000;

impl DetectorSettings {
    /// The number of members with this number of clients.
    pub(crate) fn members(&self, clients: usize) -> usize {
        usize::from(self.servers) + clients + usize::from(self.others)
    }

    /// The error in the settings for this number of clients, as a sentence.
    ///
    /// # Errors
    /// A pool without servers or with too many members, or a number out of its range.
    pub fn validate(&self, clients: usize) -> Result<(), String> {
        let periods = [
            ("probe_interval", self.probe_interval),
            ("probe_timeout", self.probe_timeout),
            ("gossip_interval", self.gossip_interval),
            ("push_pull_interval", self.push_pull_interval),
            ("reconnect_interval", self.reconnect_interval),
            ("reap_after", self.reap_after),
            ("gossip_to_dead", self.gossip_to_dead),
        ];
        let factors = [
            ("suspicion_mult", self.suspicion_mult),
            ("suspicion_max_mult", self.suspicion_max_mult),
            ("awareness_max", self.awareness_max),
            ("retransmit_mult", self.retransmit_mult),
        ];
        for (numbers, most) in [(&periods[..], 1_000_000_000), (&factors[..], 100)] {
            if let Some((name, _)) = numbers.iter().find(|(_, number)| !(1..=most).contains(number)) {
                return Err(format!("gossip: {name} lies between 1 and {most}"));
            }
        }
        if self.probe_timeout > self.probe_interval {
            return Err("gossip: probe_timeout must not be longer than probe_interval".to_owned());
        }
        if self.loss > 1000 {
            return Err("gossip: loss is a number of packets in a thousand".to_owned());
        }
        if self.servers == 0 {
            return Err("gossip: there must be a server".to_owned());
        }
        if self.members(clients) > MEMBERS_MAX {
            return Err(format!("gossip: there can be {MEMBERS_MAX} members at most, servers and clients included"));
        }
        Ok(())
    }
}
