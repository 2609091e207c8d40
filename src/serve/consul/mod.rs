//! A Consul agent as a stand-in: sessions and their timers, blocking queries, and what happens to its servers.
//!
//! ```text
//! serve    a request through the model       timers   of sessions and of checks
//! events   what happens to the servers       record   the run, as `fencepost conform --recorded` reads it
//! ```

mod events;
mod record;
mod serve;
mod timers;

use std::collections::BTreeMap;
use std::fmt::Debug;

use fencepost_conform::Agent;
use fencepost_model::ids::SessionId;

use crate::endpoints::{AgentChecks, Directory};
use crate::faults::ServerEvent;
use crate::judge::Sessions;
use crate::settings::Settings;
use crate::stand_in::{Answer, Backend, Journey, StandIn};
use events::Deposed;
use record::Record;
use timers::ConsulDue;

pub(crate) use serve::beyond;

/// A Consul agent that is the model.
#[derive(Clone, Debug)]
pub struct ConsulBackend {
    pub(crate) agent: Agent,
    pub(crate) directory: Directory,
    pub(crate) agent_checks: AgentChecks,
    /// Sessions whose timer has fired, with when their end is applied.
    expiring: BTreeMap<SessionId, i64>,
    /// A former leader that still answers.
    deposed: Option<Deposed>,
    /// When gossip hears of the agent's node again that it takes for failed.
    heard_again: Option<i64>,
    /// How many ids have been drawn.
    ids: u64,
    /// How many sessions have been created.
    sessions: u32,
}

impl Backend for ConsulBackend {
    const NAME: &'static str = "consul";
    const BODY_MAX: usize = 4 << 20;
    const INSTANTS: &'static str = "?until=session-expired or ?until=next";
    type Due = ConsulDue;
    type Record = Record;
    type Witness = Sessions;

    fn new(settings: &Settings) -> Self {
        let agent = Agent::new(&settings.node, settings.options).in_datacenter(&settings.datacenter);
        let agent = agent.that_answers(&Directory::own(settings));
        ConsulBackend {
            directory: Directory::new(settings, agent.position()),
            agent,
            agent_checks: AgentChecks::default(),
            expiring: BTreeMap::new(),
            deposed: None,
            heard_again: None,
            ids: 0,
            sessions: 0,
        }
    }

    fn carry_out(stand_in: &mut StandIn, journey: Journey) {
        stand_in.carry_out(journey);
    }

    fn happen(stand_in: &mut StandIn, event: ServerEvent, journey: &Journey) {
        stand_in.happen(event, &journey.client);
    }

    fn agenda(stand_in: &StandIn) -> Vec<(i64, ConsulDue)> {
        stand_in.agenda().collect()
    }

    fn come(stand_in: &mut StandIn, due: ConsulDue) {
        stand_in.fire(due);
    }

    fn told(&self, due: &ConsulDue) -> String {
        match due {
            ConsulDue::Fires(session, _) => format!("the timer of {} fires", self.agent.session_text(*session)),
            ConsulDue::Ends(session) => format!("{} ends", self.agent.session_text(*session)),
            ConsulDue::Check(id) => format!("check {id} turns critical"),
            ConsulDue::Heard => "gossip hears of the agent's node again".to_owned(),
        }
    }

    fn instant(stand_in: &StandIn, name: &str) -> Option<Result<i64, String>> {
        let none = || "no session ends by itself: none has a TTL".to_owned();
        (name == "session-expired").then(|| stand_in.next_expiry().ok_or_else(none))
    }

    fn holder(stand_in: &mut StandIn, key: &str) -> Option<String> {
        let session = stand_in.backend.agent.holder(key)?;
        Some(stand_in.judge.witness().owner(&session))
    }

    fn error(status: u16, why: &str) -> Answer {
        Answer::text(status, why)
    }

    fn state(&self) -> impl Debug + '_ {
        let servers = (self.agent.state(), &self.deposed, &self.directory, &self.agent_checks);
        (servers, &self.expiring, &self.heard_again, self.ids, self.sessions)
    }

    fn assumptions(settings: &Settings) -> Vec<String> {
        vec![format!("timers: {}", settings.timers)]
    }
}
