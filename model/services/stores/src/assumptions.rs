//! The assumptions of verdicts about these stores.

use super::{Store, Stores, Timer};
use fencepost_model::assumption::{Assumption, Class, Declarations, declare_retries, messages_arrive_within};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Ticks;

pub(super) fn declare(scenario: &Scenario<Stores>, list: &mut Declarations<Stores>) {
    let limit = scenario.service.limit;
    let sentence = format!("the semaphore's limit is {limit}");
    let assumption = Assumption::new(Class::Setting, "semaphore-limit", "service.limit", sentence);
    list.declare(assumption.of(i64::from(limit)), move |execution| Store::limit_is(execution, limit));
    if let Some(memory) = scenario.service.memory {
        let sentence = format!("no request is in flight for {memory}, including clock skew");
        let assumption = Assumption::new(Class::Setting, "request-age", "service.memory", sentence).of(memory);
        list.declare(assumption, move |execution| messages_arrive_within(execution, memory - Ticks::new(1)));
    }
    declare_retries(scenario, list, "repeats", Timer::GiveUp);
    let sentence = "each request is one atomic step of the store, which never fails and forgets nothing";
    list.leave_out(Assumption::limit("atomic-store", sentence));
}
