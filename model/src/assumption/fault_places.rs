//! Where faults strike, if a scenario keeps them to some places.

use super::{Assumption, AssumptionValue, Class, Declarations};
use crate::action_kind::ActionKind;
use crate::scenario::Scenario;
use crate::service::Service;

impl<P: Service> Scenario<P> {
    pub(super) fn declare_fault_places(&self, list: &mut Declarations<P>) {
        for kind in ActionKind::faults() {
            let places = self.fault_places.iter().filter(|place| place.fault == kind);
            let labels: Vec<String> = places.map(|place| place.before.clone()).collect();
            if labels.is_empty() {
                continue;
            }
            let sentence = format!(
                "`{kind}` strikes only before an action of what it strikes with “{}” in its label",
                labels.join("” or “")
            );
            let value: AssumptionValue = [kind.name().to_owned()].into_iter().chain(labels).collect();
            let (scenario, assumption) =
                (self.clone(), Assumption::new(Class::Budget, "fault-place", "fault_place", sentence).of(value));
            list.declare(assumption, move |execution| {
                execution.each(|moment| {
                    let is_there = moment.action.kind() != kind || scenario.is_enabled(moment.before, moment.action);
                    if is_there { Ok(()) } else { Err("it strikes elsewhere".to_owned()) }
                })
            });
        }
    }
}
