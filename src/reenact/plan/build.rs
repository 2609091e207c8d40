//! The steps of an execution, with the constraints on their times.

use fencepost_model::ids::ProcessId;
use fencepost_model::monitor::Observed;
use fencepost_model::normal::Normal;
use fencepost_model::scenario::Scenario;
use fencepost_model::trace::{Trace, TraceStep};
use fencepost_model::world::Action;

use super::PlanError;
use super::answers::answers;
use super::bounds::Bound;
use super::event::{AtServer, PlannedStep};
use super::origin::{Note, PARTS};
use super::solve::{Edge, Margin, Unsolvable};
use super::twin::refined;
use crate::driven::{Driven, Means};
use crate::outcome::{Obstacle, ReenactmentOutcome};

/// The first instant of a schedule: the execution begins, and nothing has happened.
pub(crate) const BEGIN: usize = 0;

/// The steps of an execution, and the constraints on their times.
pub(crate) struct Draft<S: Driven> {
    pub(crate) steps: Vec<PlannedStep<S>>,
    pub(crate) edges: Vec<Edge>,
    /// How many instants there are: the begin, and one or two for each step.
    pub(super) instants: usize,
}

/// Reads a trace.
pub(super) fn draft<S: Driven>(trace: &Trace<S>, means: Means) -> Result<Draft<S>, PlanError> {
    let scenario = &trace.header.scenario;
    let outside = |step, needs| PlanError::Hopeless(ReenactmentOutcome::Outside { step, needs });
    let fine = scenario.refined(PARTS);
    let mut builder = Builder {
        scenario,
        world: scenario.observed(),
        twin: fine.observed(),
        fine,
        now: 0,
        origins: vec![Span { start: BEGIN, end: BEGIN, tick: 0 }],
        draft: Draft { steps: Vec::new(), edges: Vec::new(), instants: 1 },
        memory: S::Memory::default(),
        unsettled: Vec::new(),
        last: BEGIN,
        last_at_server: None,
    };
    builder.note_origins(0);
    for line in &trace.steps {
        if let Some(needs) = S::obstacle_of_action(scenario, &line.action, means) {
            return Err(outside(line.step, needs));
        }
        if !scenario.is_enabled(&builder.world, &line.action) {
            return Err(PlanError::NoExecution(format!("step {}: “{}” is not possible here", line.step, line.label)));
        }
        builder.take(line)?;
    }
    match S::obstacle_of_scenario(scenario) {
        Some(needs) => Err(outside(0, needs)),
        None => Ok(builder.draft),
    }
}

/// From when until when something happened that may have set an instant, and its tick.
#[derive(Copy, Clone)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) tick: i64,
}

/// Reads a trace step by step.
pub struct Builder<'a, S: Driven> {
    pub(crate) scenario: &'a Scenario<S>,
    pub(crate) world: Observed<S>,
    /// The same at a fine resolution, with notes of origins.
    pub(super) fine: Scenario<S>,
    pub(super) twin: Observed<S>,
    /// In ticks.
    pub(crate) now: i64,
    /// What may have set an instant: the begin, and then each step.
    pub(super) origins: Vec<Span>,
    pub(crate) draft: Draft<S>,
    /// What the service has noted.
    pub(crate) memory: S::Memory,
    /// When the server has done something by itself that it may do late.
    pub(crate) unsettled: Vec<Bound>,
    /// The last instant, and the last one at the server.
    last: usize,
    pub(crate) last_at_server: Option<usize>,
}

impl<S: Driven> Builder<'_, S> {
    fn take(&mut self, line: &TraceStep<S>) -> Result<(), PlanError> {
        let twin = refined(&line.action, &self.twin, PARTS);
        if let Action::Advance(ticks) = line.action {
            self.now += ticks.count();
            self.world.step(self.scenario, &line.action);
            self.twin.step(&self.fine, &twin);
            return Ok(());
        }
        let event = S::at_server(&line.action);
        self.stay_inside(line, event)?;
        let start = self.instant();
        let mut end = start;
        if let Some(duration) = S::duration(self, event) {
            end = self.instant();
            self.at_least((start, 0), end, duration, Margin::None);
        }
        let before = self.last;
        self.keep_order(event, start, end);
        self.keep_bounds(&line.action, event, (before, start));
        self.fire(&line.action, start);
        S::constrain(self, &line.action, start);
        let step = PlannedStep {
            number: line.step,
            label: line.label.clone(),
            event,
            start,
            end,
            answers: answers(self.scenario, &self.world, &line.action),
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
        self.origins.push(Span { start, end, tick: self.now });
        S::note(self, &before, &happened.facts, place);
        self.note_origins(place + 1);
        Ok(())
    }

    fn instant(&mut self) -> usize {
        self.draft.instants += 1;
        self.draft.instants - 1
    }

    /// `to` is at least a number of ticks and milliseconds after another instant.
    pub(crate) fn at_least(&mut self, (from, ticks): (usize, i64), to: usize, room: i64, margin: Margin) {
        self.draft.edges.push(Edge { from, to, ticks, room, margin });
    }

    /// `at` is at most a number of ticks after another instant.
    pub(crate) fn at_most(&mut self, (from, ticks): (usize, i64), at: usize, margin: Margin) {
        self.draft.edges.push(Edge { from: at, to: from, ticks: -ticks, room: 0, margin });
    }

    /// What the server does next at once, nothing can come before.
    fn stay_inside(&self, line: &TraceStep<S>, event: AtServer<S>) -> Result<(), PlanError> {
        let (mut is_due, mut is_next) = (false, false);
        self.world.wakes(self.scenario, ProcessId::Server, &mut |timer, _| {
            if S::is_at_once(timer) {
                is_due = true;
                is_next |= line.action == Action::Wake { process: ProcessId::Server, timer };
            }
        });
        if event.is_at_server() && is_due && !is_next {
            let needs = Obstacle::InsideServer;
            return Err(PlanError::Hopeless(ReenactmentOutcome::Outside { step: line.step, needs }));
        }
        Ok(())
    }

    /// Steps stay in their order; those at the server are apart.
    fn keep_order(&mut self, event: AtServer<S>, start: usize, end: usize) {
        self.at_least((self.last, 0), start, 0, Margin::None);
        self.last = end;
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

    /// Every instant that has been set now is noted.
    fn note_origins(&mut self, origin: usize) {
        let mut note = Note { origin };
        let world = &mut self.twin.world;
        world.server.process.visit(&mut note);
        world.clients.iter_mut().for_each(|host| host.process.visit(&mut note));
        if self.scenario.synchrony.message_delay.is_some() {
            world.network.slots().iter_mut().for_each(|envelope| envelope.due.visit(&mut note));
            world.network.sort();
        }
    }
}

impl<S: Driven> Draft<S> {
    /// What an unsolvable schedule says about the execution.
    pub(super) fn refusal(&self, why: Unsolvable) -> ReenactmentOutcome {
        let steps = |instants: Vec<usize>| {
            let is_meant = |step: &&PlannedStep<S>| instants.contains(&step.start) || instants.contains(&step.end);
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
