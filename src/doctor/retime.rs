//! A counterexample in ticks, repeated in exact durations. Its actions come in the same order, at the instants that a [`Pace`] says.
//! What the small scenario leaves out, such as renewals, happens as late as it may. The exact scenario accepts each step, or there is
//! no counterexample.

use std::mem::{Discriminant, discriminant};

use fencepost_consul::{Answer, Consul, ConsulMessage, Request};
use fencepost_model::ids::ProcessId;
use fencepost_model::monitor::Observed;
use fencepost_model::process::Message;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Ticks;
use fencepost_model::trace::{Recorder, Trace, replay};
use fencepost_model::world::{Action, Envelope};

use crate::pace::Pace;
use crate::promise::judged;

/// The same execution in the exact scenario, at this pace; none if it cannot happen there, or breaks nothing.
pub(crate) fn retimed(coarse: &Trace<Consul>, exact: &Scenario<Consul>, pace: &Pace) -> Option<Trace<Consul>> {
    let mut run = Retiming { exact, world: exact.observed(), recorder: Recorder::default(), is_broken: false };
    let (mut ticks, mut heard) = (0, 0);
    for line in &coarse.steps {
        match line.action {
            Action::Advance(more) => {
                ticks += more.count();
                run.advance(Ticks::new(pace.at(ticks) - run.world.now.ticks()))?;
            }
            action => {
                // What has happened already, because it could not wait for so long, does not happen again.
                let Some(mut counterpart) = run.counterpart(&action).or_else(|| run.after_reads(&action)) else {
                    continue;
                };
                if let (Action::Deliver(envelope), Action::Deliver(wanted)) = (counterpart, action) {
                    heard += u32::from(is_created(&envelope.message));
                    let is_late = wanted.due.is_some_and(|due| due.0.ticks() <= ticks);
                    if let Some(instant) = pace.arrival(is_late, is_created(&envelope.message).then_some(heard)) {
                        let due = envelope.due.map_or(instant, |due| due.0.ticks().min(instant));
                        run.advance(Ticks::new(due - run.world.now.ticks()))?;
                        let Some(now) = run.counterpart(&action) else { continue };
                        counterpart = now;
                    }
                }
                run.take(&counterpart);
            }
        }
        if run.is_broken {
            let trace = run.recorder.finish(exact, "doctor", None);
            return replay(&trace).ok();
        }
    }
    None
}

struct Retiming<'a> {
    exact: &'a Scenario<Consul>,
    world: Observed<Consul>,
    recorder: Recorder<Consul>,
    is_broken: bool,
}

impl Retiming<'_> {
    fn take(&mut self, action: &Action<Consul>) {
        let step = self.recorder.step(self.exact, &mut self.world, action);
        let property = judged(self.exact).property;
        self.is_broken |= step.violations.iter().any(|violation| violation.property == property);
    }

    /// What does the same in the exact scenario. Messages are told apart by what is asked or answered, and not by the durations and
    /// values that they carry: a session's terms are others there.
    fn counterpart(&self, action: &Action<Consul>) -> Option<Action<Consul>> {
        let Action::Deliver(wanted) = action else { return self.exact.like(&self.world, action) };
        let is_alike = |envelope: &&Envelope<Consul>| {
            (envelope.to, envelope.from) == (wanted.to, wanted.from) && kind(&envelope.message) == kind(&wanted.message)
        };
        let found = self.world.network.iter().find(is_alike).map(|envelope| Action::Deliver(*envelope));
        found.filter(|action| self.exact.is_enabled(&self.world, action))
    }

    /// The counterpart of an action that a recipe takes after a read, which the small scenario leaves out (C-LCK-3): the client's reads
    /// and their answers arrive first, at the same instant.
    fn after_reads(&mut self, action: &Action<Consul>) -> Option<Action<Consul>> {
        let Action::Deliver(wanted) = action else { return None };
        let client = wanted.from.client().or(wanted.to.client())?;
        for _ in 0..READS_MAX {
            let is_read = |envelope: &&Envelope<Consul>| {
                let is_own = envelope.from == client.into() || envelope.to == client.into();
                is_own && is_of_read(&envelope.message)
            };
            let read = self.world.network.iter().find(is_read).map(|envelope| Action::Deliver(*envelope));
            let read = read.filter(|action| self.exact.is_enabled(&self.world, action))?;
            self.take(&read);
            if let Some(counterpart) = self.counterpart(action) {
                return Some(counterpart);
            }
        }
        None
    }

    /// Lets so much time pass; what cannot be put off for so long happens on the way, in the last instant.
    fn advance(&mut self, by: Ticks) -> Option<()> {
        let mut left = by;
        let mut forced = 0;
        while left > Ticks::ZERO {
            let most = self.world.slack(self.exact).map_or(left, |slack| slack.min(left));
            if most > Ticks::ZERO {
                self.take(&Action::Advance(most));
                left = left - most;
                continue;
            }
            forced += 1;
            if forced > FORCED_MAX {
                return None;
            }
            let action = self.overdue()?;
            self.take(&action);
        }
        Some(())
    }

    /// Something that cannot wait: a deadline of a client that is as late as it may be, or a message.
    fn overdue(&self) -> Option<Action<Consul>> {
        let late = self.exact.synchrony.wake_delay?;
        let mut found = None;
        for process in self.world.processes().filter(|process| matches!(process, ProcessId::Client(_))) {
            self.world.wakes(self.exact, process, &mut |timer, due| {
                if due + late <= self.world.now && found.is_none() {
                    found = Some(Action::Wake { process, timer });
                }
            });
        }
        let is_due = |due: Option<fencepost_model::time::Deadline>| due.is_some_and(|due| due.is_due(self.world.now));
        let message = || {
            self.world.network.iter().find(|envelope| is_due(envelope.due)).map(|envelope| Action::Deliver(*envelope))
        };
        found.or_else(message).filter(|action| self.exact.is_enabled(&self.world, action))
    }
}

fn is_created(message: &Message<Consul>) -> bool {
    matches!(message, Message::Service(ConsulMessage::Response(_, Answer::Created(_))))
}

/// What a message asks or answers.
fn kind(message: &Message<Consul>) -> (u8, Option<Discriminant<Request>>, Option<Discriminant<Answer>>, bool) {
    match message {
        Message::Service(ConsulMessage::Request(_, request)) => (0, Some(discriminant(request)), None, false),
        Message::Service(ConsulMessage::Response(_, answer)) => {
            (1, None, Some(discriminant(answer)), *answer == Answer::Done(true))
        }
        Message::Write(_) => (2, None, None, false),
        Message::Written { accepted, .. } => (3, None, None, *accepted),
        Message::Service(ConsulMessage::Order(..) | ConsulMessage::OrderDone(..))
        | Message::Read(_)
        | Message::Version { .. }
        | Message::NextItem { .. }
        | Message::QueueItem { .. } => (4, None, None, false),
    }
}

/// Whether a message is a read of a key or of a listing, or the answer to one.
fn is_of_read(message: &Message<Consul>) -> bool {
    match message {
        Message::Service(ConsulMessage::Request(_, request)) => {
            matches!(request, Request::Get(_) | Request::Watch(_) | Request::List)
        }
        Message::Service(ConsulMessage::Response(_, answer)) => {
            matches!(answer, Answer::Found(_) | Answer::Absent | Answer::Listed(_))
        }
        _ => false,
    }
}

/// The maximum number of messages of reads that are put in before one action.
const READS_MAX: u32 = 8;

/// The maximum number of steps that are put in for one passage of time.
const FORCED_MAX: u32 = 1_000;
