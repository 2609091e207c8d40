//! The steps of an execution, with the constraints on their times.

use std::collections::BTreeMap;

use fencepost_consul::{Consul, ConsulMessage, Expiry, Request, Timer};
use fencepost_model::ids::{ProcessId, SessionId};
use fencepost_model::monitor::Observed;
use fencepost_model::normal::Normal;
use fencepost_model::process::Message;
use fencepost_model::scenario::Scenario;
use fencepost_model::trace::{Trace, TraceStep};
use fencepost_model::world::{Action, Envelope};

use super::delays::{Bound, Delays};
use super::event::{AtServer, PlannedStep};
use super::origin::{Note, PARTS};
use super::server::{answers, at_server, looks};
use super::solve::{Edge, Margin, Unsolvable};
use super::twin::refined;
use super::{PlanError, obstacles};
use crate::outcome::{Obstacle, ReenactmentOutcome};

/// How long a restart of the server may take, in milliseconds.
const RESTART: i64 = 12_000;

/// The steps of an execution, and the constraints on their times.
pub(super) struct Draft {
    pub(super) steps: Vec<PlannedStep>,
    pub(super) edges: Vec<Edge>,
    /// How many instants there are: one or two for each step.
    pub(super) instants: usize,
}

/// Reads a trace.
pub(super) fn draft(trace: &Trace<Consul>, can_restart: bool) -> Result<Draft, PlanError> {
    let scenario = &trace.header.scenario;
    let outside = |step, needs| PlanError::Hopeless(ReenactmentOutcome::Outside { step, needs });
    let fine = scenario.refined(PARTS);
    let mut builder = Builder {
        scenario,
        world: scenario.observed(),
        twin: fine.observed(),
        fine,
        now: 0,
        times: Vec::new(),
        draft: Draft { steps: Vec::new(), edges: Vec::new(), instants: 0 },
        delays: Delays::default(),
        lock_delays: BTreeMap::new(),
        ending: BTreeMap::new(),
        unsettled: Vec::new(),
        next_inside: None,
        last: None,
        last_at_server: None,
    };
    for line in &trace.steps {
        if let Some(needs) = obstacles::of_action(scenario, &line.action, can_restart) {
            return Err(outside(line.step, needs));
        }
        if !scenario.is_enabled(&builder.world, &line.action) {
            return Err(PlanError::NoExecution(format!("step {}: “{}” is not possible here", line.step, line.label)));
        }
        builder.take(line)?;
    }
    match obstacles::of_scenario(scenario) {
        Some(needs) => Err(outside(0, needs)),
        None => Ok(builder.draft),
    }
}

/// Reads a trace step by step.
pub(super) struct Builder<'a> {
    pub(super) scenario: &'a Scenario<Consul>,
    pub(super) world: Observed<Consul>,
    /// The same at a fine resolution, with notes of origins.
    pub(super) fine: Scenario<Consul>,
    pub(super) twin: Observed<Consul>,
    /// In ticks.
    pub(super) now: i64,
    /// The tick of each step.
    pub(super) times: Vec<i64>,
    pub(super) draft: Draft,
    pub(super) delays: Delays,
    /// The lock-delay that each session asked for.
    pub(super) lock_delays: BTreeMap<SessionId, i64>,
    /// When the timers of sessions fire that the log has not removed yet: at the earliest, at the latest.
    pub(super) ending: BTreeMap<SessionId, (Bound, Bound)>,
    /// When the server has done something by itself that it may do late.
    pub(super) unsettled: Vec<Bound>,
    /// What the server does next, at once.
    next_inside: Option<Timer>,
    /// The last instant, and the last one at the server.
    last: Option<usize>,
    last_at_server: Option<usize>,
}

