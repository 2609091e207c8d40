//! Clocks, and the longest advance of time that keeps every bound on delays.

use super::{Condition, Envelope, World};
use crate::ids::ProcessId;
use crate::mutation::KernelMutation;
use crate::process::Process;
use crate::scenario::{Scenario, Synchrony};
use crate::service::Service;
use crate::time::{Instant, Ticks};

impl<P: Service> World<P> {
    /// The time of the process's own clock.
    pub fn clock(&self, process: ProcessId) -> Instant {
        self.now + self.skew(process)
    }

    /// The offset of its clock from true time.
    pub fn skew(&self, process: ProcessId) -> Ticks {
        match process {
            ProcessId::Client(client) => self.clients[client.place()].skew,
            ProcessId::Server => self.server.skew,
            ProcessId::Resource => Ticks::ZERO,
        }
    }

    pub(super) fn skew_mut(&mut self, process: ProcessId) -> &mut Ticks {
        match process {
            ProcessId::Client(client) => &mut self.clients[client.place()].skew,
            ProcessId::Server => &mut self.server.skew,
            ProcessId::Resource => panic!("the resource has no clock"),
        }
    }

    /// Reports each deadline of a process with the *true* instant from which it may fire.
    pub fn wakes(&self, scenario: &Scenario<P>, process: ProcessId, due: &mut dyn FnMut(P::Timer, Instant)) {
        let skew = self.skew(process);
        let mut name = |timer, at: Instant| due(timer, at - skew);
        match process {
            ProcessId::Client(client) => self.clients[client.place()].process.wakes(scenario, &mut name),
            ProcessId::Server => self.server.process.wakes(scenario, &mut name),
            ProcessId::Resource => {}
        }
    }

    /// Whether the bounds on delays do not apply to this message.
    fn is_excused(&self, scenario: &Scenario<P>, envelope: &Envelope<P>) -> bool {
        if scenario.is_mutated(KernelMutation::NoExcuse) {
            return false;
        }
        self.condition(envelope.to) == Condition::Paused || self.is_cut(envelope.link(), scenario)
    }

    /// Whether time cannot pass while this message is in flight.
    pub fn is_pressing(&self, scenario: &Scenario<P>, envelope: &Envelope<P>) -> bool {
        envelope.due.is_some_and(|due| due.0 <= self.now) && !self.is_excused(scenario, envelope)
    }

    /// The number of wake-ups of a process that time cannot pass without; a process that is not up has none.
    pub fn pressing_wakes(&self, scenario: &Scenario<P>, process: ProcessId) -> usize {
        let mut count = 0;
        if let Some(late) = scenario.wake_delay_of(process).filter(|_| self.condition(process) == Condition::Up) {
            self.wakes(scenario, process, &mut |_, due| count += usize::from(due + late <= self.now));
        }
        count
    }

    /// The maximum time that may pass before some event must have happened; `None` if there is no such bound. If the
    /// scenario bounds no delay, this reads no deadlines, however many there are.
    pub fn slack(&self, scenario: &Scenario<P>) -> Option<Ticks> {
        if scenario.synchrony == Synchrony::default() {
            return self.until_service_acts(scenario);
        }
        self.alarms(scenario, &mut |_, _| {})
    }

    /// The time until the service must act by its own deadline, independent of the scenario's bounds.
    fn until_service_acts(&self, scenario: &Scenario<P>) -> Option<Ticks> {
        let at = P::server_deadline(&self.server.process, &scenario.service)?;
        Some(at - self.clock(ProcessId::Server))
    }

    /// The time that may pass at once: until the next deadline of a process that is up, or until a bound on delays;
    /// `None` if neither lies ahead.
    pub fn until_deadline(&self, scenario: &Scenario<P>) -> Option<Ticks> {
        let mut next = self.slack(scenario);
        for process in self.processes().filter(|process| self.condition(*process) == Condition::Up) {
            self.wakes(scenario, process, &mut |_, due| {
                let left = due - self.now;
                if left > Ticks::ZERO {
                    next = Some(next.map_or(left, |next| next.min(left)));
                }
            });
        }
        next.filter(|left| *left > Ticks::ZERO)
    }

    /// Reports each deadline that has come, and returns how much time may pass; `None` if there is no limit.
    pub(super) fn alarms(&self, scenario: &Scenario<P>, fire: &mut dyn FnMut(ProcessId, P::Timer)) -> Option<Ticks> {
        let mut slack: Option<Ticks> = None;
        let mut press = |left: Ticks| slack = Some(slack.map_or(left, |slack| slack.min(left)));
        if scenario.synchrony.message_delay.is_some() {
            for envelope in self.network.iter().filter(|envelope| !self.is_excused(scenario, envelope)) {
                if let Some(due) = envelope.due {
                    press(due.0 - self.now);
                }
            }
        }
        for process in self.processes().filter(|process| self.condition(*process) == Condition::Up) {
            let late = scenario.wake_delay_of(process);
            self.wakes(scenario, process, &mut |timer, due| {
                if due <= self.now {
                    fire(process, timer);
                }
                if let Some(late) = late {
                    press(due + late - self.now);
                }
            });
        }
        if let Some(left) = self.until_service_acts(scenario) {
            press(left);
        }
        slack
    }
}

impl<P: Service> Scenario<P> {
    /// How much later than its deadline a process may wake up; `None` if there is no bound.
    fn wake_delay_of(&self, process: ProcessId) -> Option<Ticks> {
        match process {
            ProcessId::Client(_) if self.is_mutated(KernelMutation::WakeDelayUnbounded) => None,
            ProcessId::Client(_) => self.synchrony.wake_delay,
            _ if self.is_mutated(KernelMutation::ServerDelayOfClients) => self.synchrony.wake_delay,
            _ => self.synchrony.server_delay,
        }
    }
}
