//! Budgets of faults as assumptions: a separate assumption for each kind, the effect of a cut link, and the absence of
//! other faults.

use super::{Assumption, AssumptionValue, Class, Declarations, Execution};
use crate::ids::ProcessId;
use crate::scenario::{Budget, Cap, Cutting, Scenario, UNLIMITED, Ways};
use crate::service::{Service, Settings as _};
use crate::service_fault::ServiceFault;
use crate::world::{Action, Fault};

type Checked = Result<(), String>;

/// A kind of fault that every service has: the name of its budget, a phrase for one such fault, and its cost.
struct Common<P: Service> {
    name: &'static str,
    kind: &'static str,
    one: &'static str,
    count: fn(&Budget) -> u8,
    cost: fn(&Action<P>, &Scenario<P>) -> u8,
}

impl<P: Service> Common<P> {
    const ALL: [Common<P>; 9] = [
        Common {
            name: "losses",
            kind: "losses",
            one: "lost message",
            count: |budget| budget.losses,
            cost: |action, _| u8::from(matches!(action, Action::Lose(_))),
        },
        Common {
            name: "duplicates",
            kind: "duplicates",
            one: "duplicated message",
            count: |budget| budget.duplicates,
            cost: |action, _| u8::from(matches!(action, Action::Duplicate(_))),
        },
        Common {
            name: "crashes",
            kind: "crashes",
            one: "crash of a client",
            count: |budget| budget.crashes,
            cost: |action, _| u8::from(matches!(action, Action::Fault(Fault::Crash(_)))),
        },
        Common {
            name: "restarts",
            kind: "restarts",
            one: "restart of a client",
            count: |budget| budget.restarts,
            cost: |action, _| u8::from(matches!(action, Action::Fault(Fault::Restart(_)))),
        },
        Common {
            name: "pauses",
            kind: "pauses",
            one: "pause of a process, of any length",
            count: |budget| budget.pauses,
            cost: |action, _| u8::from(matches!(action, Action::Fault(Fault::Pause(_)))),
        },
        Common {
            name: "cuts",
            kind: "cuts",
            one: "cut link",
            count: |budget| budget.cuts,
            cost: |action, _| u8::from(matches!(action, Action::Fault(Fault::Cut(_)))),
        },
        Common {
            name: "slips",
            kind: "slips",
            one: "clock slip",
            count: |budget| budget.slips,
            cost: |action, _| u8::from(matches!(action, Action::Slip { .. })),
        },
        Common {
            name: "operator",
            kind: "operator-actions",
            one: "operator action",
            count: |budget| budget.operator,
            cost: |action, scenario| match action {
                Action::Operator(operator_action) => scenario.service.operator_cost(*operator_action),
                _ => 0,
            },
        },
        Common {
            name: "resource_restarts",
            kind: "resource-restarts",
            one: "restart of the resource, which forgets what it compares with",
            count: |budget| budget.resource_restarts,
            cost: |action, _| u8::from(matches!(action, Action::Fault(Fault::RestartResource))),
        },
    ];
}

/// The maximum number of faults, in words.
fn at_most(count: u8, what: &str) -> String {
    match count {
        UNLIMITED => format!("any number of times: {what}"),
        count => format!("at most {count} × {what}"),
    }
}

