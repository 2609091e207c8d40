//! What goes wrong, and when: faults of the budget, and processes and links that stand still.

use fencepost_model::action_kind::ActionKind;
use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::scenario::{Cap, Scenario, UNLIMITED};
use fencepost_model::service::Service;
use fencepost_model::service_fault::{Nature, ServiceFault};
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::world::{Action, Fault, Link, World};

use super::super::agenda::PlannedAction;
use super::Realistic;
use super::detector::false_alarm;
use crate::swarm::Swarm;

impl<P: Service> Realistic<P> {
    pub(super) fn plan_faults(&mut self, world: &World<P>, swarm: Option<&Swarm>, storm: Ticks) {
        let budget = world.left;
        // Where there is detector, it alone is wrong about nodes.
        let is_left_to_detector = |cap: &Cap| {
            self.detector.is_some() && cap.among(P::Fault::KINDS).all(|kind| kind.nature == Nature::WrongVerdict)
        };
        let of_service = budget.caps().filter(|cap| cap.at_most != UNLIMITED && !is_left_to_detector(cap));
        let of_service = of_service.fold(0_u8, |sum, cap| sum.saturating_add(cap.at_most));
        let slips = if self.profile.drift.is_some() { 0 } else { budget.slips };
        let span = u64::try_from(storm.count()).unwrap_or(0).max(1);
        for (count, kind) in [
            (budget.losses, ActionKind::Lose),
            (budget.duplicates, ActionKind::Duplicate),
            (budget.crashes, ActionKind::Crash),
            (budget.pauses, ActionKind::Pause),
            (budget.cuts, ActionKind::Cut),
            (slips, ActionKind::Slip),
            (budget.operator, ActionKind::Operator),
            (of_service, ActionKind::ServiceFault),
            (budget.resource_restarts, ActionKind::ResourceRestart),
        ] {
            let count = if swarm.is_none_or(|swarm| swarm.has(kind)) { count } else { 0 };
            for _ in 0..count {
                let at = i64::try_from(self.faults.below(span)).expect("the storm's length fits");
                self.agenda.plan(world.now + Ticks::new(at), PlannedAction::Fault(kind));
            }
        }
    }

    pub(super) fn fault(&mut self, scenario: &Scenario<P>, world: &World<P>, kind: ActionKind) -> Option<Action<P>> {
        scenario.enabled(world, &mut self.enabled);
        let has_detector = self.detector.is_some();
        self.enabled.retain(|action| action.kind() == kind && !(has_detector && false_alarm(action).is_some()));
        let action = self.faults.pick(&self.enabled);
        if action.is_none() && !self.is_calm {
            // Nothing of the kind can happen at the moment: it waits for its chance.
            self.agenda.plan(world.now + Ticks::new((self.refinement / 4).max(1)), PlannedAction::Fault(kind));
        }
        action
    }

    pub(super) fn plan_stall(&mut self, now: Instant) {
        let wait = self.profile.stall_every.draw(self.refinement, &mut self.stalls);
        self.agenda.plan(now + wait, PlannedAction::Stall);
    }

    pub(super) fn stall(&mut self, world: &World<P>) {
        let count = u64::try_from(self.asleep_until.len()).expect("a length fits");
        let sleeper = usize::try_from(self.stalls.below(count)).expect("an index fits");
        let until = world.now + self.profile.stall.draw(self.refinement, &mut self.stalls);
        self.asleep_until[sleeper] = until;
        if let Some(detector) = &mut self.detector {
            let is_client = sleeper < world.clients.len();
            let process = if is_client { ProcessId::Client(ClientId::of(sleeper)) } else { ProcessId::Server };
            detector.sleep(process, until, world.now);
        }
        self.plan_stall(world.now);
    }

    pub(super) fn plan_clog(&mut self, now: Instant) {
        let wait = self.profile.stall_every.draw(self.refinement, &mut self.clogs);
        self.agenda.plan(now + wait, PlannedAction::Clog);
    }

    /// Some direction between a client and the server, or the resource, stands still for as long as a process would.
    pub(super) fn clog(&mut self, world: &World<P>) {
        let clients = u64::try_from(world.clients.len()).expect("a length fits");
        let client = usize::try_from(self.clogs.below(clients)).expect("an index fits");
        let client = ProcessId::Client(ClientId::of(client));
        let peer = if self.clogs.below(3) == 0 { ProcessId::Resource } else { ProcessId::Server };
        let link =
            if self.clogs.below(3) == 0 { Link { from: peer, to: client } } else { Link { from: client, to: peer } };
        let until = world.now + self.profile.stall.draw(self.refinement, &mut self.clogs);
        self.clogged_until.insert(link, until);
        self.plan_clog(world.now);
    }

    /// Plans anew what a process that stands still cannot do yet.
    pub(super) fn puts_off(&mut self, world: &World<P>, process: ProcessId, plan: PlannedAction<P>) -> bool {
        let until = match process {
            ProcessId::Client(client) => self.asleep_until[client.place()],
            ProcessId::Server => self.asleep_until[world.clients.len()],
            ProcessId::Resource => return false,
        };
        let is_asleep = until > world.now;
        if is_asleep {
            self.agenda.plan(until, plan);
        }
        is_asleep
    }

    /// What mends a fault comes after it.
    pub(super) fn plan_mending(&mut self, now: Instant, fault: Fault<P>) {
        let kind = match fault {
            Fault::Crash(_) => ActionKind::Restart,
            Fault::Pause(_) => ActionKind::Resume,
            Fault::Cut(_) => ActionKind::Heal,
            Fault::Restart(_) | Fault::Resume(_) | Fault::Heal(_) | Fault::Service(_) | Fault::RestartResource => {
                return;
            }
        };
        let after = self.profile.mending.draw(self.refinement, &mut self.faults);
        self.agenda.plan(now + after, PlannedAction::Fault(kind));
    }

    /// A bound on lateness presses: something that is due happens now, although its plan is for later.
    pub(super) fn urgent(&mut self, scenario: &Scenario<P>, world: &World<P>) -> Option<Action<P>> {
        scenario.enabled(world, &mut self.enabled);
        self.enabled.retain(|action| matches!(action, Action::Deliver(_) | Action::Wake { .. }));
        self.faults.pick(&self.enabled)
    }
}
