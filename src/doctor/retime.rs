//! A counterexample in ticks, repeated in exact durations. Its actions come in the same order, at the instants that a [`Pace`] says.
//! What the small scenario leaves out, such as renewals, happens as late as it may. The exact scenario accepts each step, or there is
//! no counterexample.

use fencepost_model::ids::ProcessId;
use fencepost_model::monitor::Observed;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Ticks;
use fencepost_model::trace::{Recorder, Trace, replay};
use fencepost_model::world::{Action, Envelope};

use crate::asked::SmallScenario;
use crate::pace::Pace;
use crate::promise::judged;

/// The same execution in the exact scenario, at this pace; none if it cannot happen there, or breaks nothing.
pub(crate) fn retimed<S: SmallScenario>(
    small: &Trace<S::Service>,
    exact: &Scenario<S::Service>,
    pace: &Pace,
) -> Option<Trace<S::Service>> {
    let mut run = Retiming::<S> { exact, world: exact.observed(), recorder: Recorder::default(), is_broken: false };
    let (mut ticks, mut heard) = (0, 0);
    for line in &small.steps {
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
                    heard += u32::from(S::is_created(&envelope.message));
                    let is_late = wanted.due.is_some_and(|due| due.0.ticks() <= ticks);
                    if let Some(instant) = pace.arrival(is_late, S::is_created(&envelope.message).then_some(heard)) {
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

struct Retiming<'a, S: SmallScenario> {
    exact: &'a Scenario<S::Service>,
    world: Observed<S::Service>,
    recorder: Recorder<S::Service>,
    is_broken: bool,
}

impl<S: SmallScenario> Retiming<'_, S> {
    fn take(&mut self, action: &Action<S::Service>) {
        let step = self.recorder.step(self.exact, &mut self.world, action);
        let property = judged(self.exact).property;
        self.is_broken |= step.violations.iter().any(|violation| violation.property == property);
    }

    /// What does the same in the exact scenario. Messages are told apart by what is asked or answered, and not by the durations and
    /// values that they carry: a session's terms are others there.
    fn counterpart(&self, action: &Action<S::Service>) -> Option<Action<S::Service>> {
        let Action::Deliver(wanted) = action else { return self.exact.like(&self.world, action) };
        let is_alike = |envelope: &&Envelope<S::Service>| {
            (envelope.to, envelope.from) == (wanted.to, wanted.from) && S::is_alike(&envelope.message, &wanted.message)
        };
        let found = self.world.network.iter().find(is_alike).map(|envelope| Action::Deliver(*envelope));
        found.filter(|action| self.exact.is_enabled(&self.world, action))
    }

    /// The counterpart of an action that a recipe takes after a read, which the small scenario leaves out (C-LCK-3): the client's reads
    /// and their answers arrive first, at the same instant.
    fn after_reads(&mut self, action: &Action<S::Service>) -> Option<Action<S::Service>> {
        let Action::Deliver(wanted) = action else { return None };
        let client = wanted.from.client().or(wanted.to.client())?;
        for _ in 0..READS_MAX {
            let is_read = |envelope: &&Envelope<S::Service>| {
                let is_own = envelope.from == client.into() || envelope.to == client.into();
                is_own && S::leaves_out(&envelope.message)
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
    fn overdue(&self) -> Option<Action<S::Service>> {
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

/// The maximum number of messages of reads that are put in before one action.
const READS_MAX: u32 = 8;

/// The maximum number of steps that are put in for one passage of time.
const FORCED_MAX: u32 = 1_000;