impl Builder<'_> {
    fn take(&mut self, line: &TraceStep<Consul>) -> Result<(), PlanError> {
        let twin = refined(&line.action, &self.twin, PARTS);
        if let Action::Advance(ticks) = line.action {
            self.now += ticks.count();
            self.world.step(self.scenario, &line.action);
            self.twin.step(&self.fine, &twin);
            return Ok(());
        }
        let event = at_server(&line.action);
        self.stay_inside(line, event)?;
        let start = self.instant();
        let end = if matches!(event, AtServer::Restart) { self.instant() } else { start };
        if end != start {
            self.at_least((start, 0), end, RESTART, Margin::None);
        }
        self.keep_order(event, start, end);
        self.keep_bounds(&line.action, event, start);
        self.fire(&line.action, start);
        self.ask_for_keys(&line.action, start);
        let step = PlannedStep {
            number: line.step,
            label: line.label.clone(),
            event,
            start,
            end,
            answers: answers(self.scenario, &self.world, &line.action),
            looks: looks(&line.action),
        };
        let before = self.twin.world.clone();
        let happened = self.world.step(self.scenario, &line.action);
        let same = self.twin.step(&self.fine, &twin);
        if happened.facts != same.facts {
            return Err(PlanError::NoExecution(format!(
                "step {}: at a finer resolution it has other facts",
                line.step
            )));
        }
        for client in happened.touched.iter().filter_map(|process| process.client()) {
            if self.looks_at_lease(&before, client, &twin) {
                self.keep_leases(&before, client, start);
            }
        }
        if line.violations.iter().any(|violation| violation.property.name() == "lease-exclusion") {
            let after = self.twin.world.clone();
            after.inside_lease().for_each(|client| self.keep_leases(&after, client, start));
        }
        let place = self.draft.steps.len();
        self.draft.steps.push(step);
        self.times.push(self.now);
        self.note_ends(&before, &happened.facts, place, event);
        self.note_origins(place);
        Ok(())
    }

    fn instant(&mut self) -> usize {
        self.draft.instants += 1;
        self.draft.instants - 1
    }

    /// `to` is at least a number of ticks and milliseconds after another instant.
    pub(super) fn at_least(&mut self, (from, ticks): (usize, i64), to: usize, room: i64, margin: Margin) {
        self.draft.edges.push(Edge { from, to, ticks, room, margin });
    }

    /// `at` is at most a number of ticks after another instant.
    pub(super) fn at_most(&mut self, (from, ticks): (usize, i64), at: usize, margin: Margin) {
        self.draft.edges.push(Edge { from: at, to: from, ticks: -ticks, room: 0, margin });
    }

    /// What the server does next at once, nothing can come before.
    fn stay_inside(&mut self, line: &TraceStep<Consul>, event: AtServer) -> Result<(), PlanError> {
        let timer = match line.action {
            Action::Wake { process: ProcessId::Server, timer } => Some(timer),
            _ => None,
        };
        if event.is_at_server()
            && let Some(next) = self.next_inside.take()
            && timer != Some(next)
        {
            let needs = Obstacle::InsideServer;
            return Err(PlanError::Hopeless(ReenactmentOutcome::Outside { step: line.step, needs }));
        }
        let servers = &self.scenario.service.servers;
        self.next_inside = self.next_inside.or(match (timer, line.action) {
            (Some(Timer::Expire(session)), _) if servers.expiry == Expiry::TwoSteps => Some(Timer::Destroy(session)),
            (_, Action::Deliver(Envelope { from: ProcessId::Client(client), to: ProcessId::Server, message, .. })) => {
                let is_accepted = answers(self.scenario, &self.world, &line.action).is_empty();
                match message {
                    Message::Service(ConsulMessage::Request(call, Request::Acquire(_))) if is_accepted => {
                        Some(Timer::Apply(client, call))
                    }
                    _ => None,
                }
            }
            _ => None,
        });
        Ok(())
    }

    /// Steps stay in their order; those at the server are apart.
    fn keep_order(&mut self, event: AtServer, start: usize, end: usize) {
        if let Some(last) = self.last {
            self.at_least((last, 0), start, 0, Margin::None);
        }
        self.last = Some(end);
        if !event.is_at_server() {
            return;
        }
        if let Some(last) = self.last_at_server {
            self.at_least((last, 0), start, 0, Margin::Request);
        }
        for Bound { instant, ticks } in std::mem::take(&mut self.unsettled) {
            self.at_least((instant, ticks), start, 0, Margin::ServerTimer);
        }
        self.last_at_server = Some(end);
    }

    /// Every instant that this step has set is noted.
    fn note_origins(&mut self, step: usize) {
        let mut note = Note { step };
        let world = &mut self.twin.world;
        world.server.process.visit(&mut note);
        world.clients.iter_mut().for_each(|host| host.process.visit(&mut note));
        if self.scenario.synchrony.message_delay.is_some() {
            world.network.slots().iter_mut().for_each(|envelope| envelope.due.visit(&mut note));
            world.network.sort();
        }
    }
}

impl Draft {
    /// What an unsolvable schedule says about the execution.
    pub(super) fn refusal(&self, why: Unsolvable) -> ReenactmentOutcome {
        let steps = |instants: Vec<usize>| {
            let is_meant = |step: &&PlannedStep| instants.contains(&step.start) || instants.contains(&step.end);
            self.steps.iter().filter(is_meant).map(|step| step.number).collect::<Vec<usize>>()
        };
        match why {
            Unsolvable::Simultaneous(instants) => ReenactmentOutcome::Simultaneous { steps: steps(instants) },
            Unsolvable::Contradiction(instants) => {
                let step = steps(instants).last().copied().unwrap_or(0);
                ReenactmentOutcome::Outside { step, needs: Obstacle::LateTimer }
            }
            Unsolvable::TickTooLong(most) => {
                ReenactmentOutcome::Undecided { why: format!("a tick would have to be longer than {most} ms") }
            }
        }
    }
}
