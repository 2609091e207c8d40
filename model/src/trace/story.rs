//! Turning a trace into a story: the lane of each step, the messages, the owners on record and the clients that believe
//! to be inside.

use std::collections::BTreeMap;

use super::wording::Wording;
use super::{Lasso, Trace};
use crate::finding::{Arrow, Story, StoryStep, Violation};
use crate::ids::{Call, ClientId, ProcessId, RawId};
use crate::service::Service;
use crate::units::in_units;
use crate::world::{Action, Condition, Envelope, Fault, World};

/// Turns a trace into a story. Its actions must be possible: the trace comes from [`super::replay()`] or a recorder.
pub fn tell<P: Service>(trace: &Trace<P>) -> Story {
    let scenario = &trace.header.scenario;
    let mut world = scenario.observed();
    let wording = Wording::new(scenario, world.clients.len());
    let named = |violation: &Violation| Violation { message: wording.sentence(&violation.message), ..*violation };
    let mut teller = Narrator::new(&wording, world.clients.len());
    let mut steps: Vec<StoryStep> = Vec::new();
    for (place, line) in trace.steps.iter().enumerate() {
        let action = &line.action;
        teller.arrive(place, action);
        let step = world.step(scenario, action);
        step.sent.iter().for_each(|envelope| teller.set_out(place, envelope));
        step.dropped.iter().for_each(|envelope| teller.end(place, envelope, true));
        let record = P::record(&world.server.process, scenario);
        let condition = |wanted: Condition| {
            world
                .processes()
                .filter(|process| world.condition(*process) == wanted)
                .map(|process| teller.lane(process))
                .collect()
        };
        steps.push(StoryStep {
            at: line.at.ticks(),
            label: wording.action(action),
            kind: Some(action.kind()),
            facts: step.facts.iter().map(|fact| wording.fact(fact)).collect(),
            lane: place_of(action).map(|process| teller.lane(process)),
            owners: record.owners.iter().map(|client| client.0).collect(),
            inside: inside(&world),
            token: record.token.raw(),
            down: condition(Condition::Down),
            paused: condition(Condition::Paused),
            violations: line.violations.iter().map(named).collect(),
        });
    }
    let lasso = trace.header.lasso.as_ref();
    if let (Some(Lasso { property, message, .. }), Some(last)) = (lasso, steps.last_mut()) {
        last.violations.push(Violation { property: *property, message: wording.sentence(message) });
    }
    for wait in &trace.header.waits {
        if let Some(step) = steps.get_mut(wait.step.wrapping_sub(1)) {
            step.violations.push(Violation { property: wait.property, message: wording.sentence(&wait.message) });
        }
    }
    Story {
        held: wording.held(),
        lanes: teller.lanes(),
        begins_after: match scenario.tick {
            Some(tick) => scenario.prefix.iter().map(|label| in_units(label, tick)).collect(),
            None => scenario.prefix.clone(),
        },
        tick: scenario.tick,
        steps,
        arrows: teller.arrows,
        repeats_from: lasso.map(|lasso| lasso.from),
        is_not_known_shortest: false,
    }
}

fn inside<P: Service>(world: &World<P>) -> Vec<u16> {
    world.inside().map(|client| client.0).collect()
}

/// The lane of an action.
fn place_of<P: Service>(action: &Action<P>) -> Option<ProcessId> {
    match action {
        Action::Command { client, .. } => Some(ProcessId::Client(*client)),
        Action::Deliver(envelope) => Some(envelope.to),
        Action::Wake { process, .. } | Action::Slip { process, .. } => Some(*process),
        Action::Operator(_) | Action::Fault(Fault::Service(_)) => Some(ProcessId::Server),
        Action::Choose { process, .. } => Some(*process),
        Action::Fault(Fault::Crash(client) | Fault::Restart(client)) => Some(ProcessId::Client(*client)),
        Action::Fault(Fault::Pause(process) | Fault::Resume(process)) => Some(*process),
        Action::Fault(Fault::RestartResource) => Some(ProcessId::Resource),
        Action::Fault(Fault::Cut(_) | Fault::Heal(_)) | Action::Advance(_) | Action::Lose(_) | Action::Duplicate(_) => {
            None
        }
    }
}

struct Narrator<'a, P: Service> {
    wording: &'a Wording<'a, P>,
    clients: usize,
    under_way: Vec<(Envelope<P>, usize)>,
    arrows: Vec<Arrow>,
    requests: Requests,
}

/// The text of each request, by sender, receiver and number.
#[derive(Default)]
struct Requests(BTreeMap<(ProcessId, ProcessId, Call), String>);

impl Requests {
    /// The request that a message answers: it has the same number and went the other way. A message without one is a request itself.
    fn answered(&mut self, from: ProcessId, to: ProcessId, call: Call, text: &str) -> Option<String> {
        let answered = self.0.get(&(to, from, call)).cloned();
        if answered.is_none() {
            self.0.insert((from, to, call), text.to_owned());
        }
        answered
    }
}

impl<'a, P: Service> Narrator<'a, P> {
    fn new(wording: &'a Wording<'a, P>, clients: usize) -> Self {
        Narrator { wording, clients, under_way: Vec::new(), arrows: Vec::new(), requests: Requests::default() }
    }

    /// Half of the clients on each side of server and resource would look nicer, but a fixed order is easier to read.
    fn lane(&self, process: ProcessId) -> usize {
        match process {
            ProcessId::Client(client) => client.place(),
            ProcessId::Server => self.clients,
            ProcessId::Resource => self.clients + 1,
        }
    }

    fn lanes(&self) -> Vec<String> {
        let clients = (0..self.clients).map(|place| self.wording.sentence(&ClientId::of(place).to_string()));
        clients.chain([self.wording.lane(), "resource".to_owned()]).collect()
    }

    fn set_out(&mut self, step: usize, envelope: &Envelope<P>) {
        self.under_way.push((*envelope, self.arrows.len()));
        let (from, to) = (self.lane(envelope.from), self.lane(envelope.to));
        let text = self.wording.message(&envelope.message);
        let call = envelope.message.call();
        let answers = call.and_then(|call| self.requests.answered(envelope.from, envelope.to, call, &text));
        self.arrows.push(Arrow { from, to, text, answers, sent: step, ended: None, lost: false });
    }

    fn arrive(&mut self, step: usize, action: &Action<P>) {
        match action {
            Action::Deliver(envelope) => self.end(step, envelope, false),
            Action::Lose(envelope) => self.end(step, envelope, true),
            _ => {}
        }
    }

    fn end(&mut self, step: usize, envelope: &Envelope<P>, lost: bool) {
        let place = self.under_way.iter().position(|(other, _)| other == envelope);
        let Some((_, arrow)) = place.map(|place| self.under_way.remove(place)) else { return };
        (self.arrows[arrow].ended, self.arrows[arrow].lost) = (Some(step), lost);
    }
}
