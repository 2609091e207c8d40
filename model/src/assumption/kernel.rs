//! What the kernel declares of time, clocks and fairness, and the mutation if there is one.

use super::{Assumption, AssumptionValue, Class, Declarations, Scope};
use crate::action_kind::ActionKind;
use crate::assumption::{fairness, timing};
use crate::scenario::{Drift, Fairness, Replies, Scenario};
use crate::service::Service;
use crate::service_fault::{Nature, ServiceFault};
use crate::time::Ticks;

fn timing(kind: &'static str, source: &'static str, sentence: String) -> Assumption {
    Assumption::new(Class::Timing, kind, source, sentence)
}

impl<P: Service> Scenario<P> {
    pub(super) fn declare_mutation(&self, list: &mut Declarations<P>) {
        let Some(mutation) = self.mutation else { return };
        let sentence =
            format!("MUTANT: the model has the fault “{}” built in on purpose", mutation.about().trim_end_matches('.'));
        let assumption =
            Assumption::new(Class::Mutation, "mutation", "mutation", sentence).of(mutation.name().as_str());
        list.declare(assumption, move |execution| match execution.scenario.mutation == Some(mutation) {
            true => Ok(()),
            false => Err("the execution is not one of this mutant".to_owned()),
        });
    }

    pub(super) fn declare_programs(&self, list: &mut Declarations<P>) {
        let mut names: Vec<String> = self.programs.iter().map(|program| program.name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            return;
        }
        let sentence = format!(
            "programs are deterministic, and compare ids for equality only: `{}` (runs are compared with each other)",
            names.join("`, `")
        );
        let deterministic = Assumption::new(Class::Limit, "deterministic-programs", "program", sentence);
        list.leave_out(deterministic.of(names.into_iter().collect::<AssumptionValue>()));
        let third_parties =
            self.programs.iter().filter(|program| program.client.is_some_and(|one| one.0 > self.clients));
        for program in third_parties {
            let sentence = format!("`{}` takes part, and begins as {}", program.name, program.head);
            let assumption = Assumption::new(Class::Limit, "third-party", "program", sentence);
            list.leave_out(assumption.of(program.name.as_str()));
        }
    }

    pub(super) fn declare_timing(&self, list: &mut Declarations<P>) {
        if let Some(tick) = self.tick {
            list.leave_out(timing("tick", "tick", format!("a tick is {tick}")).of(tick.to_string().as_str()));
        }
        match self.synchrony.message_delay {
            Some(bound) => {
                let sentence = format!("message delay is at most {bound}");
                let assumption = timing("message-delay", "synchrony.message_delay", sentence).of(bound);
                list.declare(assumption, move |execution| timing::messages_arrive_within(execution, bound));
            }
            None => list.leave_out(timing(
                "asynchronous-network",
                "synchrony.message_delay",
                "message delay is unbounded (asynchronous network)".to_owned(),
            )),
        }
        if self.network.replies == Replies::Instant {
            let sentence = "a response takes no time".to_owned();
            list.declare(timing("instant-responses", "network.replies", sentence), timing::answers_are_instant);
        }
        match self.synchrony.wake_delay {
            Some(bound) => {
                let sentence = format!("a client's wake-up is late by at most {bound}");
                list.declare(timing("wake-delay", "synchrony.wake_delay", sentence).of(bound), move |execution| {
                    timing::wakes_are_late_by(execution, bound, |process| process.client().is_some())
                });
            }
            None => list.leave_out(timing(
                "unbounded-wakes",
                "synchrony.wake_delay",
                "the delay of wake-ups is unbounded".to_owned(),
            )),
        }
        if let Some(bound) = self.synchrony.server_delay {
            let sentence = format!("a deadline of the servers is late by at most {bound}");
            list.declare(timing("server-delay", "synchrony.server_delay", sentence).of(bound), move |execution| {
                timing::wakes_are_late_by(execution, bound, |process| process.client().is_none())
            });
        }
        self.declare_clocks(list);
    }

    fn declare_clocks(&self, list: &mut Declarations<P>) {
        let bound = self.clocks.skew;
        let jumps = |(kind, declared): (usize, &crate::service_fault::FaultKind)| {
            (declared.nature == Nature::Clock && self.budget.affords(kind)).then_some(declared.budget)
        };
        let jumps: Vec<&str> = P::Fault::KINDS.iter().enumerate().filter_map(jumps).collect();
        let except = if jumps.is_empty() { String::new() } else { format!(", but for `{}`", jumps.join("`, `")) };
        let assumption = match bound {
            Ticks::ZERO if self.clocks.offsets.is_empty() => {
                timing("clock-rates", "clocks.skew", format!("clocks run at the same rate{except}"))
            }
            Ticks::ZERO => {
                let sentence = format!("clocks run at the same rate, from different starts{except}");
                timing("clock-rates", "clocks.offsets", sentence)
            }
            skew if self.clocks.drift == Drift::SlowClients => {
                let (step, rate) = (self.clocks.step, self.told_clock_rate().unwrap_or_default());
                let sentence = format!(
                    "clients' clocks are slower: each falls behind by at most {skew} in the whole execution, {step} at a time{rate}; rates are explored at this resolution{except}"
                );
                list.declare(timing("slow-clients", "clocks.drift", "no other clock drifts".to_owned()), |execution| {
                    timing::clocks_fall_behind(execution)
                });
                timing("clock-skew", "clocks.skew", sentence)
            }
            skew if self.clocks.offsets.is_empty() => timing(
                "clock-skew",
                "clocks.skew",
                format!("clocks are apart from true time by at most {skew}{except}"),
            ),
            skew => timing(
                "clock-skew",
                "clocks.skew",
                format!("clocks move by at most {skew} from where they start{except}"),
            ),
        };
        let start = self.clone();
        list.declare(assumption.of(bound), move |execution| timing::clocks_stay_within(execution, &start, bound));
    }

    pub(super) fn declare_fairness(&self, list: &mut Declarations<P>) {
        let Fairness { weak, strong } = &self.fairness;
        let names = |kinds: &[ActionKind]| kinds.iter().map(|kind| kind.name().to_owned()).collect::<Vec<_>>();
        let unfair: Vec<ActionKind> =
            ActionKind::FAIR.into_iter().filter(|kind| !weak.contains(kind) && !strong.contains(kind)).collect();
        if !weak.is_empty() {
            let sentence = format!("weakly fair: {}", names(weak).join(", "));
            let value: AssumptionValue = names(weak).into_iter().collect();
            let (assumption, kinds) =
                (Assumption::new(Class::Fairness, "weak-fairness", "fairness.weak", sentence).of(value), weak.clone());
            list.declare_for(Scope::Endless, assumption, move |run| fairness::is_fair(run, &kinds, false));
        }
        if !strong.is_empty() {
            let sentence = format!("strongly fair: {}", names(strong).join(", "));
            let value: AssumptionValue = names(strong).into_iter().collect();
            let (assumption, kinds) = (
                Assumption::new(Class::Fairness, "strong-fairness", "fairness.strong", sentence).of(value),
                strong.clone(),
            );
            list.declare_for(Scope::Endless, assumption, move |run| fairness::is_fair(run, &kinds, true));
        }
        if !unfair.is_empty() {
            let sentence = format!("not fair, so it may never happen: {}", names(&unfair).join(", "));
            let value: AssumptionValue = names(&unfair).into_iter().collect();
            let assumption = Assumption::new(Class::Fairness, "no-fairness", "fairness", sentence).of(value);
            list.leave_out_for(Scope::Endless, assumption);
        }
    }
}
