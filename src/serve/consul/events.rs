//! What happens to servers, nodes and sessions, as a plan says: it changes the state as requests of an operator and elections do.

use fencepost_conform::{Agent, EventKind, HttpRequest, Sleep};
use fencepost_model::time::Instant;
use serde_json::json;

use crate::endpoints::{Directory, parameter};
use crate::faults::ServerEvent;
use crate::stand_in::{Answer, MICROSECOND, RequestOutcome, StandIn, Ticket, Waiting};

/// A leader that is none any more, and does not know it.
#[derive(Clone, Debug)]
pub(crate) struct Deposed {
    /// What it remembers.
    agent: Agent,
    /// The client that reaches no other server.
    client: String,
    until: i64,
}

impl StandIn {
    /// An event happens just before a request is carried out.
    pub(super) fn happen(&mut self, event: ServerEvent, client: &str) {
        match event {
            ServerEvent::LeaderChange => self.servers(EventKind::Failover, self.now),
            ServerEvent::LeaderLingers(by) => {
                let until = self.now.saturating_add(by);
                self.backend.deposed =
                    Some(Deposed { agent: self.backend.agent.clone(), client: client.to_owned(), until });
                self.servers(EventKind::Failover, until);
            }
            ServerEvent::Restart => {
                self.servers(EventKind::Restart, self.now);
                self.close_connections();
            }
            ServerEvent::SnapshotRestore => {
                self.servers(EventKind::Restore, self.now);
                self.answer_watchers();
            }
            ServerEvent::SessionDestroyed => {
                for session in self.judge.witness().of(client) {
                    self.operate(&put(format!("/v1/session/destroy/{session}"), Vec::new()));
                }
            }
            ServerEvent::NodeDeregistered => {
                let node = json!({"Node": self.settings.node});
                self.operate(&put("/v1/catalog/deregister".to_owned(), node.to_string().into_bytes()));
                let own = Directory::own(&self.settings);
                self.operate(&own);
            }
            ServerEvent::CheckCritical => {
                for check in self.backend.agent_checks.ids() {
                    self.check_runs_out(&check);
                }
            }
            ServerEvent::GossipFailure(by) => {
                self.set_gossip("critical");
                self.backend.heard_again = Some(self.now.saturating_add(by));
            }
            // Plans for a Consul agent do not have them.
            ServerEvent::LeaseDeleted
            | ServerEvent::LeaseLabelled
            | ServerEvent::Promotion
            | ServerEvent::ServerRestart
            | ServerEvent::LeaseRevoked
            | ServerEvent::KeyDeleted
            | ServerEvent::Compaction => {}
        }
    }

    /// Gossip hears of the agent's node again.
    pub(super) fn hear_again(&mut self) {
        self.backend.heard_again = None;
        self.set_gossip("passing");
    }

    /// C-INV-4: a failed node has a critical check, and nothing else of it changes.
    fn set_gossip(&mut self, status: &str) {
        let node = &self.settings.node;
        let check = json!({"Node": node, "CheckID": "serfHealth", "Name": "Serf Health Status", "Status": status});
        let body = json!({"Node": node, "SkipNodeUpdate": true, "Check": check});
        self.operate(&put("/v1/catalog/register".to_owned(), body.to_string().into_bytes()));
    }

    /// A request of an operator, or of the servers themselves.
    fn operate(&mut self, question: &HttpRequest) {
        let answer = self.serve(question, "an operator");
        self.record.sync(question, &answer, self.now);
        self.now = self.now.saturating_add(MICROSECOND);
        self.wake();
    }

    /// C-TTL-4: what the timer of a former leader has sent is not applied.
    fn servers(&mut self, event: EventKind, until: i64) {
        self.backend.expiring.clear();
        self.backend.agent.suffer(&event, Instant::at(self.now));
        self.record.happened(event, self.now, until);
    }

    /// The connections of a server that restarts: who waits learns nothing.
    fn close_connections(&mut self) {
        let waits = |waiting: &Waiting| {
            matches!(waiting, Waiting::Parked { .. } | Waiting::OnItsWayBack { .. } | Waiting::Silent { .. })
        };
        let closed: Vec<Ticket> =
            self.waiting.iter().filter(|(_, waiting)| waits(waiting)).map(|(ticket, _)| *ticket).collect();
        for ticket in closed {
            match self.waiting.remove(&ticket) {
                Some(Waiting::Parked { journey, .. } | Waiting::OnItsWayBack { journey, .. }) => {
                    self.lose(&journey, RequestOutcome::Close);
                }
                Some(Waiting::Silent { client }) => {
                    self.clients.is_told(&client);
                    self.ready.push((ticket, RequestOutcome::Close));
                }
                _ => {}
            }
        }
    }

    /// C-BLK-9: a restore answers every blocking query at once.
    fn answer_watchers(&mut self) {
        for ticket in self.parked() {
            if let Some(Waiting::Parked { journey, .. }) = self.waiting.remove(&ticket) {
                let answer = self.serve(&journey.question, &journey.client);
                self.finish(journey, answer);
            }
        }
    }

    /// The answer of a deposed leader to a client that reaches no other server; none: this one answers.
    pub(super) fn ask_deposed(&mut self, question: &HttpRequest, client: &str) -> Option<Answer> {
        let mut deposed = self.backend.deposed.take()?;
        if self.now >= deposed.until {
            return None;
        }
        let mut answer = None;
        if deposed.client == client {
            answer = Some(match is_from_memory(question) {
                true => {
                    std::mem::swap(&mut self.backend.agent, &mut deposed.agent);
                    let answer = self.serve(question, client);
                    std::mem::swap(&mut self.backend.agent, &mut deposed.agent);
                    answer
                }
                false => Answer::text(500, "No cluster leader"),
            });
        }
        self.backend.deposed = Some(deposed);
        answer
    }
}

/// C-CON-2, C-CON-5: default reads and renewals need no other server. C-CON-3, C-CON-6: everything else does.
fn is_from_memory(question: &HttpRequest) -> bool {
    let is_read = question.method == "GET" && parameter(&question.url, "consistent").is_none();
    is_read && Sleep::of(question).is_none() || question.url.starts_with("/v1/session/renew/")
}

fn put(url: String, body: Vec<u8>) -> HttpRequest {
    HttpRequest { method: "PUT".to_owned(), url, body }
}
