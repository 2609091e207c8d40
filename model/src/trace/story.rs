//! Turning a trace into a story: the lane of each step, the messages, the owners on record and the clients that believe
//! to be inside.

use super::{Lasso, Trace};
use crate::finding::{Arrow, Story, StoryStep, Violation};
use crate::ids::{ClientId, ProcessId};
use crate::scenario::Scenario;
use crate::service::{Service, Settings as _};
use crate::world::{Action, Condition, Envelope, Fault, World};

/// Turns a trace into a story. Its actions must be possible: the trace comes from [`super::replay()`] or a recorder.
pub fn tell<P: Service>(trace: &Trace<P>) -> Story {
    let scenario = &trace.header.scenario;
    let mut world = scenario.observed();
    let names = Names::of(scenario, world.clients.len());
    let mut teller = Narrator { clients: world.clients.len(), under_way: Vec::new(), arrows: Vec::new() };
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
            label: names.said(&action.to_string()),
            kind: Some(action.kind()),
            facts: step.facts.iter().map(|fact| names.said(&fact.to_string())).collect(),
            lane: place_of(action).map(|process| teller.lane(process)),
            owners: record.owners.iter().map(|client| client.0).collect(),
            inside: inside(&world),
            token: record.token.0,
            down: condition(Condition::Down),
            paused: condition(Condition::Paused),
            violations: names.broken(&line.violations),
        });
    }
    let lasso = trace.header.lasso.as_ref();
    if let (Some(Lasso { property, message, .. }), Some(last)) = (lasso, steps.last_mut()) {
        last.violations.push(Violation { property: *property, message: names.said(message) });
    }
    for wait in &trace.header.waits {
        if let Some(step) = steps.get_mut(wait.step.wrapping_sub(1)) {
            step.violations.push(Violation { property: wait.property, message: names.said(&wait.message) });
        }
    }
    teller.arrows.iter_mut().for_each(|arrow| arrow.text = names.said(&arrow.text));
    let lanes = teller.lanes().iter().map(|lane| names.said(lane)).collect();
    Story { lanes, steps, arrows: teller.arrows, repeats_from: lasso.map(|lasso| lasso.from) }
}

/// The names of participants that are no contenders. Elsewhere they have numbers like clients.
struct Names(Vec<(String, String)>);

impl Names {
    /// The highest number first: `client 1` is a prefix of `client 12`.
    fn of<P: Service>(scenario: &Scenario<P>, participants: usize) -> Self {
        let all = (0..participants).rev().map(ClientId::of);
        Names(all.filter_map(|client| Some((client.to_string(), P::Settings::role(scenario, client)?))).collect())
    }

    fn said(&self, sentence: &str) -> String {
        self.0.iter().fold(sentence.to_owned(), |text, (number, role)| text.replace(number, role))
    }

    fn broken(&self, violations: &[Violation]) -> Vec<Violation> {
        let named =
            |violation: &Violation| Violation { property: violation.property, message: self.said(&violation.message) };
        violations.iter().map(named).collect()
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
        Action::Fault(Fault::Cut(_) | Fault::Heal(_)) | Action::Advance(_) | Action::Lose(_) | Action::Duplicate(_) => {
            None
        }
    }
}

struct Narrator<P: Service> {
    clients: usize,
    under_way: Vec<(Envelope<P>, usize)>,
    arrows: Vec<Arrow>,
}

impl<P: Service> Narrator<P> {
    /// Half of the clients on each side of server and resource would look nicer, but a fixed order is easier to read.
    fn lane(&self, process: ProcessId) -> usize {
        match process {
            ProcessId::Client(client) => client.place(),
            ProcessId::Server => self.clients,
            ProcessId::Resource => self.clients + 1,
        }
    }

    fn lanes(&self) -> Vec<String> {
        let clients = (0..self.clients).map(|place| ClientId::of(place).to_string());
        clients.chain(["server".to_owned(), "resource".to_owned()]).collect()
    }

    fn set_out(&mut self, step: usize, envelope: &Envelope<P>) {
        self.under_way.push((*envelope, self.arrows.len()));
        let (from, to) = (self.lane(envelope.from), self.lane(envelope.to));
        self.arrows.push(Arrow { from, to, text: envelope.message.to_string(), sent: step, ended: None, lost: false });
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
