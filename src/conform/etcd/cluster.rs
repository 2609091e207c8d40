//! The members of a cluster, and what an operator does to them.

use std::thread::sleep;
use std::time::{Duration, Instant};

use fencepost_etcd::mvcc::{EtcdCall, Mvcc, Put, RangeRead};
use serde_json::{Value, json};

use super::draw::MARK;
use super::wire::EtcdServer;
use crate::error::ConformError;
use crate::restart::carry_out;

/// How long a cluster may need until every member answers.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often members are emptied at most until they show the same revision.
const ROUNDS: u32 = 20;

/// What happens to the members of a cluster.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum EtcdChange {
    /// The leader gives its place to another member (E-LD-5).
    Handover,
    /// The leader's process is killed and started anew.
    LeaderRestarts,
    /// Every process is killed and started anew (E-LD-2).
    AllRestart,
    /// The process of a follower is stopped for a second and a half, and goes on.
    FollowerPauses,
}

impl EtcdChange {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Handover, Self::LeaderRestarts, Self::AllRestart, Self::FollowerPauses];
}

/// A cluster, whose members are counted from 1.
#[derive(Clone, Debug)]
pub struct EtcdCluster {
    /// The members.
    pub members: Vec<EtcdServer>,
    command: String,
}

impl EtcdCluster {
    /// Connects to members whose addresses have commas between them. `command` is a shell command; `pause 2`, `resume 2`, `restart 2`, `transfer 2`
    /// and `restart` are appended to it.
    ///
    /// # Errors
    /// A member does not answer, or there are fewer than three.
    pub fn connect(addresses: &str, command: &str) -> Result<Self, ConformError> {
        if addresses.split(',').count() < 3 {
            let why = "a cluster has at least three members: give their addresses with commas between them";
            return Err(ConformError(why.to_owned()));
        }
        let member = |address| EtcdServer::connect(address).map(EtcdServer::into_member);
        let members: Result<Vec<EtcdServer>, ConformError> = addresses.split(',').map(member).collect();
        Ok(EtcdCluster { members: members?, command: command.to_owned() })
    }

    /// Carries out an operator's command.
    pub(super) fn operate(&self, what: &str) -> Result<(), ConformError> {
        carry_out(&format!("{} {what}", self.command))
    }

    /// The place of the member that leads, from 0.
    ///
    /// # Errors
    /// No member has led for a minute.
    pub(super) fn leader(&self) -> Result<usize, ConformError> {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            let leads = |member: &EtcdServer| {
                let status = member.post("/v3/maintenance/status", &json!({})).map(|reply| reply.body);
                status.is_ok_and(|body| body["leader"].is_string() && body["leader"] == body["header"]["member_id"])
            };
            if let Some(place) = self.members.iter().position(leads) {
                return Ok(place);
            }
            sleep(Duration::from_millis(50));
        }
        Err(ConformError("no member leads".to_owned()))
    }

    /// The places of the others.
    pub(super) fn followers(&self, leader: usize) -> impl Iterator<Item = usize> {
        (0..self.members.len()).filter(move |place| *place != leader)
    }

    /// Lets something happen; the processes go on afterwards.
    pub(super) fn change(&self, change: EtcdChange) -> Result<(), ConformError> {
        let leader = self.leader()?;
        let follower = self.followers(leader).next().unwrap_or_default() + 1;
        match change {
            EtcdChange::Handover => self.operate(&format!("transfer {follower}")),
            EtcdChange::LeaderRestarts => self.operate(&format!("restart {}", leader + 1)),
            EtcdChange::AllRestart => self.operate("restart"),
            EtcdChange::FollowerPauses => {
                self.operate(&format!("pause {follower}"))?;
                sleep(Duration::from_millis(1_500));
                self.operate(&format!("resume {follower}"))
            }
        }
    }

    /// Kills every process, and only then starts them anew: what a member was still going to do is forgotten. What is left of it is in the logs, where
    /// the first entry of the next term decides it, before a member answers a linearizable read (E-GEN-8). Nothing is applied again, for what
    /// `reset` has written is on disk by then (E-GEN-9).
    pub(super) fn forget(&self) -> Result<(), ConformError> {
        for member in &self.members {
            // It commits what is in memory before it computes one.
            member.post("/v3/maintenance/hash", &json!({}))?;
        }
        self.operate("restart")
    }

    /// Removes what a crowd has left. What remains is the model's empty store at the revision of every member. Keys are changed in any case, and nothing
    /// before that is applied again if a process is killed later (E-GEN-9).
    ///
    /// # Errors
    /// The members cannot be talked to, another program writes to them, or they differ.
    pub(super) fn reset(&self) -> Result<Mvcc, ConformError> {
        let mut seen = Vec::new();
        for _ in 0..ROUNDS {
            self.settle()?;
            self.members[0].ask(&EtcdCall::Put(Put { key: format!("{MARK}a"), ..Put::default() }))?;
            let store = self.members[0].reset()?;
            seen = self.members.iter().map(revision).collect::<Result<_, _>>()?;
            if seen.iter().all(|revision| *revision == store.revision()) {
                return Ok(store);
            }
            sleep(Duration::from_millis(50));
        }
        let seen: Vec<String> = seen.iter().map(i64::to_string).collect();
        let why = "Either another program writes to them, or they have diverged for ever: then begin with new ones";
        Err(ConformError(format!("the members do not show the same revision, but {}. {why}", seen.join(", "))))
    }

    /// Waits until every member answers a linearizable read.
    pub(super) fn settle(&self) -> Result<(), ConformError> {
        let end = Instant::now() + PATIENCE;
        for member in &self.members {
            while !member.ask(&look()).is_ok_and(|reply| reply.status == 200) {
                if Instant::now() >= end {
                    return Err(ConformError("a member does not answer any more".to_owned()));
                }
                sleep(Duration::from_millis(50));
            }
        }
        Ok(())
    }
}

/// A linearizable read.
fn look() -> EtcdCall {
    EtcdCall::Range(RangeRead { key: "\0".to_owned(), count_only: true, ..RangeRead::default() })
}

/// The revision that a member shows.
fn revision(member: &EtcdServer) -> Result<i64, ConformError> {
    let reply = member.ask(&look())?;
    reply.revision().ok_or_else(|| ConformError(format!("a member answers a read with {}", reply.body)))
}

/// Whether a member has answered that something is of this kind.
pub(super) fn says(body: &Value, message: &str) -> bool {
    body["message"].as_str().or_else(|| body["error"]["message"].as_str()).is_some_and(|text| text.contains(message))
}
