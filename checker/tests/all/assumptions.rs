//! The assumptions of counterexamples: every fault of a counterexample is an assumption of its verdict, and every assumption holds
//! of it.

use fencepost::{AnyOutcome, with_trace};
use fencepost_model::assumption::{Assumption, AssumptionValue, Class, Execution};
use fencepost_model::service::Service;
use fencepost_model::service_fault::ServiceFault;
use fencepost_model::trace::Trace;
use fencepost_model::world::{Action, Fault};

/// The name of the budget that an action is paid from, if it is a fault.
fn budget<P: Service>(action: &Action<P>) -> Option<&'static str> {
    Some(match action {
        Action::Lose(_) => "losses",
        Action::Duplicate(_) => "duplicates",
        Action::Slip { .. } => "slips",
        Action::Operator(_) => "operator",
        Action::Fault(Fault::Crash(_)) => "crashes",
        Action::Fault(Fault::Restart(_)) => "restarts",
        Action::Fault(Fault::Pause(_)) => "pauses",
        Action::Fault(Fault::Cut(_)) => "cuts",
        Action::Fault(Fault::RestartResource) => "resource_restarts",
        Action::Fault(Fault::Service(fault)) => P::Fault::KINDS[fault.kind()?].budget,
        Action::Fault(Fault::Resume(_) | Fault::Heal(_)) => return None,
        Action::Command { .. }
        | Action::Deliver(_)
        | Action::Wake { .. }
        | Action::Advance(_)
        | Action::Choose { .. } => {
            return None;
        }
    })
}

/// Whether the assumption states that budget, by itself or shared with others.
fn states(assumption: &Assumption, budget: &str) -> bool {
    let is_shared =
        matches!(&assumption.value, AssumptionValue::Names(names) if names.iter().any(|name| name == budget));
    assumption.class == Class::Budget && (assumption.source == format!("budget.{budget}") || is_shared)
}

/// Looks at one verdict of the catalogue.
pub fn are_complete_and_hold(outcome: &AnyOutcome) {
    let finding = &outcome.finding;
    let Some(trace) = &outcome.trace else { return };
    with_trace!(trace, trace => hold(trace, &finding.assumptions, &finding.scenario));
}

fn hold<P: Service>(trace: &Trace<P>, assumptions: &[Assumption], name: &str) {
    for budget in trace.steps.iter().filter_map(|line| budget(&line.action)) {
        let is_stated = assumptions.iter().any(|assumption| states(assumption, budget));
        assert!(is_stated, "{name}: a counterexample takes from `budget.{budget}`, and no assumption says so");
    }
    let execution = Execution::of_trace(trace);
    for declared in trace.header.scenario.declared() {
        assert_eq!(declared.holds(&execution), Ok(()), "{name}: {}", declared.assumption);
    }
}
