//! What verdicts about these stores rest on.

use super::{Roster, Store, Timer};
use crate::assumption::{Assumption, Class, Declarations, messages_arrive_within};
use crate::ids::ProcessId;
use crate::scenario::Scenario;
use crate::time::Ticks;
use crate::world::Action;

pub(super) fn declare(scenario: &Scenario<Roster>, list: &mut Declarations<Roster>) {
    let limit = scenario.service.limit;
    let sentence = format!("the semaphore's limit is {limit}");
    let assumption = Assumption::new(Class::Setting, "semaphore-limit", "service.limit", sentence);
    list.declare(assumption.of(i64::from(limit)), move |execution| Store::limit_is(execution, limit));
    if let Some(memory) = scenario.service.memory {
        let sentence = format!("no request is under way for {memory}, clocks included");
        let assumption = Assumption::new(Class::Setting, "request-age", "service.memory", sentence).of(memory);
        list.declare(assumption, move |execution| messages_arrive_within(execution, memory - Ticks::new(1)));
    }
    let retries = scenario.budget.retries;
    if retries > 0 {
        let sentence = format!("each client repeats at most {retries} × a request that was not answered in time");
        let assumption = Assumption::new(Class::Budget, "retries", "budget.retries", sentence).of(i64::from(retries));
        list.declare(assumption, move |execution| {
            let mut counts = vec![0_u32; execution.worlds()[0].clients.len()];
            execution.each(|moment| {
                if let Action::Wake { process: ProcessId::Client(client), timer: Timer::GiveUp } = moment.action {
                    counts[client.place()] += 1;
                }
                match counts.iter().any(|count| *count > retries.into()) {
                    true => Err("a client repeats a request more often".to_owned()),
                    false => Ok(()),
                }
            })
        });
    }
    let sentence = "each request is one atomic step of the store, which never fails and forgets nothing";
    list.leave_out(Assumption::limit("atomic-store", sentence));
}
