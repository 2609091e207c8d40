//! Events among the servers: loss of the leader, election, restart. TTL timers and lock-delays exist only in the memory
//! of a server (C-GEN-2), so these events restart them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::catalog::Status;
use super::sessions::timer;
use super::{Asker, Server};
use crate::Consul;
use crate::ConsulMutation;
use crate::messages::{Answer, ConsulEvent, ConsulMessage, Request, Timer};
use crate::settings::{CheckKind, OldLeader, Requests, Restarts, Servers, Settings, Timers};
use fencepost_model::fact::Fact;
use fencepost_model::ids::{Call, ClientId};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::scenario::Scenario;
use fencepost_model::service_fault::{FaultKind, Nature, ServiceFault};
use fencepost_model::time::{Deadline, Instant, StartTime, Ticks};
use fencepost_model::world::World;

/// A fault of the service, or its end.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConsulFault {
    /// The leader crashes or is cut off; the others will elect a new one.
    LoseLeader,
    /// The leader is deposed and does not know it; a client may be cut off with it.
    Depose(Option<ClientId>),
    /// All servers restart from disk.
    Restart,
    /// A check of a node turns critical although its target is healthy.
    FalseAlarm(ClientId, CheckKind),
}

/// The indices of the kinds of fault.
impl ConsulFault {
    pub(crate) const LEADER_LOSS: usize = 0;
    pub(crate) const DEPOSITION: usize = 1;
    pub(crate) const RESTART: usize = 2;
    pub(crate) const FALSE_ALARM: usize = 3;
}

impl ServiceFault for ConsulFault {
    const KINDS: &'static [FaultKind] = &[
        FaultKind::new("leader_losses", "loss of the leader", Some("outages")).with(Nature::Recurrent),
        FaultKind::new("depositions", "deposed leader that still acts as leader", Some("outages")),
        FaultKind::new("server_restarts", "restart of all servers", None),
        FaultKind::new("false_alarms", "false alarm of a check", None).with(Nature::WrongVerdict),
    ];

    fn false_alarm(self) -> Option<ClientId> {
        match self {
            ConsulFault::FalseAlarm(node, CheckKind::SerfHealth) => Some(node),
            _ => None,
        }
    }

    fn kind(self) -> Option<usize> {
        Some(match self {
            ConsulFault::LoseLeader => ConsulFault::LEADER_LOSS,
            ConsulFault::Depose(_) => ConsulFault::DEPOSITION,
            ConsulFault::Restart => ConsulFault::RESTART,
            ConsulFault::FalseAlarm(..) => ConsulFault::FALSE_ALARM,
        })
    }
}

/// A request that waits for a leader. C-CON-6.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub(super) struct Held {
    client: ClientId,
    #[normal(of = client)]
    call: Call,
    request: Request,
}

impl Held {
    pub(super) fn asker(&self) -> Asker {
        (self.client, self.call)
    }
}

impl Server {
    pub(crate) fn offer_faults(world: &World<Consul>, servers: &Servers, offer: &mut dyn FnMut(ConsulFault)) {
        let server = &world.server.process;
        let affords = |kind: usize| world.left.affords(kind);
        if !server.has_leader() || server.deposed.is_some() {
            return;
        }
        match servers.old_leader {
            OldLeader::Dies if affords(ConsulFault::LEADER_LOSS) => offer(ConsulFault::LoseLeader),
            OldLeader::Lingers if affords(ConsulFault::DEPOSITION) => {
                offer(ConsulFault::Depose(None));
                (0..world.clients.len()).for_each(|place| offer(ConsulFault::Depose(Some(ClientId::of(place)))));
            }
            _ => {}
        }
        if affords(ConsulFault::RESTART) {
            offer(ConsulFault::Restart);
        }
        if affords(ConsulFault::FALSE_ALARM) {
            server.alarms().for_each(|(node, kind)| offer(ConsulFault::FalseAlarm(node, kind)));
        }
    }