impl<P: Service> Scenario<P> {
    pub(super) fn declare_faults(&self, list: &mut Declarations<P>) {
        if self.budget.cuts > 0 {
            let ways = if self.network.ways == Ways::Both { "in both directions" } else { "in one direction" };
            let fate = if self.network.cuts == Cutting::Drop { "loses" } else { "holds back" };
            let sentence = format!("a cut link {fate} the messages on it, {ways}");
            let (links, whole) = (self.network, self.clone());
            let value: AssumptionValue = [format!("{:?}", links.cuts), format!("{:?}", links.ways)]
                .map(|name| name.to_lowercase())
                .into_iter()
                .collect();
            list.declare(
                Assumption::new(Class::Budget, "cut-links", "network", sentence).of(value),
                move |execution| cut_links(execution, &whole),
            );
        }
        for common in Common::<P>::ALL {
            let count = (common.count)(&self.budget);
            if count == 0 {
                continue;
            }
            let source = format!("budget.{}", common.name);
            let what = Assumption::new(Class::Budget, common.kind, source, at_most(count, common.one));
            list.declare(what.of(i64::from(count)), move |execution| {
                let costs = execution.moments().map(|it| u32::from((common.cost)(it.action, &execution.scenario)));
                within(costs.sum(), count, common.one)
            });
        }
        for cap in self.budget.caps() {
            let names: Vec<&str> = cap.among(P::Fault::KINDS).map(|kind| kind.one).collect();
            let budgets: Vec<String> = cap.among(P::Fault::KINDS).map(|kind| kind.budget.to_owned()).collect();
            let assumption = if cap.is_shared() {
                let sentence = format!("{}, counted together", at_most(cap.at_most, &names.join(" or ")));
                let value: AssumptionValue = budgets.into_iter().chain([cap.at_most.to_string()]).collect();
                Assumption::new(Class::Budget, "shared-budget", "budget.shared", sentence).of(value)
            } else {
                let budget = budgets.concat();
                let value = if cap.at_most == UNLIMITED {
                    "unlimited".into()
                } else {
                    AssumptionValue::Number(cap.at_most.into())
                };
                let source = format!("budget.{budget}");
                let assumption = Assumption::new(Class::Budget, "", source, at_most(cap.at_most, &names.concat()));
                Assumption { kind: budget.replace('_', "-").into(), ..assumption }.of(value)
            };
            list.declare(assumption, move |execution| {
                let is_counted = |action: &Action<P>| kind_of(action).is_some_and(|kind| cap.counts(kind));
                let count = execution.moments().filter(|moment| is_counted(moment.action)).count();
                match cap.at_most {
                    UNLIMITED => Ok(()),
                    at_most => within(u32::try_from(count).unwrap_or(u32::MAX), at_most, &names.join(" or ")),
                }
            });
        }
        self.declare_fault_places(list);
        let budget = self.budget;
        let is_clean =
            Common::<P>::ALL.iter().all(|common| (common.count)(&budget) == 0) && budget.caps().next().is_none();
        let sentence = if is_clean { "no faults" } else { "no other faults" };
        let other = Assumption::new(Class::Budget, "no-other-faults", "budget", sentence.to_owned());
        list.declare(other, move |execution| no_other_faults(execution, &budget));
    }
}

/// Declares `budget.retries`: how often each client may give up waiting for a response when its deadline `timer` fires.
/// `verb` names the reaction: the client repeats the request or gives it up.
pub fn declare_retries<P: Service>(scenario: &Scenario<P>, list: &mut Declarations<P>, verb: &str, timer: P::Timer) {
    let retries = scenario.budget.retries;
    if retries == 0 {
        return;
    }
    let sentence = format!("each client {verb} at most {retries} × a request that was not answered in time");
    let assumption = Assumption::new(Class::Budget, "retries", "budget.retries", sentence).of(i64::from(retries));
    list.declare(assumption, move |execution| {
        let mut counts = vec![0_u32; execution.worlds()[0].clients.len()];
        execution.each(|moment| {
            if let Action::Wake { process: ProcessId::Client(client), timer: other } = *moment.action
                && other == timer
            {
                counts[client.place()] += 1;
                if counts[client.place()] > retries.into() {
                    return Err(format!("{client} gives up waiting {} times", counts[client.place()]));
                }
            }
            Ok(())
        })
    });
}

fn within(count: u32, at_most: u8, what: &str) -> Checked {
    match count > at_most.into() {
        true => Err(format!("{count} × {what}")),
        false => Ok(()),
    }
}

fn kind_of<P: Service>(action: &Action<P>) -> Option<usize> {
    match action {
        Action::Fault(Fault::Service(fault)) => fault.kind(),
        _ => None,
    }
}

/// A fault occurs only where there is a budget for it.
fn no_other_faults<P: Service>(execution: &Execution<P>, budget: &Budget) -> Checked {
    execution.each(|moment| {
        let of_kernel =
            |common: &Common<P>| (common.count)(budget) == 0 && (common.cost)(moment.action, &execution.scenario) > 0;
        let is_unexpected = Common::<P>::ALL.iter().any(of_kernel)
            || kind_of(moment.action).is_some_and(|kind| !budget.caps().any(|cap: Cap| cap.counts(kind)));
        if is_unexpected { Err("there is no budget for it".to_owned()) } else { Ok(()) }
    })
}

/// Nothing arrives over a cut link. The link holds its messages back, or loses them at once.
fn cut_links<P: Service>(execution: &Execution<P>, scenario: &Scenario<P>) -> Checked {
    execution.each(|moment| {
        if let Action::Deliver(envelope) = moment.action
            && moment.before.is_cut(envelope.link(), scenario)
        {
            return Err("its link is cut".to_owned());
        }
        let is_on_cut_link = moment.after.network.iter().any(|envelope| moment.after.is_cut(envelope.link(), scenario));
        match scenario.network.cuts {
            Cutting::Hold if !moment.step.dropped.is_empty() => Err("a cut link loses a message".to_owned()),
            Cutting::Drop if is_on_cut_link => Err("a cut link holds a message back".to_owned()),
            _ => Ok(()),
        }
    })
}
