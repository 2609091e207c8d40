//! The limits of the kernel: verdicts say nothing about executions beyond them.

use super::{Assumption, Class, Declarations, Execution, Scope};
use crate::fact::Fact;
use crate::held::Held;
use crate::keys::KEYS_MAX;
use crate::process::Message;
use crate::resource::{Accepts, Resource, Write, WriteTarget};
use crate::scenario::{Scenario, UNLIMITED};
use crate::service::{Service, Settings};
use crate::world::{Action, Fault};

type Checked = Result<(), String>;

impl<P: Service> Scenario<P> {
    pub(super) fn declare_limits(&self, list: &mut Declarations<P>) {
        if !self.prefix.is_empty() {
            let count = self.prefix.len();
            let plural = if count == 1 { "" } else { "s" };
            let sentence = format!(
                "every execution begins with the {count} action{plural} of `prefix`: what happens in them is not judged"
            );
            let (value, start) = (i64::try_from(count).unwrap_or(i64::MAX), self.start());
            list.declare(Assumption::new(Class::Limit, "prefix", "prefix", sentence).of(value), move |execution| {
                let is_so = execution.worlds()[0].world == start;
                if is_so { Ok(()) } else { Err("it does not begin after the prefix".to_owned()) }
            });
        }
        let (rounds, writes) = (self.rounds, self.writes);
        let (plural, anew) = (
            if rounds == 1 { "" } else { "s" },
            if self.budget.restarts > 0 { ", and no more often after a restart" } else { "" },
        );
        let wanted = match P::Settings::held(self) {
            Held::Lock => "the lock",
            Held::Slot => "a slot",
        };
        let sentence = format!(
            "each client requests {wanted} at most {rounds} time{plural}{anew}: starvation under endless contention is not explored"
        );
        if rounds != UNLIMITED {
            let finite = Assumption::new(Class::Limit, "finite-rounds", "rounds", sentence).of(i64::from(rounds));
            list.declare(finite, move |execution| asks_at_most(execution, rounds));
        }
        if self.work_items > 0 {
            let count = self.work_items;
            let plural = if count == 1 { "" } else { "s" };
            let sentence = format!("the work queue has {count} item{plural} from the start, and none is added");
            let finite = Assumption::new(Class::Limit, "finite-queue", "work_items", sentence).of(i64::from(count));
            list.declare(finite, move |execution| has_no_more_items(execution, count));
        }
        if writes == 0 && self.work_items == 0 {
            return;
        }
        let sentence = format!("each tenure writes at most {writes} time{}", if writes == 1 { "" } else { "s" });
        let finite = Assumption::new(Class::Limit, "finite-writes", "writes", sentence).of(i64::from(writes));
        if writes > 0 {
            list.declare_for(Scope::Effect, finite, move |execution| writes_at_most(execution, writes));
        }
        if self.resource != Accepts::Unchanged && self.programs.is_empty() {
            let sentence = "the resource is only written: nothing that a client computes depends on what it has read";
            list.declare_for(Scope::Effect, Assumption::limit("unread-resource", sentence), nothing_is_read);
        }
        let sentence = match self.budget.resource_restarts {
            0 => "the resource is one copy that never crashes and forgets nothing",
            _ if self.work_items == 0 => "the resource is one copy that forgets nothing but when it restarts",
            _ => {
                "the resource is one copy that forgets nothing but when it restarts, and then which items were removed as well"
            }
        };
        list.declare_for(Scope::Effect, Assumption::limit("durable-resource", sentence), remembers);
    }
}

/// How often each client's user asks for the lock between two restarts, counted by the command that starts an attempt.
fn asks_at_most<P: Service>(execution: &Execution<P>, rounds: u8) -> Checked {
    let mut asked: Vec<Option<(P::Command, u32)>> = vec![None; usize::from(execution.scenario.clients)];
    execution.each(|moment| {
        if let Action::Fault(Fault::Restart(client)) = *moment.action
            && let Some(first) = asked.get_mut(client.place())
        {
            *first = None;
        }
        let Action::Command { client, command } = *moment.action else { return Ok(()) };
        let Some(first) = asked.get_mut(client.place()) else { return Ok(()) };
        let (wanted, count) = first.get_or_insert((command, 0));
        *count += u32::from(*wanted == command);
        match *count > rounds.into() {
            true => Err(format!("{client} asks for the lock {count} times")),
            false => Ok(()),
        }
    })
}

/// The number of writes that each client sends between two entries.
fn writes_at_most<P: Service>(execution: &Execution<P>, writes: u8) -> Checked {
    let mut counts = vec![0_u32; execution.worlds()[0].clients.len()];
    execution.each(|moment| {
        for fact in &moment.step.facts {
            if let Fact::Entered { client, .. } = fact {
                counts[client.place()] = 0;
            }
        }
        if matches!(moment.action, Action::Duplicate(_)) {
            return Ok(());
        }
        for envelope in &moment.step.sent {
            // A third party writes for others: one write for each client that asks it.
            let writer = envelope.from.client().filter(|client| client.0 <= execution.scenario.clients);
            if let (Some(client), Message::Write(Write { target: WriteTarget::Whole | WriteTarget::Key(_), .. })) =
                (writer, envelope.message)
            {
                counts[client.place()] += 1;
                if counts[client.place()] > writes.into() {
                    return Err(format!("{client} writes more often"));
                }
            }
        }
        Ok(())
    })
}

fn nothing_is_read<P: Service>(execution: &Execution<P>) -> Checked {
    execution.each(|moment| {
        match moment.step.sent.iter().any(|sent| matches!(sent.message, Message::Read(_) | Message::ReadKey { .. })) {
            true => Err("a client reads the resource".to_owned()),
            false => Ok(()),
        }
    })
}

/// No client is given an item of a higher number.
fn has_no_more_items<P: Service>(execution: &Execution<P>, count: u8) -> Checked {
    execution.each(|moment| {
        let is_one_more = |message: Message<P>| {
            matches!(message, Message::QueueItem { item: Some(item), .. } if item.number() > count)
        };
        match moment.step.sent.iter().any(|sent| is_one_more(sent.message)) {
            true => Err("there is an item more".to_owned()),
            false => Ok(()),
        }
    })
}

fn forgets(before: &Resource, after: &Resource) -> bool {
    let is_lower = |key: u8| after.keys.of(key) < before.keys.of(key);
    let came_back = before.queue.removed.without(after.queue.removed);
    after.highest < before.highest || (0..KEYS_MAX).any(is_lower) || !came_back.is_empty()
}

/// The highest token that the resource has seen never decreases, unless it restarts; and no item comes back.
fn remembers<P: Service>(execution: &Execution<P>) -> Checked {
    execution.each(|moment| {
        let restarts = matches!(moment.action, Action::Fault(Fault::RestartResource));
        match !restarts && forgets(&moment.before.resource, &moment.after.resource) {
            true => Err("the resource forgets".to_owned()),
            false => Ok(()),
        }
    })
}