    pub(crate) fn fault_is_possible(settings: &Settings, kind: usize) -> Result<(), &'static str> {
        let Settings { health, servers, .. } = settings;
        let has_checks = !health.checks.is_empty() || health.detection.is_some() || health.check_interval.is_some();
        let (is_possible, what) = match kind {
            ConsulFault::LEADER_LOSS => (
                servers.old_leader == OldLeader::Dies,
                "`service.servers.old_leader = \"lingers\"` needs `budget.depositions` instead",
            ),
            ConsulFault::DEPOSITION => (
                servers.old_leader == OldLeader::Lingers,
                "`budget.depositions` needs `service.servers.old_leader = \"lingers\"`; otherwise use `budget.leader_losses`",
            ),
            ConsulFault::FALSE_ALARM => (has_checks, "a false alarm needs a check: set `service.health.checks`"),
            _ => (true, ""),
        };
        if is_possible { Ok(()) } else { Err(what) }
    }

    pub(crate) fn suffer(
        world: &mut World<Consul>,
        fault: ConsulFault,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        let server = &mut world.server.process;
        match fault {
            ConsulFault::LoseLeader => server.lose_leader(context, out),
            ConsulFault::Depose(with) => server.depose(with, context, out),
            ConsulFault::Restart => {
                // C-LD-12: the log is replayed, and the delays start in full.
                match context.scenario.service.servers.restarts {
                    Restarts::FromLog if !context.is_mutated(ConsulMutation::ReplayLosesDelays) => {
                        server.restart_delays(context);
                    }
                    // C-LD-13: they are in no snapshot.
                    Restarts::FromLog | Restarts::FromSnapshot => server.delays.clear(),
                }
                server.restart_timers(context);
                if context.is_mutated(ConsulMutation::RestartLosesEntries) {
                    server.entries.clear();
                }
                server.close_connections(out);
                let keeps_delays = context.scenario.service.servers.restarts == Restarts::FromLog;
                out.record(Fact::Service(ConsulEvent::Restarted { keeps_delays }));
            }
            ConsulFault::FalseAlarm(node, kind) => {
                server.set_check(node, kind, Status::Critical, context, out);
                server.answer_watchers(context, out);
            }
        }
    }

    pub(super) fn lose_leader(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        self.leaderless = Some(StartTime(context.now));
        // C-TTL-4: a destroy entry proposed by a former leader fails.
        self.sessions.iter_mut().for_each(|row| row.is_expiring = false);
        out.record(Fact::Service(ConsulEvent::LeaderLost));
    }

    /// C-TTL-6: every timer restarts in full. C-LD-11: the lock-delays of a new leader end when those of the old one
    /// would have, or later if it had not yet applied the entries that set them.
    pub(super) fn elect(&mut self, is_behind: bool, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        self.leaderless = None;
        let starts_anew = context.scenario.service.servers.timers == Timers::StartAnew;
        if starts_anew && !context.is_mutated(ConsulMutation::ElectionKeepsTimers) {
            self.restart_timers(context);
        }
        if is_behind {
            self.restart_delays(context);
        }
        if context.is_mutated(ConsulMutation::ElectionLosesDelays) {
            self.delays.clear();
        }
        if context.is_mutated(ConsulMutation::LeaderIsBehind) {
            self.entries.clear();
        }
        out.record(Fact::Service(ConsulEvent::Elected { restarts_ttls: starts_anew }));
        if context.is_mutated(ConsulMutation::HeldRequestsForgotten) {
            self.held.clear();
        }
        for Held { client, call, request } in std::mem::take(&mut self.held).iter().copied() {
            if let Some(answer) = self.serve(Some((client, call)), request, context, out) {
                out.send(client.into(), ConsulMessage::Response(call, answer));
            }
        }
    }

    /// C-CON-6: a request is held for some time until there is a leader, and then answered with an error.
    pub(super) fn do_without_leader(
        &mut self,
        from: Option<Asker>,
        request: Request,
        context: &Context<'_, Consul>,
    ) -> Option<Answer> {
        match (context.scenario.service.servers.requests, from) {
            (Requests::Held, Some((client, call))) => {
                self.held.push(Held { client, call, request });
                None
            }
            _ => Some(Answer::NoLeader),
        }
    }

    /// A client with a pending request does not learn whether the request was applied.
    fn close_connections(&mut self, out: &mut Outbox<Consul>) {
        for (client, call) in self.waiting().collect::<Vec<_>>() {
            out.send(client.into(), ConsulMessage::Response(call, Answer::Disconnected));
        }
        self.parked.clear();
        self.held.clear();
        self.decided.clear();
    }

    /// Another server leads, and has applied what the last one had. C-TTL-6: timers restart in full. C-LD-11: lock-delays end when they
    /// would have.
    pub fn fail_over(&mut self, context: &Context<'_, Consul>) {
        self.restart_timers(context);
    }

    /// The servers restart from their logs. C-TTL-1, C-LD-12: timers and lock-delays restart in full.
    pub fn restart(&mut self, context: &Context<'_, Consul>) {
        self.restart_timers(context);
        self.restart_delays(context);
    }

    /// A snapshot of this state is restored, and the leader asserts its leadership anew. C-LD-13: lock-delays are in no snapshot.
    pub fn restore(&mut self, context: &Context<'_, Consul>) {
        self.restart_timers(context);
        self.delays.clear();
    }

    fn restart_timers(&mut self, context: &Context<'_, Consul>) {
        for row in self.sessions.iter_mut() {
            row.expires = timer(&row.terms, context);
            row.is_expiring = false;
        }
    }

    fn restart_delays(&mut self, context: &Context<'_, Consul>) {
        self.delays.retain(|delay| !delay.is_timer() && !delay.until.is_due(context.now));
        for delay in self.delays.iter_mut() {
            delay.until = Deadline(context.now + delay.length);
        }
    }

    pub(super) fn leader_wakes(&self, scenario: &Scenario<Consul>, due: &mut dyn FnMut(Timer, Instant)) {
        let Some(since) = self.leaderless else { return };
        let at = since + scenario.service.servers.election;
        due(Timer::Elect, at);
        if scenario.service.lock_delay > Ticks::ZERO {
            due(Timer::ElectBehind, at);
        }
    }

    /// By when something must have happened among the servers.
    pub(crate) fn must_happen_by(&self, settings: &Settings) -> Option<Instant> {
        let elected = self.leaderless.zip(settings.servers.outage_max).map(|(since, most)| since + most);
        elected.into_iter().chain(self.must_step_down_by(settings)).min()
    }
}

impl fmt::Display for ConsulFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConsulFault::LoseLeader => f.write_str("the servers lose their leader"),
            ConsulFault::Depose(None) => f.write_str("the leader is cut off from the others"),
            ConsulFault::Depose(Some(client)) => {
                write!(f, "the leader is cut off from the others, and {client} with it")
            }
            ConsulFault::Restart => f.write_str("the servers restart"),
            ConsulFault::FalseAlarm(node, kind) => write!(f, "false alarm: {kind} of {node}'s node turns critical"),
        }
    }
}
